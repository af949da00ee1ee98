"""Figures in Korean: nothing in them is English but what was given."""

from __future__ import annotations

import re

import numpy as np
import pytest

from clearhead import masks
from clearhead.figures import (
    visualize_attention,
    visualize_cross_attention,
    visualize_head,
    visualize_layers,
    visualize_lines,
    visualize_patch_attention,
    visualize_rollout,
    words,
)
from clearhead.languages import Said
from clearhead.textbook.patterns import NAMES, causal_uniform, first_token

LATIN = re.compile(r"[A-Za-z]+")
UNITS = {"nat"}  # and numbers such as 1e-05


def sink(n: int) -> np.ndarray:
    return 0.1 * causal_uniform(n) + 0.9 * first_token(n)


FIGURES = {
    "heads": lambda: visualize_attention(np.stack([sink(9)] * 2), mask=masks.causal(), language="ko"),
    "long": lambda: visualize_attention(np.stack([sink(600)] * 2), mask=masks.causal(), language="ko", scale="auto"),
    "max": lambda: visualize_attention(sink(1000), reduce="max", hide_keys=[0, 3], language="ko"),
    "row": lambda: visualize_attention(sink(9), scale="row", hide_keys=True, language="ko"),
    "head": lambda: visualize_head(np.stack([sink(100)] * 3), rows=slice(20, 90), cols=slice(0, 80), language="ko"),
    "cross": lambda: visualize_cross_attention(sink(5), source_text="가", target_text="나", language="ko"),
    "lines": lambda: visualize_lines(np.stack([sink(12)] * 2), hide_keys=3, language="ko"),
    "fan": lambda: visualize_lines(np.stack([sink(12)] * 11), language="ko"),
    "layers": lambda: visualize_layers([np.stack([sink(7)] * 2), sink(7)[None]], "distance", language="ko"),
    "numbers": lambda: visualize_layers(np.ones((2, 3)), scale="log", language="ko"),
    "patterns": lambda: visualize_layers([([*words.PATTERNS], np.ones(len(words.PATTERNS)))], "pattern", language="ko"),
    "patch": lambda: visualize_patch_attention(np.ones((4, 6)), np.full((7, 7), 1 / 7), 2, patch_size=2, language="ko"),
    "class": lambda: visualize_patch_attention(
        np.ones((4, 6)), np.full((7, 7), 1 / 7), "class", patch_size=2, language="ko"
    ),
    "rollout": lambda: visualize_rollout(sink(5), language="ko"),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_in_korean_has_no_english(texts, tidy, name):
    figure = FIGURES[name]()
    written = [text.get_text() for text in texts(figure)] + [t.get_text() for axes in figure.axes for t in axes.texts]
    latin = {word for text in written for word in LATIN.findall(re.sub(r"\de[+-]\d", "", text))}
    assert latin <= UNITS
    assert any("가" <= c <= "힣" for text in written for c in text)
    tidy(figure)


def test_the_environment_chooses_the_language_unless_it_is_given(monkeypatch):
    monkeypatch.setenv("CLEARHEAD_LANG", "ko")
    assert visualize_attention(np.eye(3)).get_supxlabel() == "키"
    assert visualize_attention(np.eye(3), language="en").get_supxlabel() == "key"


def test_every_pattern_of_the_textbook_has_a_name():
    assert {*NAMES, "mixed", "none", "induction", "duplicate_token"} <= set(words.PATTERNS)
    assert all(isinstance(said, Said) for said in words.PATTERNS.values())
    assert all(len(set(names)) == len(names) for names in zip(*words.PATTERNS.values(), strict=True))
