"""Views say what the textbook's full matrix says, on every row of the table of calls."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead.dispatch import attention
from clearhead.views import look

from ..equivalence import ROWS
from ..problems import Row, build
from .truth import MAP, Truth, options_of_look

# What the observing kernel does not get right yet. A row that is right again fails the suite, so that its name goes.
DEFECTS = {
    "the sink is counted in the entropy of the keys": (
        "groups, sinks, 5 queries", "groups, sinks, 71 queries", "split keys, sinks",
        "a rule and sinks, half precision", "softcap, causal, bias, sinks", "sinks", "sinks of −inf",
        "sinks, one for all", "sinks, a number", "sinks without heads", "sinks, float64", "sinks in half precision",
        "dropout, half, sinks", "everything", "everything, by an array and a rule",
    ),
    "a masked key that is not finite receives NaN from lanes without a query": (
        "NaN masked by an array", "NaN masked by −inf", "NaN masked by a float mask", "NaN masked by a rule",
        "−inf key in sight of all", "−inf key with a NaN value",
    ),
}  # fmt: skip
CASES = [
    pytest.param(row, id=str(row), marks=[pytest.mark.xfail(reason=why) for why in DEFECTS if row.name in DEFECTS[why]])
    for row in ROWS
]


@pytest.mark.parametrize("row", CASES)
def test_every_statistic_is_what_the_textbook_says(row: Row):
    problem = build(row)
    options = options_of_look(problem)
    view = look(*problem.arrays, **options, top_k=5, map_size=MAP)
    output, lse = attention(*problem.arrays, **options, return_lse=True)
    np.testing.assert_array_equal(view.output.view(np.uint8), output.view(np.uint8), "looking changed the output")
    np.testing.assert_array_equal(view.lse, lse)
    truth = Truth(problem)
    for name in ("entropy", "max_weight", "received", "on_first", "on_self"):
        truth.check(name, getattr(view, name))
    truth.check("distance", view.distance, slack=2)  # thousands of terms, one after another
    truth.check("mass", view.mass())
    truth.check("mean", view.map())
    truth.check("max", view.map("max"))
    truth.check("weights", view.weights())
    truth.check_top(*view.top_k)
