"""The how-to pages are run, commands included, and the two languages of each are compared, as the study notes are."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from tests.documents import ROOT, fences, links, prose, run, spans, tables
from tests.test_study_notes import comparable, headings, other_terms

import clearhead
from clearhead import cli
from clearhead.languages import LANGUAGES

NAMES = (
    "census", "long_texts", "look_in_a_browser", "masks", "own_pairs", "replace_torch", "several_processes",
    "trace_a_model",
)  # fmt: skip


def page(language: str, name: str) -> str:
    return f"docs/{language}/howto/{name}.md"


PAGES = [page(language, name) for name in NAMES for language in LANGUAGES]


def test_every_page_is_there_in_every_language():
    found = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/*/howto/*"))
    assert found == sorted(PAGES)


@pytest.mark.parametrize("document", PAGES)
def test_code_and_commands_run_from_top_to_bottom_and_print_what_is_shown(document, tmp_path, monkeypatch, offline):
    def command(words: list[str]) -> None:
        assert words[0] == "clearhead"
        assert cli.main(words[1:]) == 0

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    run(document, command)


@pytest.mark.parametrize("number", [0, 1, 2], ids=["long", "model", "traced"])
def test_the_scripts_for_several_processes_run_on_two_and_print_what_is_shown(number, tmp_path):
    found = fences(page("en", "several_processes"))
    script = [fence for fence in found if fence.info == "python script"][number]
    shown = [fence for fence in found if fence.info == "text"][number]
    (tmp_path / "long.py").write_text(script.text, encoding="utf-8")
    run_two = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "long.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    ended = subprocess.run(run_two, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == shown.text


@pytest.mark.parametrize("document", PAGES)
def test_links_lead_somewhere(document):
    here = (ROOT / document).parent
    assert [link for link in links(document) if not (here / link.partition("#")[0]).exists()] == []


@pytest.mark.parametrize("document", PAGES)
def test_every_name_of_clearhead_that_is_mentioned_exists(document):
    mentioned = {name for span in spans(prose(document)) for name in re.findall(r"\bch\.([\w.]+)", span)}
    mentioned |= {f"torch.{name}" for span in spans(prose(document)) for name in re.findall(r"\bcht\.([\w.]+)", span)}
    for name in mentioned:
        found = clearhead
        for part in name.split("."):
            found = getattr(found, part)


@pytest.mark.parametrize("document", PAGES)
def test_every_option_that_is_mentioned_exists(document, capsys):
    named = {span.split()[0] for span in spans(prose(document)) if span.startswith("--")}
    for command in ("translate", "trace", "census"):
        cli.main([command, "--help"])
    known = capsys.readouterr().out
    assert [option for option in named if option not in known] == []


@pytest.mark.parametrize("document", PAGES)
def test_no_term_stands_there_but_those_of_the_glossary(document):
    assert other_terms(prose(document), document.split("/")[1]) == []


@pytest.mark.parametrize("name", NAMES)
class TestBothLanguages:
    def test_have_the_same_headings(self, name):
        first, second = ([level for level, _ in headings(page(code, name))] for code in LANGUAGES)
        assert first == second

    def test_have_the_same_code_and_print_the_same(self, name):
        first, second = ([comparable(fence) for fence in fences(page(code, name))] for code in LANGUAGES)
        assert first == second

    def test_have_the_same_tables_and_links(self, name):
        first, second = (
            ([len(rows) for rows in tables(page(code, name))], links(page(code, name))) for code in LANGUAGES
        )
        assert first == second
