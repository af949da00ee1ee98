"""torch's own threads: when a call is given to them, and what must not go wrong there."""

from __future__ import annotations

import itertools
import time

import pytest
import torch

from clearhead.kernels import schedule, teams
from clearhead.kernels.rounds import FEW, PLACES
from clearhead.kernels.teams import FIRST_PAUSE, LONGEST_PAUSE, Team, torchs_team

from .counting import Counted
from .processes import run

TWO = {"CLEARHEAD_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}


@pytest.fixture
def team(monkeypatch):
    """torch's team of two, as if it had never been late."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    monkeypatch.setattr(schedule, "_threads", 2)
    teams._found_team.cache_clear()
    found = torchs_team()
    if found is None:
        pytest.skip("this torch has no OpenMP library that can be asked")
    yield found
    torch.set_num_threads(before)
    teams._found_team.cache_clear()


def test_a_team_of_another_size_is_left_alone(team, monkeypatch):
    assert schedule._hands() == (2, team)
    torch.set_num_threads(1)
    assert schedule._hands() == (2, None)
    monkeypatch.setattr(schedule, "_threads", 1)
    assert schedule._hands() == (1, team)


def test_as_many_threads_as_torch_unless_somebody_says_otherwise(team, monkeypatch):
    monkeypatch.setattr(schedule, "_threads", None)
    monkeypatch.delenv(schedule.VARIABLE, raising=False)
    assert schedule.get_num_threads() == 2
    torch.set_num_threads(1)
    assert schedule.get_num_threads() == 1
    monkeypatch.setattr(schedule, "_threads", None)
    monkeypatch.setenv(schedule.VARIABLE, "3")
    assert schedule.get_num_threads() == 3


def test_without_torch_there_is_none(team, monkeypatch):
    monkeypatch.delitem(teams.sys.modules, "torch")
    assert torchs_team() is None


def test_a_torch_without_such_a_library(team, monkeypatch, tmp_path):
    teams._found_team.cache_clear()
    monkeypatch.setattr(teams, "LIBRARY", "libtorch_of_another_kind.so")
    assert torchs_team() is None


@pytest.mark.parametrize("operations", [1e7, 1e12])
def test_every_task_is_done_once(operations, team, monkeypatch):
    """In one turn, and in one for every two tasks."""
    rounds = []
    run_round = Team.run
    monkeypatch.setattr(Team, "run", lambda *given: (run_round(*given), rounds.append(given[1][PLACES])))
    counted = Counted(20, 1e-3, operations=operations)
    counted.run()
    assert counted.counts == [1] * 20
    assert counted.threads == 2
    assert set(rounds) == {2}
    assert len(rounds) >= (1 if operations == 1e7 else 10)


@pytest.mark.parametrize("tasks", [FEW - 1, FEW, FEW + 1, 3 * FEW])
@pytest.mark.parametrize("operations", [1e7, 1e12])
def test_few_tasks_and_many(tasks, operations, team):
    counted = Counted(tasks, operations=operations)
    counted.run()
    assert counted.counts == [1] * tasks


def test_each_begins_with_tasks_of_its_own(team):
    """So it finds in its cache what it had there in a call before; a thread that comes too late finds less to do."""
    own = []
    while [0, 0, 0, 3, 3, 3] not in own and len(own) < 200:  # on busy cores the two seldom begin together
        counted = Counted(6, 5e-3)
        counted.run()
        assert counted.counts == [1] * 6
        own.append([counted.did.index(x) for x in counted.did])
    assert [0, 0, 0, 3, 3, 3] in own


def test_ctrl_c_between_two_turns(team, monkeypatch):
    run_round = Team.run

    def interrupted(self, words, threads):
        run_round(self, words, threads)
        raise KeyboardInterrupt

    counted = Counted(20, 1e-4, operations=1e12)
    monkeypatch.setattr(Team, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        counted.run()
    seen = counted.counts
    assert sum(seen) == 2
    time.sleep(0.01)
    assert counted.counts == seen


class TestLateness:
    def test_a_team_that_is_in_time_is_worth_it(self, team):
        assert team.is_worth(1e4)

    def test_one_delay_is_an_accident_and_two_are_not(self, team):
        team.note(10**7)
        assert team.is_worth(1e5)
        team.note(10**7)
        assert not team.is_worth(1e5)
        assert team.is_worth(1e8)  # a call that lasts longer than they are late

    def test_it_is_tried_again_after_ever_more_calls(self, team):
        for _ in range(3):
            team.note(10**7)
        tried = [n for n in range(4000) if team.is_worth(1e5)]
        assert tried[0] == FIRST_PAUSE - 1
        gaps = [b - a for a, b in itertools.pairwise(tried)]
        assert gaps == sorted(gaps)
        assert gaps[0] == 2 * FIRST_PAUSE
        assert gaps[-1] <= LONGEST_PAUSE

    def test_once_it_is_in_time_again_all_is_as_before(self, team):
        for _ in range(3):
            team.note(10**7)
        team.pause = LONGEST_PAUSE
        assert not team.is_worth(1e5)
        team.note(2000)
        assert team.pause == FIRST_PAUSE
        assert team.is_worth(1e5)

    def test_between_other_work_a_short_call_wakes_nobody_beside_a_late_team(self, team, monkeypatch):
        asked = []
        monkeypatch.setattr(schedule, "_with_own", lambda work, words, threads: asked.append(threads))
        for operations in (1e7, 1e10):
            for ago in (10**6, -(10**9)):  # the last call ended a while ago, or has hardly ended
                team.last = team.delay = 10**10
                team.passed_by = 0
                team.left = time.perf_counter_ns() - ago
                Counted(4, operations=operations).run()
        assert asked == [1, 2, 2, 2]

    def test_many_threads_save_more_than_two(self, team):
        team.left = 0
        assert team.wants_its_cores(2e6, 2)
        assert not team.wants_its_cores(2e6, 8)

    @pytest.mark.parametrize("late", [0, 10**10])
    def test_whoever_does_a_call_its_end_is_noted(self, late, team):
        team.last = team.delay = late
        before = time.perf_counter_ns()
        Counted(4, operations=1e7).run()
        assert before < team.left < time.perf_counter_ns()

    def test_it_is_measured_from_the_call_to_the_last_who_joined(self, team):
        began = time.monotonic_ns()
        Counted(4, operations=1e12).run()
        assert 0 < team.last < time.monotonic_ns() - began


class TestProcesses:
    PRELUDE = """
        import torch
        from clearhead.kernels import teams
        torch.set_num_threads(2)
        q, k, v = arrays(4, 400)
        before = attention(q, k, v, mask=causal())
        assert teams._found_team.cache_info().currsize == 1
        same = lambda: attention(q, k, v, mask=causal()).tobytes() == before.tobytes()
    """

    def test_a_fork_threads_and_products_between(self):
        """In a child the team is gone, and asking for it would hang."""
        code = """
            def in_child(what):
                pid = os.fork()
                if pid == 0:
                    try:
                        os._exit(0 if what() and teams.forked else 3)
                    finally:
                        os._exit(4)
                return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            x = torch.randn(256, 256)
            (x @ x).sum()
            results = [in_child(same), same()]
            def call():
                for _ in range(20):
                    x @ x
                    results.append(same())
            callers = [threading.Thread(target=call) for _ in range(4)]
            for t in callers: t.start()
            for t in callers: t.join()
            print(results[0], all(results[1:]), len(results), right(q, k, v))
        """
        assert run(self.PRELUDE, code, **TWO) == "0 True 82 True"

    def test_ctrl_c_is_heard(self):
        code = """
            import signal
            long = arrays(8, 60_000, d=64)
            threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            began = time.monotonic()
            try:
                attention(*long, mask=causal())
                print("it was not interrupted")
            except KeyboardInterrupt:
                print(time.monotonic() - began < 5, same())
        """
        assert run(self.PRELUDE, code, **TWO) == "True True"
