"""The tutorial is run, and its two languages are compared.

Each language is written by itself, but the code is the same apart from what it says: texts, comments, labels. The
notebooks that lie beside the sources must be what the sources make: their cells, and what the cells print.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

import nbformat
import pytest
from notebooks.__main__ import main
from notebooks.making import MEASURED, METADATA, execute, is_measured, printed, target, unexecuted
from tests.test_study_notes import other_terms

from clearhead.languages import LANGUAGES

LARGEST = 1_500_000  # bytes of a notebook
# A kernel talks through sockets of its own, which are not Python's.
OFFLINE = """
import socket

def refuse(*_):
    raise AssertionError("the tutorial must run offline")

socket.socket.connect = refuse
"""


@pytest.fixture(scope="module")
def committed() -> dict[str, Any]:
    return {language: nbformat.read(target(language), as_version=4) for language in LANGUAGES}


def cells(notebook: Any, kind: str) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == kind]


def headings(notebook: Any) -> list[str]:
    """The number signs of every heading."""
    return [level for cell in cells(notebook, "markdown") for level in re.findall(r"^(#+) ", cell.source, re.MULTILINE)]


class Speechless(ast.NodeTransformer):
    """Code without what it says: texts are empty, and what is put into one stands in order of its own."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        values = [self.visit(part.value) for part in node.values if isinstance(part, ast.FormattedValue)]
        return ast.Tuple(sorted(values, key=ast.dump))


def comparable(cell: Any) -> str:
    return ast.dump(Speechless().visit(ast.parse(cell.source)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_cell_runs_offline_and_prints_what_the_notebook_shows(language, committed):
    notebook = unexecuted(language)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(OFFLINE, id="offline"))
    ran, shown = execute(notebook).cells[1:], committed[language].cells
    assert [cell.source for cell in ran] == [cell.source for cell in shown]
    for now, before in zip(ran, shown, strict=True):
        if now.cell_type == "code" and not is_measured(now):
            assert printed(now) == printed(before), now.source


@pytest.mark.parametrize("language", LANGUAGES)
class TestCommitted:
    def test_has_the_cells_of_its_source(self, language, committed):
        kept = ("cell_type", "id", "source", "metadata")
        made, shown = (
            [[cell[key] for key in kept] for cell in n.cells] for n in (unexecuted(language), committed[language])
        )
        assert made == shown

    def test_opens_everywhere_and_belongs_to_no_machine(self, language, committed):
        text = target(language).read_text(encoding="utf-8")
        assert json.loads(text)["metadata"] == METADATA
        assert len(text.encode()) <= LARGEST
        outputs = [output for cell in cells(committed[language], "code") for output in cell.outputs]
        words = "".join(
            json.dumps({**o, "data": {k: v for k, v in o.get("data", {}).items() if "image" not in k}}) for o in outputs
        )
        assert not re.search(r"/(home|root|tmp|work|usr)/|Traceback|Warning|localhost|\d\d:\d\d:\d\d", words)
        assert {output.get("name") for output in outputs} <= {None, "stdout"}

    def test_every_code_cell_was_run_in_order(self, language, committed):
        counts = [cell.execution_count for cell in cells(committed[language], "code")]
        assert counts == list(range(1, len(counts) + 1))

    def test_shows_its_pictures(self, language, committed):
        drawn = [
            cell
            for cell in cells(committed[language], "code")
            if any("image/png" in output.get("data", {}) for output in cell.outputs)
        ]
        wanted = [
            cell
            for cell in cells(committed[language], "code")
            if re.search(r"visualize_|plt\.show|(view|whole)\.plot\(", cell.source)
        ]
        assert drawn == wanted
        assert len(drawn) >= 8

    def test_uses_no_term_but_those_of_the_glossary(self, language, committed):
        prose = "\n".join(cell.source for cell in cells(committed[language], "markdown"))
        assert other_terms(prose, language) == []


class TestBothLanguages:
    def test_have_the_same_code(self, committed):
        first, second = ([comparable(cell) for cell in cells(committed[code], "code")] for code in LANGUAGES)
        assert first == second

    def test_have_the_same_headings_and_cells(self, committed):
        first, second = (committed[code] for code in LANGUAGES)
        assert headings(first) == headings(second) != []
        assert [cell.cell_type for cell in first.cells] == [cell.cell_type for cell in second.cells]

    def test_measure_in_the_same_cells(self, committed):
        first, second = ([cell.metadata.get("tags", []) for cell in committed[code].cells] for code in LANGUAGES)
        assert first == second
        assert {tag for tags in first for tag in tags} == {MEASURED}


class TestComparing:
    def test_texts_and_their_order_may_differ(self):
        one, other = (
            nbformat.v4.new_code_cell(source)
            for source in ('print(f"{n} heads of {d:3}", "x")  # a', 'print(f"폭 {d:3}인 헤드 {n}개", "y")')
        )
        assert comparable(one) == comparable(other)

    @pytest.mark.parametrize("changed", ['print(f"{n} of {e}")', 'print(f"{n} of {d}", 1)', 'show(f"{n} of {d}")'])
    def test_code_may_not(self, changed):
        one, other = (nbformat.v4.new_code_cell(source) for source in ('print(f"{n} of {d}")', changed))
        assert comparable(one) != comparable(other)


def test_a_cell_that_writes_to_stderr_is_refused():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import sys; print('oh', file=sys.stderr)")])
    with pytest.raises(ValueError, match="cell 0 writes to stderr"):
        execute(notebook)


def test_a_notebook_in_another_language_is_refused(capsys):
    assert main(["ko", "fr"]) == 2
    assert capsys.readouterr().err == "there is no notebook in fr; choose from en, ko\n"
