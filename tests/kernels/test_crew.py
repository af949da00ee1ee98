"""Threads of our own: they are awake for a moment, and then they sleep."""

from __future__ import annotations

import time

import pytest

from clearhead.kernels import crew as crews, schedule
from clearhead.kernels.crew import Crew

from .counting import Counted


@pytest.fixture
def crew(monkeypatch):
    """A crew of the test's own."""
    crew = Crew()
    monkeypatch.setattr(crews, "_crew", crew)
    monkeypatch.setattr(schedule, "_threads", 3)
    monkeypatch.setattr(schedule, "torchs_team", lambda: None)
    yield crew
    crew.dismiss()


def test_those_are_started_who_are_needed(crew):
    assert crew.ready(2) == 2
    assert crew.ready(1) == 1
    assert len(crew.threads) == 2


def test_nobody_is_busy_while_nobody_calls(crew):
    """Half a second after a call, its helpers have taken next to nothing of any core."""
    Counted(6, 1e-3).run()
    time.sleep(0.05)
    before = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - before < 0.05


def test_whoever_sleeps_is_woken(crew):
    Counted(6, 1e-3).run()
    time.sleep(0.05)
    counted = Counted(100, 5e-3)
    counted.run()
    assert counted.counts == [1] * 100
    assert counted.threads == 3


def test_small_calls_wake_somebody_only_if_they_follow_closely(crew, monkeypatch):
    crew.ready(2)
    time.sleep(0.05)
    woken = []
    offer = Crew.offer
    monkeypatch.setattr(Crew, "offer", lambda self, *rest, wake: (woken.append(wake), offer(self, *rest, wake=wake))[1])
    small = 0.5 * schedule.SMALL
    for _ in range(3):
        time.sleep(0.01)
        Counted(4, operations=small).run()
    assert woken == [False] * 3
    monkeypatch.setattr(Crew, "idle", lambda self: 100)
    Counted(4, operations=small).run()
    assert woken[3:] == [True]


def test_the_dismissed_are_gone_and_do_not_come_back(crew):
    Counted(6, 1e-3).run()
    crew.dismiss()
    assert not any(thread.is_alive() for thread in crew.threads)
    assert crew.ready(2) == 0
    counted = Counted(6, 1e-3)
    counted.run()
    assert counted.counts == [1] * 6
