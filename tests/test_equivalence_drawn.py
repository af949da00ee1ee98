"""Whatever is asked of attention, it answers what the textbook answers: whole calls, drawn.

The same calls in every run; `make sweep` draws new ones, as many as you like.
"""

from __future__ import annotations

from hypothesis import given, settings

from clearhead.dispatch import attention

from .drawn import rows
from .judge import judge
from .problems import Row, build
from .sweep import SLACK, check_call


@settings(max_examples=200)
@given(row=rows())
def test_any_call_is_what_the_textbook_says(row: Row):
    problem = build(row)
    output, lse = attention(*problem.arrays, **problem.options, return_lse=True)
    judge(problem).check(output, lse, slack=SLACK)
    assert attention(*problem.arrays, **problem.options).tobytes() == output.tobytes()


@settings(max_examples=40)
@given(row=rows())
def test_so_are_its_gradients_and_what_is_seen_of_it(row: Row):
    check_call(row)
