"""The study notes are run, and the two languages of each are compared.

Each language is written by itself, but a learner may change over at any line: the headings, the figures, the code and
what it prints are the same. Comments in code are prose, so code is compared as a syntax tree.
"""

from __future__ import annotations

import ast
import re

import pytest
from study_notes.drawing import drawings
from study_notes.drawing.paper import FOLDER, Drawing
from tests.documents import ROOT, fences, links, prose, read, run, spans, tables

import clearhead
from clearhead.languages import LANGUAGES
from clearhead.practice import exercises

NAMES = (
    "01_attention_intuition",
    "02_self_attention",
    "03_multi_head",
    "04_positional_encoding",
    "05_masks",
    "06_cross_attention_and_transformer",
    "07_efficient_attention",
    "08_seeing_attention",
)
NOTES = [f"study_notes/{language}/{name}.md" for name in NAMES for language in LANGUAGES]
GLOSSARY = "study_notes/glossary.md"
ENGLISH, KOREAN = "not in English", "not in Korean · 쓰지 않는 말"  # its columns of terms that are not used
PAGES = ("study_notes/README.md", GLOSSARY)
HANGUL = re.compile("[가-힣]")
DRAWINGS = drawings()

HEADINGS = {  # with the note's own sections between code and trying
    "en": (
        ("The idea", "By hand", "The formula", "In code"),
        ("Try it", "Mistakes people make", "Three questions", "Exercises", "Read on", "What you can do now"),
    ),
    "ko": (
        ("아이디어", "손으로 계산하기", "수식", "코드로"),
        ("해 보기", "자주 하는 실수", "세 가지 질문", "연습 문제", "더 읽을거리", "이제 할 수 있는 것"),
    ),
}
QUESTION = {"en": "> **The question.** ", "ko": "> **질문.** "}
REMEMBER = {"en": "**The one mistake to remember.** ", "ko": "**꼭 기억할 실수 하나.** "}
CAPTION = {"en": "*Figure ", "ko": "*그림 "}
MOST_LINES = 14  # of a block
LARGEST = 100_000  # bytes of a figure


def language_of(note: str) -> str:
    return note.split("/")[1]


def headings(note: str) -> list[tuple[str, str]]:
    """The level of each heading, as its number signs, and its words."""
    return re.findall(r"^(#+) (.+)$", prose(note), re.MULTILINE)


def sections(note: str) -> list[str]:
    return [words for level, words in headings(note) if level == "##"]


def pictures(note: str) -> list[tuple[str, str]]:
    """The file of each picture, and the line that follows it."""
    return re.findall(r"^!\[.+\]\(\.\./figures/(.+)\)\n\n?(.*)$", prose(note), re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_code_runs_from_top_to_bottom_and_prints_what_is_shown(name, tmp_path, monkeypatch, offline):
    """In one language: the other has the same code and the same output, as is tested below."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    run(f"study_notes/en/{name}.md")


@pytest.mark.parametrize("note", NOTES)
def test_a_block_is_a_mouthful(note):
    assert [fence.line for fence in fences(note) if len(fence.text.splitlines()) > MOST_LINES] == []


@pytest.mark.parametrize("note", NOTES)
def test_a_note_has_the_parts_that_all_notes_have(note):
    language = language_of(note)
    first, last = HEADINGS[language]
    found = sections(note)
    assert (tuple(found[: len(first)]), tuple(found[-len(last) :])) == (first, last)
    title = next(words for level, words in headings(note) if level == "#")
    assert title.startswith(f"{note.rpartition('/')[2][:2]} · ")
    for mark in (QUESTION, REMEMBER):
        assert len(re.findall(rf"^{re.escape(mark[language])}", prose(note), re.MULTILINE)) == 1, mark[language]
    assert prose(note).count("<details>") == prose(note).count("</details>") == 3


@pytest.mark.parametrize("name", NAMES)
class TestBothLanguages:
    def test_have_the_same_headings(self, name):
        levels = [[level for level, _ in headings(f"study_notes/{code}/{name}.md")] for code in LANGUAGES]
        assert levels[0] == levels[1]

    def test_have_the_same_code_and_print_the_same(self, name):
        first, second = ([comparable(f) for f in fences(f"study_notes/{code}/{name}.md")] for code in LANGUAGES)
        assert first == second

    def test_have_the_same_figures(self, name):
        first, second = (
            [file.replace(f"_{code}.", ".") for file, _ in pictures(f"study_notes/{code}/{name}.md")]
            for code in LANGUAGES
        )
        assert first == second
        assert first, "a note has at least one figure"

    def test_have_the_same_mistakes_and_exercises(self, name):
        counts, exercises = [], []
        for code, where in (("en", "Exercises"), ("ko", "연습 문제")):
            note = f"study_notes/{code}/{name}.md"
            counts.append([len(rows) for rows in tables(note)])
            exercises.append(spans(prose(note).partition(f"\n## {where}\n")[2].partition("\n## ")[0]))
        assert counts[0] == counts[1]
        assert exercises[0] == exercises[1] != []

    def test_have_the_same_formulas(self, name):
        first, second = (
            re.findall(r"^\$\$\n(.*?)\n\$\$$", prose(f"study_notes/{code}/{name}.md"), re.MULTILINE | re.DOTALL)
            for code in LANGUAGES
        )
        assert first == second


def comparable(fence):
    """A block without what may differ between languages: comments in code."""
    return (fence.info, ast.dump(ast.parse(fence.text)) if fence.info == "python" else fence.text)


@pytest.mark.parametrize("note", NOTES)
def test_pictures_are_drawn_by_the_command_and_captions_say_what_to_see(note):
    language = language_of(note)
    drawn = {drawing.path(language).name for drawing in DRAWINGS.values() if drawing.name[:2] == note.split("/")[2][:2]}
    shown = pictures(note)
    assert {file for file, _ in shown} == drawn
    assert [file for file, caption in shown if not caption.startswith(CAPTION[language])] == []


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=lambda drawing: drawing.name)
def test_every_figure_is_there_in_both_languages_and_small(drawing: Drawing):
    for language in LANGUAGES:
        assert 0 < drawing.path(language).stat().st_size <= LARGEST


@pytest.mark.parametrize("drawing", [d for d in DRAWINGS.values() if not d.slow], ids=lambda drawing: drawing.name)
def test_every_figure_that_is_quick_can_be_drawn_again(drawing: Drawing, tmp_path, monkeypatch):
    monkeypatch.setattr("study_notes.drawing.paper.FOLDER", tmp_path)
    for language in LANGUAGES:
        assert f"python -m study_notes.drawing {drawing.name}".encode() in drawing.write(language).read_bytes()


def test_nothing_lies_among_the_figures_that_no_command_makes():
    made = {drawing.path(language) for drawing in DRAWINGS.values() for language in LANGUAGES}
    assert set(FOLDER.iterdir()) == made


@pytest.mark.parametrize("document", [*NOTES, *PAGES])
def test_links_lead_somewhere(document):
    here = (ROOT / document).parent
    inside = [link.partition("#")[0] for link in links(document) if not link.startswith("https://")]
    assert [link for link in inside if not (here / link).exists()] == []


@pytest.mark.parametrize("note", NOTES)
def test_a_link_to_another_note_says_its_title(note):
    named = re.findall(r"\[(\d\d · [^]]+)\]\((\d\d_\w+\.md)\)", prose(note))
    folder = note.rpartition("/")[0]
    assert [(said, link) for said, link in named if headings(f"{folder}/{link}")[0] != ("#", said)] == []


def test_no_other_note_lies_beside_them():
    found = sorted(
        str(path.relative_to(ROOT)) for code in LANGUAGES for path in (ROOT / "study_notes" / code).iterdir()
    )
    assert found == sorted(NOTES)


@pytest.mark.parametrize("note", NOTES)
def test_every_name_of_clearhead_that_is_mentioned_exists(note):
    mentioned = {name for span in spans(prose(note)) for name in re.findall(r"\bch\.([\w.]+)", span)}
    for name in mentioned:
        found = clearhead
        for part in name.split("."):
            found = getattr(found, part)


@pytest.mark.parametrize("note", NOTES)
def test_every_file_that_is_mentioned_exists(note):
    looks_like_a_file = re.compile(r"[.\w/-]+/[.\w/-]*\.\w+")
    assert [s for s in spans(prose(note)) if looks_like_a_file.fullmatch(s) and not (ROOT / s).exists()] == []


class TestGlossary:
    @pytest.mark.parametrize("document", [*NOTES, "README.md", "README.ko.md"])
    def test_no_other_term_stands_in_a_text(self, document):
        korean = document == "README.ko.md" or document.startswith("study_notes/ko/")
        assert other_terms(prose(document), "ko" if korean else "en") == []

    @pytest.mark.parametrize("exercise", exercises.NAMES)
    def test_no_other_term_stands_in_an_exercise(self, exercise):
        place = ROOT / "src/clearhead/practice/exercises" / exercise
        files = sorted(place.glob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
        source = "\n".join(file.read_text(encoding="utf-8") for file in files)
        assert other_terms("\n".join(line for line in source.splitlines() if HANGUL.search(line)), "ko") == []

    def test_an_idea_has_one_term_and_a_term_one_idea(self):
        (rows,) = tables(GLOSSARY)
        for language in ("English", "한국어"):
            terms = [row[language] for row in rows]
            assert len(set(terms)) == len(terms)
            assert all(terms)

    def test_no_term_that_is_chosen_is_also_avoided(self):
        (rows,) = tables(GLOSSARY)
        chosen = {row[language] for row in rows for language in ("English", "한국어")}
        assert not chosen & {*avoided(ENGLISH), *avoided(KOREAN)}


def other_terms(text: str, language: str) -> list[str]:
    """The terms of a text in place of which the glossary has others. A name in code is what it is."""
    said = re.sub(r"`[^`\n]+`", "", text)
    column, words = (KOREAN, said) if language == "ko" else (ENGLISH, said.lower())
    return [term for term in avoided(column) if term in words]


def avoided(column: str) -> list[str]:
    (rows,) = tables(GLOSSARY)
    return [term for row in rows for term in re.split(r",\s*", row[column]) if term]


def test_the_index_links_to_every_note():
    listed = {link for link in links(PAGES[0]) if link.endswith(".md") and "/" in link}
    assert {f"{code}/{name}.md" for name in NAMES for code in LANGUAGES} <= listed
    assert read(PAGES[0]).startswith("# ")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_note_asks_the_same_wherever_it_is_listed(language):
    home = "README.ko.md" if language == "ko" else "README.md"
    for name in NAMES:
        (question,) = re.findall(r"^> \*\*[^*]+\*\* (.+)$", read(f"study_notes/{language}/{name}.md"), re.MULTILINE)
        assert f"[{question}]({language}/{name}.md)" in read(PAGES[0])
        for page in (home, f"docs/{language}/notes/index.md"):
            assert f"{name}.md) | {question} |" in read(page), page
