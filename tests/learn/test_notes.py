from __future__ import annotations

import tomllib

import pytest
from tests.documents import ROOT, prose, spans
from tests.test_study_notes import NAMES

from clearhead import practice
from clearhead.languages import LANGUAGES, RefusedError
from clearhead.learn import notes
from clearhead.learn.notes import NOTES, asked_note, folder

EXERCISES = {"en": "Exercises", "ko": "연습 문제"}


def test_every_note_of_the_course_is_there():
    assert tuple(note.name for note in NOTES) == NAMES
    assert folder() == ROOT / "study_notes"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.number)
def test_a_note_knows_its_exercises(note, language):
    section = prose(f"study_notes/{language}/{note.name}.md").partition(f"\n## {EXERCISES[language]}\n")[2]
    named = spans(section.partition("\n## ")[0])
    assert [name for name in note.exercises if name not in named] == []


def test_the_exercises_of_a_note_are_those_that_practice_has_for_it():
    practised = {note.number: set() for note in NOTES}
    for name in practice.exercises.NAMES:
        practised[practice.exercises.load(name).note].add(name)
    assert {note.number: set(note.exercises) for note in NOTES} == practised


def test_title_and_question_are_those_of_the_note():
    note = asked_note("02")
    assert (note.title("en"), note.question("en")) == ("Five steps", "What exactly is computed?")
    assert (note.title("ko"), note.question("ko")) == ("다섯 단계", "정확히 무엇을 계산할까요?")


def test_a_file_that_is_no_note_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(notes, "PLACES", (tmp_path,))
    (tmp_path / "README.md").write_text("# Notes")
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "02_self_attention.md").write_text("# Something else")
    with pytest.raises(ValueError, match=r"02_self_attention\.md has no line like .* is it a note of the course"):
        asked_note("02").title("en")


@pytest.mark.parametrize("asked", ["2", "02", "02_self_attention", "02_self_attention.md", "self_attention"])
def test_a_note_is_asked_for_by_number_or_name(asked):
    assert asked_note(asked).name == "02_self_attention"


@pytest.mark.parametrize("asked", ["0", "09", "", "attention", "00"])
def test_another_note_is_refused(asked):
    with pytest.raises(RefusedError, match=f"there is no note '{asked}'; they are numbered 01 to 08"):
        asked_note(asked)


class TestInstalled:
    """A wheel carries what a clone has beside src."""

    def test_the_notes_inside_the_package_are_found(self, tmp_path, monkeypatch):
        inside = tmp_path / "learn" / "study_notes"
        inside.mkdir(parents=True)
        monkeypatch.setattr(notes, "PLACES", (tmp_path / "study_notes", inside))
        with pytest.raises(RefusedError, match=r"the notes are not where they should be .* install clearhead again"):
            folder()
        (inside / "README.md").write_text("# Notes")
        assert folder() == inside

    def test_the_wheel_carries_all_that_the_pages_are_made_of(self):
        settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        carried = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
        place = str(notes.PLACES[1].relative_to(ROOT / "src"))
        assert carried == {
            f"study_notes/{name}": f"{place}/{name}" for name in ("README.md", "glossary.md", "en", "ko", "figures")
        }
        assert all((ROOT / source).exists() for source in carried)
