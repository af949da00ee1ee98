"""A row is judged by its goals, and a group by the mean of its rows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.rows import LARGEST, SHARE, SPEED, Goal, geometric_mean, means, over
from tests.bench.examples import row


@pytest.mark.parametrize(
    ("speed", "share", "verdict", "missed"),
    [
        (1.5, 0.9, "met", []),
        (1.2, 0.8, "met", []),
        (1.19, 0.9, "missed", ["speed"]),
        (1.5, 0.79, "missed", ["share of sgemm"]),
        (1.0, 0.1, "missed", ["speed", "share of sgemm"]),
    ],
)
def test_a_row_meets_its_goals_only_if_it_meets_all(speed, share, verdict, missed):
    measured = row(goals=(Goal(SPEED, 1.2), Goal(SHARE, 0.8)), speed=speed, share_of_sgemm=share)
    assert measured.verdict == verdict
    assert [goal.value for goal in measured.missed] == missed


def test_some_goals_are_upper_bounds():
    goal = Goal(LARGEST, 1.0, most=True)
    assert [goal.met(x) for x in (0.5, 1.0, 1.01)] == [True, True, False]
    assert str(goal) == "largest error ≤ 1"
    assert str(Goal(SPEED, 1.7)) == "speed ≥ 1.7"


def test_without_a_goal_or_its_value_there_is_no_verdict():
    assert row(speed=0.1).verdict == ""
    assert row(goals=(Goal(SHARE, 0.8),), speed=0.1).verdict == ""


def test_the_geometric_mean_of_a_group_has_its_own_goal():
    rows = [row("a", speed=1.0), row("b", speed=4.0), row("c", group="causal", speed=100.0)]
    (mean,) = means(rows, {"dense": Goal(SPEED, 2.1), "small": Goal(SPEED, 1)}, {"dense": 10})
    assert mean.number == pytest.approx(2.0, rel=1e-15)
    assert (mean.rows, mean.of, mean.verdict) == (2, 10, "missed")
    assert replace(mean, goal=Goal(SPEED, 1.9)).verdict == "met"
    assert geometric_mean([2.0, 3.0, 5.0]) == pytest.approx(30 ** (1 / 3), rel=1e-15)


def test_what_was_not_measured_is_not_judged():
    open_goals = (Goal(SPEED, 1.2), Goal(over("openvino"), 1.2))
    assert row(goals=open_goals, speed=1.5).verdict == "met"
    assert row(goals=open_goals, speed=1.5).judged == (Goal(SPEED, 1.2),)
    assert row(goals=open_goals, speed=1.5, speed_over_openvino=1.1).missed == (open_goals[1],)
