"""Loops over data are found wherever they hide; a handful of things written out is none."""

from __future__ import annotations

import textwrap

import pytest

from clearhead.practice.loops import first_loop, is_stub


def body(text):
    return "def f(x):\n" + textwrap.indent(textwrap.dedent(text), "    ")


@pytest.mark.parametrize(
    ("text", "loop"),
    [
        ("for i in range(len(x)): pass", "for"),
        ("while True: pass", "while"),
        ("return [row for row in x]", "for"),
        ("return sum(a * b for a, b in zip(x, x))", "for"),
        ("return list(map(len, x))", "map"),
        ("return np.vectorize(len)(x)", "vectorize"),
        ("return np.apply_along_axis(len, 0, x)", "apply_along_axis"),
        ("return [x[i] for i in range(x.shape[0])]", "for"),
    ],
)
def test_a_loop_is_found_on_its_line(text, loop):
    assert first_loop(body(text), "f") == (2, loop)


@pytest.mark.parametrize(
    "text",
    [
        "return x @ x.T",
        "return [x @ W for W in (A, B, C)]",
        "return tuple(n // 2 for n in x.shape[:-1])",
        "return tuple(range(len(x.shape)))",
        "return [i for i in range(len(x.shape))]",
        "return [slice(None) for _ in range(x.ndim)]",
        "for a, b in zip((1, 2), (3, 4)): pass",
        "return 'for i in x'",
    ],
)
def test_a_handful_of_things_is_no_loop(text):
    assert first_loop(body(text), "f") is None


def test_helpers_are_looked_into_and_others_are_not():
    source = "def g(x):\n    for row in x: pass\ndef other(x):\n    while x: pass\ndef f(x):\n    return g(x)\n"
    assert first_loop(source, "f") == (2, "for")
    assert first_loop(source.replace("return g(x)", "return x"), "f") is None


def test_a_notebooks_function_has_any_name_and_may_be_indented():
    assert first_loop("    def mine(x):\n        for row in x: pass\n", "softmax") == (2, "for")
    assert first_loop("lambda x: x),", "softmax") is None


@pytest.mark.parametrize("text", ["...", "pass", '"""Says."""', '"""Says."""\n...', "raise NotImplementedError"])
def test_what_is_not_written_yet(text):
    assert is_stub(body(text), "f")


@pytest.mark.parametrize("text", ["return x", "x = 1", "raise ValueError"])
def test_what_is_written(text):
    assert not is_stub(body(text), "f")
    assert not is_stub("", "f")
