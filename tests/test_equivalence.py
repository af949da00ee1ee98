"""Every path of attention, option by option and type by type, is what the textbook says: one test over one table.

A path without a row fails too: the table is compared with what `clearhead` offers.
"""

from __future__ import annotations

import ast
import inspect

import numpy as np
import pytest

from clearhead import biases, checks, masks
from clearhead.dispatch import attention, explain
from clearhead.kernels.target import TARGET

from .equivalence import ROWS
from .judge import judge
from .layouts import LAYOUTS
from .problems import Row, build, constructors


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_attention_is_what_the_textbook_says(row: Row):
    problem = build(row)
    options = problem.options | {"return_lse": True}
    output, lse = attention(*problem.arrays, **options)
    judge(problem).check(output, lse)
    alone = attention(*problem.arrays, **options | {"return_lse": False})
    np.testing.assert_array_equal(alone.view(np.uint8), output.view(np.uint8), "asking for lse changed the output")
    again = attention(*problem.arrays, **options)
    for first, second in zip((output, lse), again, strict=True):
        np.testing.assert_array_equal(first.view(np.uint8), second.view(np.uint8), "a second call differs from a first")


def names_in(option: str) -> set[str]:
    """Every name that is called in some row's text of this option."""
    texts = [row.options[option] for row in ROWS if isinstance(row.options.get(option), str)]
    calls = (node for text in texts for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return {node.func.id for node in calls if isinstance(node.func, ast.Name)}


class TestTheTable:
    def test_rows_have_names_of_their_own(self):
        names = [row.name for row in ROWS]
        assert sorted(names) == sorted(set(names))

    def test_every_mask_has_a_row(self):
        assert set(constructors(masks, "Mask")) <= names_in("mask")

    def test_every_bias_has_a_row(self):
        assert set(constructors(biases, "RelativeBias")) <= names_in("bias")

    def test_masks_and_biases_are_found(self):
        assert {"causal", "window", "where"} <= set(constructors(masks, "Mask"))
        assert {"alibi", "t5"} <= set(constructors(biases, "RelativeBias"))

    def test_every_way_of_joining_masks_has_a_row(self):
        texts = [row.options.get("mask") for row in ROWS]
        for sign in "&|~":
            assert any(isinstance(text, str) and sign in text for text in texts)

    def test_every_option_has_a_row(self):
        offered = set(inspect.signature(attention).parameters) - {*"qkv"}
        assert offered == {name for row in ROWS for name in row.options}

    @pytest.mark.parametrize("place", range(3))
    def test_every_type_has_a_row(self, place):
        used = {(row.dtype.split() * 3)[place] for row in ROWS}
        assert used == set(checks.FLOAT_TYPES)

    def test_every_layout_has_a_row(self):
        assert {row.layout for row in ROWS} == set(LAYOUTS)

    def test_every_path_has_a_row(self):
        """Many queries and few, heads folded, keys split, and each of these in both types of arithmetic."""
        plans = [explain(*(problem := build(row)).arrays, **problem.options) for row in ROWS]
        for kind in ("float32", "float64"):
            of_kind = [plan for plan in plans if f"{kind} arithmetic" in plan.path]
            assert {plan.path.split()[0] for plan in of_kind} == {"forward", "decode"}
            for word in ("folded into one panel", "keys are split", "panels of", "converted a block at a time"):
                assert any(word in plan.reason for plan in of_kind), (kind, word)
            assert any(plan.tiles_skipped for plan in of_kind)
            assert any(plan.slow for plan in of_kind)
        paired = [plan for plan in plans if "multiplied in pairs" in plan.reason]
        if TARGET.pairs:
            assert {plan.path.split()[0] for plan in paired} == {"forward", "decode"}
            for word in ("folded into one panel", "keys are split", "panels of", "converted a block at a time"):
                assert any(word in plan.reason for plan in paired), word
            assert any(plan.tiles_skipped for plan in paired)
            assert any(plan.slow for plan in paired)
        else:
            assert not paired
