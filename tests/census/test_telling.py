"""How far a census is: a bar in a terminal, elsewhere a line now and then."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from clearhead.census.taking import Step
from clearhead.census.telling import Teller, clock, rates


def test_rates_count_from_the_first_row():
    first, now = Step(24, 100, 4, 400), Step(44, 100, 24, 2400)
    assert rates(now, 10.0, first, 20.0) == (200.0, 28.0)
    assert rates(first, 10.0, first, 20.0) == (0.0, float("inf"))


@pytest.mark.parametrize(("seconds", "told"), [(0.0, "0:00"), (61.2, "1:01"), (3723.0, "1:02:03"), (float("inf"), "–")])
def test_clock(seconds, told):
    assert clock(seconds) == told


@pytest.mark.parametrize("terminal", [False, True])
def test_that_it_stops_is_said_once(terminal):
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100)
    with Teller(console) as tell:
        tell(Step(0, 8, 0, 0))
        tell.stop("stopping")
        before = console.file.getvalue()
        tell.stop("stopping")
    assert console.file.getvalue() == before
    assert before.endswith("stopping\n")
    assert before.count("stopping") == 1


@pytest.mark.parametrize("terminal", [False, True])
def test_lines_and_bars(terminal, monkeypatch):
    times = iter([0.0, 1.0, 2.0, 12.0, 13.0])
    monkeypatch.setattr("clearhead.census.telling.time.monotonic", lambda: next(times))
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100)
    with Teller(console) as tell:
        for step in (
            Step(0, 8, 0, 0, ("a/[x].csv", "b.gz")),
            Step(2, 8, 2, 100),
            Step(4, 8, 4, 200),
            Step(6, 8, 6, 300),
            Step(8, 8, 8, 400),
        ):
            tell(step)
    said = console.file.getvalue()
    if terminal:
        assert "8 of 8 documents" in said
    else:
        assert said.splitlines() == [
            "left out, as files of no kind that is read, of those in folders: 2, such as a/[x].csv",
            "0 of 8 documents done; starting Ray, and loading the model",
            "6 of 8 documents · 18 tokens/s · 0:06 left",
            "8 of 8 documents · 25 tokens/s · 0:00 left",
        ]
