"""Gradients on the rows of the equivalence table, judged by torch's autograd through plain torch operations.

Left out are rows in a layout that torch cannot hold: another machine's byte order, or running backwards.
"""

from __future__ import annotations

import numpy as np
import pytest

from ..equivalence import ROWS
from ..problems import Row, build
from .gradients import check_gradients, clean_queries, given, known_gradients, torch_can_hold

HELD = [row for row in ROWS if torch_can_hold(row)]


@pytest.mark.parametrize("row", HELD, ids=str)
def test_gradients_are_those_of_plain_torch(row: Row):
    check_gradients(build(row))


class TestTheTable:
    """The rules that leave rows out leave enough of them in."""

    def test_only_what_torch_cannot_hold_is_left_out(self):
        left_out = {row.layout for row in ROWS if row not in HELD}
        assert left_out == {"rows backwards", "columns backwards", "all backwards", "big-endian"}

    def test_every_kind_of_input_has_a_gradient(self):
        leaves = [set(given(build(row)).leaves) for row in HELD if row.options]
        assert set().union(*leaves) == {"q", "k", "v", "mask", "bias", "table", "sinks"}

    def test_what_is_not_finite_leaves_something_to_compare(self):
        """Of every kind of gradient, on all rows but the one where it is in sight of every query."""
        compared = {}
        for row in (row for row in HELD if row.spoil):
            problem = build(row)
            clean = clean_queries(problem, problem.textbook(np.dtype(np.float64)))
            if not clean.all():
                known = known_gradients(problem, given(problem).leaves, clean)
                compared[row.name] = {name for name, flags in known.items() if flags.any()}
        assert set().union(*compared.values()) == {"q", "k", "v", "mask", "bias", "table", "sinks"}
        assert [name for name, leaves in compared.items() if not leaves] == ["split keys, NaN in sight"]
