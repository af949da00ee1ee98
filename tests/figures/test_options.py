from __future__ import annotations

import inspect

import numpy as np
import pytest

from clearhead import figures
from clearhead.figures import words
from clearhead.figures.options import Options

DRAWING = [getattr(figures, name) for name in figures.__all__ if name.startswith("visualize_")]
EVERY = {"title": None, "scale": "auto", "batch": None, "language": None, "save": None}


@pytest.mark.parametrize("draw", DRAWING, ids=lambda draw: draw.__name__)
def test_a_signature_shows_the_options_a_figure_takes_and_their_defaults(draw):
    shown = inspect.signature(draw).parameters
    assert {name: shown[name].default for name in EVERY} == EVERY
    assert not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in shown.values())
    maps = draw.__name__ in ("visualize_attention", "visualize_head", "visualize_cross_attention")
    assert ("reduce" in shown) == ("mask" in shown) == maps
    assert ("hide_keys" in shown) == (draw.__name__ not in ("visualize_layers", "visualize_rollout"))


@pytest.mark.parametrize("draw", DRAWING, ids=lambda draw: draw.__name__)
def test_what_a_figure_does_not_take_is_refused_by_name(draw):
    with pytest.raises(TypeError, match=rf"{draw.__name__}\(\) got an unexpected keyword argument 'colour'; beside"):
        draw(np.eye(3), colour="red")


def test_lines_have_no_colour_bar():
    with pytest.raises(TypeError, match=r"visualize_lines\(\) got an unexpected keyword argument 'vmax'"):
        figures.visualize_lines(np.eye(3), vmax=0.5)


@pytest.mark.parametrize(
    ("hide_keys", "keys"), [(False, []), (True, [0]), (3, [3]), ([5, 2, 2], [2, 5]), ((), [])], ids=str
)
def test_hidden_keys(hide_keys, keys):
    assert Options(hide_keys=hide_keys).hidden(7) == keys


def test_what_is_said_of_hidden_keys():
    note = Options().hidden_note
    assert note([]) == ""
    assert note([2]) == "Key 2 is hidden, and the colours are scaled to the others."
    assert note(list(range(9)), what=words.LINES).startswith("Keys 0, 1, 2, 3, 4, 5, 6, 7 … are hidden, and the lines")
    assert "with its neighbours in the same cell" in note([0], neighbours=True)
    assert Options(language="ko").hidden_note([2]) == "키 2번을 숨기고 나머지 키에 색의 눈금을 맞췄습니다."


@pytest.mark.usefixtures("unchecked")
def test_a_language_that_is_not_spoken_is_refused():
    with pytest.raises(ValueError, match="language must be one of 'en', 'ko', got 'fr'"):
        figures.visualize_attention(np.eye(3), language="fr")
