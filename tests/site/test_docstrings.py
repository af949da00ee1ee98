"""Docstrings and signatures as Sphinx reads them."""

from __future__ import annotations

import inspect

import pytest
from docs.site.docstrings import as_rest, escaped, readable, signature

import clearhead


def rest(text: str) -> str:
    return "\n".join(as_rest(inspect.cleandoc(text).splitlines()))


def test_shapes_keep_their_lines():
    made = rest("""Mix rows.

        Q (n_q, d)  K (n_k, d)
        → output (n_q, d)

        More words → as prose.
        """)
    assert "| Q (n_q, d)  K (n_k, d)\n| → output (n_q, d)\n" in made
    assert "\nMore words → as prose.\n" in made


def test_an_example_is_code():
    assert "Use:\n\n::\n\n    a & b\n    ~c\n" in rest("Masks.\n\nUse:\n\n    a & b\n    ~c\n")


def test_parts_are_left_to_napoleon():
    text = "Do.\n\nRaises:\n    ValueError: it is\n        too long.\n\n    TypeError: it is not.\n"
    assert rest(text) == f"{text}"


def test_stars_and_bars_are_themselves_outside_of_code():
    assert escaped("a * b, |c| and `d * e | f`") == r"a \* b, \|c\| and `d * e | f`"


def test_a_session_is_left_as_it_is():
    assert rest("Count.\n\n>>> 2 * 3\n6\n") == "Count.\n\n>>> 2 * 3\n6\n"


@pytest.mark.parametrize(
    ("annotation", "shown"),
    [
        ('Float[np.ndarray, "... n_q d"]', "Float['… n_q d']"),
        ('tuple[Float[Any, "*lead n"], Bool[np.ndarray, " n"]]', "tuple[Float['*lead n'], Bool['n']]"),
        ("View | None", "clearhead.View | None"),
        ("Viewer", "Viewer"),
        (int, "int"),
    ],
)
def test_types_are_readable(annotation, shown):
    assert readable(annotation, {"View": "clearhead.View"}) == shown


def test_a_signature_has_every_argument_and_links_to_what_is_public():
    arguments, returned = signature(clearhead.look)
    assert all(f"{name}:" in arguments for name in inspect.signature(clearhead.look).parameters)
    assert "Float['" in arguments
    assert returned == "clearhead.View"


def test_options_that_figures_share_are_shown():
    arguments, _ = signature(clearhead.visualize_attention)
    assert "scale:" in arguments
    assert "shared" not in arguments
