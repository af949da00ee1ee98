"""What was measured is shown with its goals: in tables, line by line, and in the picture."""

from __future__ import annotations

import io

import pytest
from benchmarks import machine, plot, report
from benchmarks.rows import MICROSECONDS, SPEED, Goal, Mean, Row, over
from rich.console import Console
from tests.bench.examples import ROWS, row


def shown(rows: list[Row], width: int, means: tuple[Mean, ...] = ()) -> str:
    console = Console(width=width, file=io.StringIO())
    report.show(report.Report({}, {}, rows, means, True), console)
    return console.file.getvalue()


def test_the_table_tells_met_from_missed():
    lines = {line.split()[0]: line for line in shown(ROWS, 200).splitlines() if line.split()}
    assert " ".join(lines["quick"].split()) == "quick 2.00 ms 2.00 ms 1.50 (1.35–1.65) 1.2 met 95% 3.0 MiB —"
    assert "missed" in lines["slow"]
    assert "met" not in lines["aimless"]
    assert "missed" not in lines["aimless"]
    assert lines["goals:"] == "goals: 1 met, 1 missed"


def test_a_narrow_terminal_gets_two_tables_and_nothing_cut_off():
    text = shown(ROWS, 80)
    assert "…" not in text
    assert [text.count(name) for name in ("quick", "slow", "aimless")] == [2, 2, 2]


@pytest.mark.parametrize(
    ("number", "text"),
    [(1.2345, "1.23 s"), (123.4, "123 s"), (0.0456, "45.6 ms"), (0.001, "1.00 ms"), (45.67e-6, "45.7 µs")],
)
def test_times_have_three_digits(number, text):
    assert report.seconds(number) == text


def test_the_plot_tells_met_from_missed():
    found = report.Report(machine.describe(), {"threads": 2, "quick": False}, ROWS, [], True)
    (axes,) = plot.draw(found).axes
    markers = [line.get_marker() for line in axes.lines if line.get_markersize() == 7 and len(line.get_xdata()) == 1]
    assert markers == ["o", "X", "o"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["quick", "slow", "aimless"]
    assert axes.get_xscale() == "log"


def test_goals_without_a_column_have_a_table_of_their_own():
    wanted = (Goal(MICROSECONDS, 15, most=True), Goal(over("jax"), 2))
    measured = row("call", goals=wanted, microseconds=0.0123, speed_over_jax=3)
    lines = [" ".join(line.split()) for line in shown([measured], 200).splitlines()]
    assert "call microseconds 0.012 (0.011–0.014) ≤ 15 met" in lines
    assert "call speed over jax 3.00 (2.70–3.30) ≥ 2 met" in lines


def test_a_verdict_stands_beside_the_goal_it_is_about():
    measured = row("call", goals=(Goal(SPEED, 1), Goal(over("jax"), 2)), speed=1.5, speed_over_jax=1)
    first, second = (line for line in shown([measured], 200).splitlines() if line.split()[:1] == ["call"])
    assert "missed" not in first
    assert "missed" in second
