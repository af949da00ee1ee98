"""Every task is done once, whoever helps, whoever calls at the same time, and whatever interrupts it."""

from __future__ import annotations

import threading
import time

import pytest

from clearhead.kernels import crew, schedule

from .counting import Counted


@pytest.fixture(autouse=True)
def without_torch(monkeypatch):
    """Threads of our own, also where other tests have loaded torch."""
    monkeypatch.setattr(schedule, "torchs_team", lambda: None)


@pytest.fixture
def threads(monkeypatch):
    return lambda count: monkeypatch.setattr(schedule, "_threads", count)


@pytest.mark.parametrize("count", [1, 2, 3, 8])
@pytest.mark.parametrize("tasks", [1, 2, 7, 48, 62, 100])
def test_every_task_is_done_once(count, tasks, threads):
    threads(count)
    for seconds in (0.0, 1e-4):
        counted = Counted(tasks, seconds, operations=1e7)
        counted.run()
        assert counted.counts == [1] * tasks


def test_more_turns_than_one(threads):
    """So much work that the caller comes back to Python after every task."""
    threads(2)
    counted = Counted(20, operations=1e12)
    counted.run()
    assert counted.counts == [1] * 20


def test_short_tasks_are_taken_several_at_once(threads):
    """Also where a turn ends before what would be taken at once."""
    threads(2)
    counted = Counted(48, operations=1e7)
    assert counted.work.together == 48
    assert Counted(8, operations=1e10).work.together == 1  # long ones: another may help
    counted.work.turn = 5
    counted.run()
    assert counted.counts == [1] * 48


def test_two_share_the_work(threads):
    """Tasks wait by the clock, so two threads get to do some even on one core."""
    threads(2)
    counted = Counted(100, 5e-3)
    counted.run()
    assert counted.counts == [1] * 100
    assert counted.threads == 2


def test_callers_at_once(threads):
    threads(3)
    everything = [Counted(tasks, 1e-4, operations=1e7) for tasks in range(2, 34)]
    callers = [threading.Thread(target=lambda part=everything[n::8]: [c.run() for c in part]) for n in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert all(counted.counts == [1] * len(counted.counts) for counted in everything)


def test_one_who_is_busy_is_not_waited_for(threads):
    """While the only helper is at somebody else's task, a call is done by its caller."""
    threads(2)
    Counted(2, 1e-3).run()
    long = Counted(2, 1.0)
    other = threading.Thread(target=long.run)
    other.start()
    time.sleep(0.1)
    short = Counted(4, 1e-3)
    short.run()
    assert short.counts == [1] * 4
    assert other.is_alive()
    other.join()
    assert long.counts == [1, 1]


@pytest.mark.parametrize("where", ["while working", "while waiting for the others"])
def test_an_interrupt_leaves_nobody_at_work(where, threads, monkeypatch):
    """Ctrl-C is raised in the caller. When it arrives outside, no helper is at a task, and the next call is right."""
    threads(2)
    Counted(2, 1e-3).run()
    counted = Counted(50, 2e-3)
    if where == "while working":

        def interrupted(*arguments):
            raise KeyboardInterrupt

        monkeypatch.setattr(schedule, "_lead", lambda work, words: (time.sleep(5e-3), interrupted()))
    else:
        settle = crew.Crew.settle
        calls = iter([True])

        def once(self, *arguments):
            if next(calls, False):
                raise KeyboardInterrupt
            settle(self, *arguments)

        monkeypatch.setattr(crew.Crew, "settle", once)
    with pytest.raises(KeyboardInterrupt):
        counted.run()
    seen = counted.counts
    time.sleep(0.02)
    assert counted.counts == seen
    monkeypatch.undo()
    after = Counted(7, 1e-4, operations=1e7)
    after.run()
    assert after.counts == [1] * 7


def test_nobody_can_be_started(threads, monkeypatch):
    """Then the caller does it all."""
    threads(4)

    def refused(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(crew, "_crew", crew.Crew())
    monkeypatch.setattr(threading.Thread, "start", refused)
    counted = Counted(9, 1e-4, operations=1e7)
    counted.run()
    assert counted.counts == [1] * 9


def test_scratch_is_kept_and_lies_at_a_cache_line():
    address = schedule.scratch(1000)
    assert address % 64 == 0
    assert schedule.scratch(500) == address
