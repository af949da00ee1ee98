"""The site's own pages: their code runs, their links lead somewhere, and the two languages say the same."""

from __future__ import annotations

import ast
import re

import pytest
from benchmarks.run import select
from tests.documents import ROOT, fences, links, prose, read, run, tables
from tests.test_study_notes import ENGLISH, KOREAN, avoided

from clearhead.languages import LANGUAGES

NAMES = ("index.md", "notes/index.md", "howto.md", "gallery.md", "benchmarks.md")
PAGES = [f"docs/{language}/{name}" for name in NAMES for language in LANGUAGES]
BENCHMARKS = "benchmarks.md"


@pytest.mark.parametrize("page", PAGES)
def test_code_runs_from_top_to_bottom_and_prints_what_is_shown(page, tmp_path, monkeypatch, offline):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    run(page)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    here = (ROOT / page).parent
    inside = [link.partition("#")[0] for link in links(page) if not link.startswith(("https://", "#"))]
    assert [link for link in inside if not (here / link).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_no_term_stands_in_a_text_but_those_of_the_glossary(page):
    said = re.sub(r"`[^`\n]+`", "", prose(page))
    column, words = (KOREAN, said) if page.startswith("docs/ko/") else (ENGLISH, said.lower())
    assert [term for term in avoided(column) if term in words] == []


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_have_the_same_headings_code_and_pictures(name):
    first, second = (outline(f"docs/{language}/{name}") for language in LANGUAGES)
    assert first == second


def outline(page: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The levels of its headings, and its blocks without what is said in them: comments, captions and other texts."""

    def bare(info: str, text: str) -> str:
        if info == "python":
            return ast.dump(ast.parse(text))
        return re.sub(r"^:(alt|caption): .*$|^.* <|>$", "", text, flags=re.MULTILINE)

    return re.findall(r"^#+", prose(page), re.MULTILINE), [(f.info, bare(f.info, f.text)) for f in fences(page)]


class TestBenchmarks:
    @pytest.mark.parametrize("language", LANGUAGES)
    def test_what_was_missed_is_below_the_goals_of_the_benchmark(self, language):
        goals = {case.name: [(goal.bound, goal.most) for goal in case.goals] for case in select([])}
        _, missed = ([list(row.values()) for row in table] for table in tables(f"docs/{language}/{BENCHMARKS}"))
        for name, _, figure, _, goal, _ in missed:
            sign, bound = goal.split()
            assert (float(bound), sign == "≤") in goals[name], name
            assert float(figure) >= float(bound) if sign == "≤" else float(figure) <= float(bound), name

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_all_goals_that_were_not_met_are_among_them(self, language):
        groups, missed = ([list(row.values()) for row in table] for table in tables(f"docs/{language}/{BENCHMARKS}"))
        cases, met = (sum(int(row[column]) for row in groups) for column in (2, 5))
        assert cases == sum(len(case.goals) for case in select([]))
        assert cases - met == len(missed)
        assert {str(cases), str(met)} <= set(re.findall(r"\d+", read(f"docs/{language}/{BENCHMARKS}")))

    def test_both_languages_have_the_same_numbers(self):
        first, second = (re.findall(r"\d+\.\d+", read(f"docs/{language}/{BENCHMARKS}")) for language in LANGUAGES)
        assert sorted(first) == sorted(second)
