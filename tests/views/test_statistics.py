"""Views say what the textbook's full matrix says, on every row of the table of calls."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead.dispatch import attention
from clearhead.views import look

from ..equivalence import ROWS
from ..problems import Row, build
from .truth import MAP, Truth, options_of_look


@pytest.mark.parametrize("row", ROWS, ids=str)
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
    truth.check("distance", view.distance, slack=8)  # thousands of terms, one after another
    truth.check("mass", view.mass())
    truth.check("mean", view.map())
    truth.check("max", view.map("max"))
    truth.check("weights", view.weights())
    truth.check_top(*view.top_k)
