"""Time and memory are measured as is said: in turn, at rest, ratios within a round."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import numpy as np
import pytest
from benchmarks import measure
from benchmarks.measure import Effort
from benchmarks.problems import Call
from benchmarks.rows import INTERFACE, MICROSECONDS, MILLISECONDS, SHARE, SPEED, Value, over, spread


def test_ratios_are_of_medians_and_their_spread_is_of_rounds():
    theirs, ours = [2.0, 4.0, 6.0, 8.0, 100.0], [1.0, 2.0, 2.0, 8.0, 2.0]
    assert measure.ratio(theirs, ours) == Value(3.0, 2.0, 3.0)
    assert spread(theirs) == Value(6.0, 4.0, 8.0)


def test_values_are_speed_against_torch_and_share_of_the_yardstick():
    seconds = {"clearhead": [2.0, 2.0], "torch": [3.0, 3.0], "sgemm": [4.0, 4.0], "jax": [9.0, 9.0]}
    calls = {"sgemm": Call(lambda: None, operations=50.0)}
    found = measure.values(seconds, calls, operations=20.0)
    assert {name: x.number for name, x in found.items()} == {
        SPEED: 1.5,
        SHARE: (20 / 2) / (50 / 4),
        over("jax"): 4.5,
        MICROSECONDS: 2e6,
        MILLISECONDS: 2e3,
    }
    assert {SHARE, INTERFACE}.isdisjoint(measure.values({"clearhead": [2.0], "torch": [3.0]}, {}, 20.0))
    by_interface = {"clearhead": [2.0], "torch": [3.0], "clearhead.hf": [1.0]}
    assert measure.values(by_interface, {}, 20.0)[INTERFACE].number == 3.0


def test_every_round_calls_everyone_and_begins_with_another(monkeypatch):
    turns: list[str] = []
    monkeypatch.setattr(measure, "turn", lambda call: turns.append(call.run()) or 1.0)
    calls = {name: Call(lambda name=name: name) for name in "abc"}
    shares: list[float] = []
    seconds = measure.timings(calls, Effort(rounds=4, seconds=0.0), shares.append)
    assert "".join(turns) == "abcbcacababc"
    assert seconds == {name: [1.0] * 4 for name in "abc"}
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_rounds_go_on_while_there_is_time_and_end_at_the_most():
    calls = {"a": Call(lambda: None)}
    assert len(measure.timings(calls, Effort(rounds=2, seconds=60.0, most_rounds=5))["a"]) == 5


def test_a_stretch_counts_all_that_happens_in_it():
    """One call in three takes long, and so does what comes before each: a median of calls would show neither."""
    done: list[str] = []

    def run() -> None:
        done.append("call")
        time.sleep(0.03 * (len(done) % 3 == 0))

    call = Call(run, before=lambda: time.sleep(0.01))
    for seconds in measure.timings({"a": call}, Effort(rounds=2, seconds=0.0), stretch=0.2)["a"]:
        assert 0.015 < seconds < 0.2 / 3
    assert len(done) >= 8


def test_short_calls_are_repeated_and_warmed_up():
    called: list[int] = []
    measure.turn(Call(lambda: called.append(1) or time.sleep(measure.TURN / 5)))
    assert 2 <= len(called) <= 6, "one that does not count, and as many as there is time for"
    called.clear()
    assert measure.turn(Call(lambda: called.append(1) or time.sleep(measure.TURN))) >= measure.TURN
    assert len(called) == 1


def test_the_first_of_short_calls_does_not_count():
    called: list[int] = []
    call = Call(lambda: called.append(1) or time.sleep(measure.TURN / 2 if len(called) == 1 else 0.0))
    assert measure.turn(call) < measure.TURN / 10
    assert len(called) > 100, "and one that was slow does not make a turn of few"


def test_memory_is_the_peak_of_a_call():
    def run():
        first = np.ones(2**23)  # 64 MiB, and another while the first is there
        return (first + 1).sum()

    extra = measure.extra_bytes(Call(run))
    if not Path("/proc/self/clear_refs").exists():
        assert extra is None
    else:
        assert extra == pytest.approx(2 * 2**26, rel=0.05)


def test_memory_is_unknown_where_it_cannot_be_measured(monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(Path, "write_text", refuse)
    assert measure.extra_bytes(Call(lambda: None)) is None


def test_what_comes_before_a_call_is_not_timed():
    told: list[str] = []

    @contextlib.contextmanager
    def inside():
        told.append("in")
        yield
        told.append("out")

    def slow():
        told.append("before")
        time.sleep(measure.TURN)

    call = Call(lambda: told.append("run"), before=slow, inside=inside)
    assert measure.turn(call) < 0.05
    assert told == ["in", *["before", "run"] * 2, "out"], "what is done before a call takes the turn's time"
    told.clear()
    measure.once(call)
    assert told == ["in", "before", "run", "out"]


def test_a_call_that_keeps_its_memory_is_not_weighed():
    assert measure.extra_bytes(Call(lambda: np.ones(2**23), weighed=False)) is None
