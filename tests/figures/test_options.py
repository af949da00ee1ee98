from __future__ import annotations

import inspect

import numpy as np
import pytest

from clearhead import figures
from clearhead.figures.options import Options, hidden_note

DRAWING = [getattr(figures, name) for name in figures.__all__ if name.startswith("visualize_")]
EVERY = {"title": None, "scale": "linear", "batch": None, "save": None}


@pytest.mark.parametrize("draw", DRAWING, ids=lambda draw: draw.__name__)
def test_a_signature_shows_the_options_a_figure_takes_and_their_defaults(draw):
    shown = inspect.signature(draw).parameters
    assert {name: shown[name].default for name in EVERY} == EVERY
    assert not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in shown.values())
    maps = draw.__name__ in ("visualize_attention", "visualize_head", "visualize_cross_attention")
    assert ("reduce" in shown) == maps
    assert ("hide_keys" in shown) == (draw.__name__ != "visualize_layers")


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
    assert hidden_note([]) == ""
    assert hidden_note([2]) == "Key 2 is hidden, and the colours are scaled to the others."
    assert hidden_note(list(range(9)), what="lines").startswith(
        "Keys 0, 1, 2, 3, 4, 5, 6, 7 … are hidden, and the lines"
    )
    assert "with its neighbours in the same cell" in hidden_note([0], neighbours=True)
