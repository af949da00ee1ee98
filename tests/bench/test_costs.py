"""What a call costs before it starts, the first one of a process included."""

from __future__ import annotations

import pytest
from benchmarks import cases, costs, first_call, peers
from benchmarks.rows import COLD, FROM_DISK, MICROSECONDS, SPEED, Goal
from tests.bench.examples import MINIMAL, SIZE, TIMED, named


@pytest.mark.parametrize("case", [case for case in TIMED if case.group == "cost"], ids=lambda case: case.name)
def test_costs_are_measured_on_one_thread(case, monkeypatch):
    told: list[int] = []
    monkeypatch.setattr(peers, "set_threads", told.append)
    row = case.measure(MINIMAL, 5, SIZE)
    assert told == [1, 5]
    assert row.values.keys() == {SPEED, MICROSECONDS}
    assert row.values[MICROSECONDS].number == pytest.approx(1e6 * row.peers["clearhead"].seconds.number, rel=1e-12)


def test_threads_are_given_back_after_an_error(monkeypatch):
    told: list[int] = []
    monkeypatch.setattr(peers, "set_threads", told.append)
    with pytest.raises(ZeroDivisionError), cases.these_threads(1, 7):
        raise ZeroDivisionError
    assert told == [1, 7]


def test_gradients_are_wanted_where_that_is_measured():
    for gradient in (False, True):
        calls = costs.tensors(gradient=gradient)(SIZE, 1).calls
        assert {call.run().requires_grad for call in calls.values()} == {gradient}


def test_a_first_call_compiles_and_the_next_finds_it():
    row = named("first call").measure(MINIMAL, 1, SIZE)
    assert row.values.keys() == {COLD, FROM_DISK}
    assert 0 < row.values[FROM_DISK].number < row.values[COLD].number
    assert row.rounds == MINIMAL.rounds
    assert Goal(COLD, 5, most=True) in row.judged


def test_a_first_call_that_fails_says_why(monkeypatch):
    monkeypatch.setattr(first_call, "CODE", "raise OSError('no room')")
    with pytest.raises(RuntimeError, match="no room"):
        named("first call").measure(MINIMAL, 1, SIZE)
