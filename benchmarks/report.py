"""The printed tables and the JSON file: what was measured, what it should have been, and on what machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.measure import OURS, THEIRS, YARDSTICK
from benchmarks.rows import LARGEST, RMS, SHARE, SPEED, Goal, Mean, Row, Value, over

UNKNOWN = "—"
COLOURS = {"met": "green", "missed": "bold red"}

Column = tuple[str, Callable[[Row], str]]  # a heading, and what to write under it


@dataclass(frozen=True)
class Report:
    """All rows of a run."""

    machine: dict[str, Any]
    settings: dict[str, Any]
    rows: Sequence[Row]
    means: Sequence[Mean]
    complete: bool  # False if it was stopped before the last case

    def judged(self, verdict: str) -> list[Row | Mean]:
        return [x for x in (*self.rows, *self.means) if x.verdict == verdict]


def by_group(rows: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    return [(group, list(found)) for group, found in groupby(rows, key=lambda row: row.group)]


# JSON


def as_json(report: Report) -> dict[str, Any]:
    return {
        "machine": report.machine,
        "settings": report.settings,
        "complete": report.complete,
        "rows": [asdict(row) | {"verdict": row.verdict} for row in report.rows],
        "geometric_means": [asdict(mean) | {"verdict": mean.verdict} for mean in report.means],
    }


def write_json(report: Report, path: Path) -> None:
    path.write_text(json.dumps(as_json(report), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


# Tables


def show(report: Report, console: Console) -> None:
    """Print the tables, the geometric means, and how many rows reached their goals."""
    timed = [row for row in report.rows if row.peers]
    exact = [row for row in report.rows if LARGEST in row.values]
    for made in [*speed_tables(timed, console), *accuracy_tables(exact), *other_tables(report.rows)]:
        console.print(made)
    for mean in report.means:
        console.print(mean_line(mean), highlight=False)
    met, missed = (report.judged(verdict) for verdict in COLOURS)
    if met or missed:
        console.print(f"goals: {len(met)} {coloured('met')}, {len(missed)} {coloured('missed')}", highlight=False)
    if not report.complete:
        console.print("stopped before the last case; the rest was not measured", style="yellow")


def speed_tables(rows: Sequence[Row], console: Console) -> list[Table]:
    """Times, goals, and what else was measured beside them: one table if there is room for it, else two."""
    if not rows:
        return []
    known = dict.fromkeys(name for row in rows for name in row.peers)
    others = [name for name in known if name not in (OURS, THEIRS, YARDSTICK)]
    main: list[Column] = [
        (OURS, lambda row: duration(row, OURS)),
        (THEIRS, lambda row: duration(row, THEIRS)),
        ("faster", lambda row: times(row.values.get(SPEED))),
        ("goal", lambda row: bound(row, SPEED)),
        ("", lambda row: coloured(verdict(row, SPEED))),
        *([("of sgemm", share)] if any(SHARE in row.values for row in rows) else []),
    ]
    rest: list[Column] = [
        *((name, lambda row, name=name: beside(row, name)) for name in others),
        ("memory", lambda row: memory(row, OURS)),
        (f"{THEIRS}'s", lambda row: memory(row, THEIRS)),
    ]
    of_main = "faster: torch's time / clearhead's, medians, with the quartiles over the rounds"
    of_rest = "other libraries: their time / clearhead's; memory: the most a call takes at once, with its output"
    whole = table(rows, [*main, *rest], f"{of_main}\n{of_rest}")
    if console.measure(whole, options=console.options.update(max_width=1000)).maximum <= console.width:
        return [whole]
    return [table(rows, main, of_main), table(rows, rest, of_rest)]


def other_tables(rows: Sequence[Row]) -> list[Table]:
    """Goals about values that have no column above."""
    above = {SPEED, SHARE, LARGEST, RMS}
    others = [(row, goal) for row in rows for goal in row.judged if goal.value not in above]
    return [goal_table(others, "other goals: medians, with the quartiles over the rounds")] if others else []


def goal_table(goals: Sequence[tuple[Row, Goal]], caption: str) -> Table:
    """A line for each goal, with what was measured."""
    made = Table(box=box.SIMPLE_HEAD, caption=caption, pad_edge=False, collapse_padding=True)
    for heading, side in (("case", "left"), ("what", "left"), ("measured", "right"), ("goal", "right"), ("", "right")):
        made.add_column(heading, justify=side, no_wrap=True)
    for _, found in groupby(goals, key=lambda pair: pair[0].group):
        made.add_section()
        for row, goal in found:
            measured = times(row.values[goal.value])
            made.add_row(row.name, goal.value, measured, goal.limit, coloured(verdict(row, goal.value)))
    return made


def accuracy_tables(rows: Sequence[Row]) -> list[Table]:
    columns: list[Column] = [("inputs", lambda row: str(row.rounds))]
    for kind in (LARGEST, RMS):
        columns += [
            (kind, lambda row, kind=kind: times(row.values[kind])),
            ("worst", lambda row, kind=kind: f"[dim]{row.figures[f'{kind}, worst ratio']:.2f}[/]"),
        ]
    columns += [("goal", lambda row: f"≤ {bound(row, LARGEST)}"), ("", lambda row: coloured(row.verdict))]
    columns.insert(0, ("against", lambda row: row.against))
    caption = "errors against float64 / those of somebody else: medians, with the quartiles over the inputs"
    return [table(rows, columns, caption)] if rows else []


def table(rows: Sequence[Row], columns: Sequence[Column], caption: str) -> Table:
    """The rows under these columns, one section per group."""
    made = Table(box=box.SIMPLE_HEAD, caption=caption, pad_edge=False, collapse_padding=True)
    made.add_column("case", no_wrap=True)
    for heading, _ in columns:
        made.add_column(heading, justify="right", no_wrap=True)
    for _, found in by_group(rows):
        made.add_section()
        for row in found:
            made.add_row(row.name, *(cell(row) for _, cell in columns))
    return made


# Lines


def line(row: Row) -> str:
    """A row that has just been measured."""
    found = "  ".join(f"{name} {times(value)}" for name, value in row.values.items())
    wanted = ", ".join(str(goal) for goal in row.goals)
    return f"{row.name:<32}{found}  {coloured(row.verdict)}" + (f" [dim]{wanted}[/]" if wanted else "")


def mean_line(mean: Mean) -> str:
    over = f"{mean.rows} rows" if mean.rows == mean.of else f"{mean.rows} of {mean.of} rows"
    found = f"geometric mean over {mean.group} ({over}): {mean.number:.2f}"
    return f"{found}, goal {mean.goal.bound:g}: {coloured(mean.verdict)}"


# Cells


def coloured(verdict: str) -> str:
    return f"[{COLOURS[verdict]}]{verdict}[/]" if verdict else ""


def times(value: Value | None) -> str:
    if value is None:
        return UNKNOWN
    low, high = (decimal(x) for x in (value.low, value.high))
    return f"{decimal(value.number)} [dim]({low}–{high})[/]"


def decimal(x: float) -> str:
    """Two places, and three digits where that is more; a number below 0.1 has two digits."""
    return f"{x:.2g}" if 0 < abs(x) < 0.1 else f"{x:.2f}"


def verdict(row: Row, value: str) -> str:
    """Whether the goals about a value are met, or nothing if there is none."""
    judged = [goal for goal in row.judged if goal.value == value]
    return "" if not judged else "missed" if any(goal in row.missed for goal in judged) else "met"


def bound(row: Row, name: str) -> str:
    return next((f"{goal.bound:g}" for goal in row.goals if goal.value == name), "")


def share(row: Row) -> str:
    """The share of the yardstick's rate, where there was a yardstick."""
    if SHARE not in row.values:
        return ""
    text = f"{row.values[SHARE].number:.0%}"
    return f"[{COLOURS['missed']}]{text}[/]" if any(goal.value == SHARE for goal in row.missed) else text


def duration(row: Row, name: str) -> str:
    return seconds(row.peers[name].seconds.number) if name in row.peers else UNKNOWN


def beside(row: Row, name: str) -> str:
    """How many times as long another library took, coloured if there is a goal for it."""
    if name not in row.peers:
        return UNKNOWN
    text = f"{row.peers[name].seconds.number / row.peers[OURS].seconds.number:.2f}"
    judged = verdict(row, over(name))
    return f"[{COLOURS[judged]}]{text}[/]" if judged else text


def memory(row: Row, name: str) -> str:
    extra = row.peers[name].extra_bytes if name in row.peers else None
    if extra is None:
        return UNKNOWN
    size = extra / 2**20
    return f"{size:,.{0 if size >= 10 else 1}f} MiB"


def seconds(x: float) -> str:
    """Three digits and a unit."""
    number, unit = (x, "s") if x >= 1 else (x * 1e3, "ms") if x >= 1e-3 else (x * 1e6, "µs")
    return f"{number:.{max(0, 3 - len(str(int(number))))}f} {unit}"
