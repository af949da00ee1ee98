"""A verdict says the same in a terminal, as text and as HTML."""

from __future__ import annotations

import html
import io
import re

import numpy as np
import pytest
from rich.console import Console

from clearhead import practice
from clearhead.languages import LANGUAGES
from clearhead.learn import seeing
from clearhead.learn.notes import asked_note
from clearhead.practice import exercises, showing
from clearhead.practice.examples import example
from clearhead.practice.exercise import Call, Part
from clearhead.practice.verdict import Verdict

right = exercises.load("softmax").parts[0].solution


def not_divided(x, axis=-1):
    return np.exp(x - x.max(axis=axis, keepdims=True))


def fails(x, axis=-1):
    rows = x.tolist()
    return rows[99]


def words_of(text):
    return set(re.findall(r"[\w'.]+", text))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("function", [right, not_divided, fails], ids=["right", "wrong", "exception"])
def test_text_and_html_say_the_same(monkeypatch, language, function):
    monkeypatch.setenv("CLEARHEAD_LANG", language)
    verdict = practice.check("softmax", function)
    plain = html.unescape(re.sub("<[^>]*>", " ", verdict._repr_html_()))
    assert words_of(plain) - {""} == words_of(str(verdict))


def test_differing_cells_are_marked():
    verdict = practice.check("softmax", not_divided)
    shown = str(verdict)
    assert "[1]" in shown
    assert "expected" in shown
    assert verdict._repr_html_().count("<mark") == sum(cell.differs for row in verdict.example.got for cell in row)


def test_the_line_of_an_exception_is_marked():
    shown = str(practice.check("softmax", fails))
    (marked,) = [line for line in shown.splitlines() if "→" in line]
    assert marked.endswith("return rows[99]")
    assert "site-packages" not in shown


def test_the_note_that_explains_it_is_named():
    assert "Note 01 explains it under “The formula”: `clearhead learn 01`" in str(
        practice.check("softmax", not_divided)
    )
    assert "learn" not in str(practice.check("softmax", right))


def test_what_is_seen_in_a_trained_model_is_linked():
    for name, note in showing.SEEN.items():
        exercise = exercises.load(name)
        verdict = Verdict(exercise=exercise, kind="right", said=())
        assert f"`clearhead learn {note} --see`" in str(verdict)
        assert seeing.is_seen(asked_note(note))
    assert "--see" not in str(practice.check("softmax", right))


def test_html_from_the_learner_is_escaped():
    def shouts(x, axis=-1):
        raise ValueError("<script>")

    assert "<script>" not in practice.check("softmax", shouts)._repr_html_()


def test_a_terminal_gets_colour_and_a_narrow_one_no_broken_grid():
    verdict = practice.check("softmax", not_divided)
    written = io.StringIO()
    showing.show(verdict, Console(file=written, force_terminal=True, width=60))
    assert "\x1b[1;31m" in written.getvalue()


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_cell_is_cut_off_however_narrow_the_terminal_is(width, rng):
    right = rng.standard_normal((3, 8)) * 1e-7
    wrong = right.copy()
    wrong[:, 5] *= 1.00001
    part = Part(solution=len, judge=len, outputs={"weights": "n_q n_k"})
    shown = showing.Pair(example(part, Call(), "weights", right, wrong))
    console = Console(file=io.StringIO(), width=width)
    console.print(showing._rendered(shown))
    lines = console.file.getvalue()
    assert "…" not in lines
    assert max(map(len, lines.splitlines())) <= width
    assert {f"[{cell.text}]" for row in shown.example.got for cell in row if cell.differs} <= set(lines.split())
    whole = all(cell.text in lines for row in shown.example.expected for cell in row)
    assert whole or re.search(r"weights\[:, \d:\d\]", lines)


def test_a_grid_that_fits_stands_whole(rng):
    verdict = practice.check("softmax", not_divided)
    assert "[:," not in str(verdict)
