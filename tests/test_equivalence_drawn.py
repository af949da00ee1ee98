"""Whatever is asked of attention, it answers what the textbook answers: whole calls, drawn."""

from __future__ import annotations

from hypothesis import given, settings

from clearhead.dispatch import attention

from .drawn import rows
from .judge import judge
from .problems import Row, build

# Two runs of the same length through the same rounding errors differ by luck; that much is granted to a drawn row.
SLACK = 3.0


@settings(max_examples=200)
@given(row=rows())
def test_any_call_is_what_the_textbook_says(row: Row):
    problem = build(row)
    output, lse = attention(*problem.arrays, **problem.options, return_lse=True)
    judge(problem).check(output, lse, slack=SLACK)
    assert attention(*problem.arrays, **problem.options).tobytes() == output.tobytes()
