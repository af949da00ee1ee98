"""Goals one by one, with what was measured: those that were missed, and what could not be judged at all.

Whatever there is to say is said of a report, one that has just been made or one that is read from its file again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.report import Report, goal_table
from benchmarks.rows import Goal, Mean, Peer, Row, Value, over
from benchmarks.table import AnyCase

COMPARED = ("onnxruntime", "openvino")  # packages whose absence leaves goals open


def from_json(text: str) -> Report:
    """A report as it was written."""
    found = json.loads(text)
    means = [Mean(x["group"], x["number"], Goal(**x["goal"]), x["rows"], x["of"]) for x in found["geometric_means"]]
    return Report(found["machine"], found["settings"], [_row(x) for x in found["rows"]], means, found["complete"])


def _row(found: dict[str, Any]) -> Row:
    return Row(
        found["name"], found["group"], found["against"],
        {name: Value(**x) for name, x in found["values"].items()},
        tuple(Goal(**x) for x in found["goals"]),
        {name: Peer(Value(**x["seconds"]), x["extra_bytes"]) for name, x in found["peers"].items()},
        found["rounds"], found["figures"],
    )  # fmt: skip


def show_missed(report: Report, console: Console) -> None:
    """Print the goals that were not reached, each with its figure and its spread."""
    missed = [(row, goal) for row in report.rows for goal in row.missed]
    means = [mean for mean in report.means if mean.verdict == "missed"]
    if missed:
        console.print(goal_table(missed, "goals that were missed: medians, with the quartiles over the rounds"))
    for mean in means:
        console.print(f"geometric mean over {mean.group}: {mean.number:.2f}, goal {mean.goal.limit}", highlight=False)
    if not missed and not means:
        judged = sum(len(row.judged) for row in report.rows)
        console.print(f"no goal was missed, of {judged} that were judged")


def show_last(path: Path, console: Console, chosen: Sequence[str]) -> None:
    """Print what the last run missed, among the cases of these names."""
    report = from_json(path.read_text(encoding="utf-8"))
    rows = [row for row in report.rows if row.name in chosen]
    means = [mean for mean in report.means if any(row.group == mean.group for row in rows)]
    kept = replace(report, rows=rows, means=means)
    quick = ", quick: few rounds" if report.settings["quick"] else ""
    rest = "" if report.complete else ", stopped before the last case"
    console.print(f"{len(kept.rows)} cases, measured {report.settings['date']}{quick}{rest}", highlight=False)
    show_missed(kept, console)


def missing(cases: Sequence[AnyCase]) -> tuple[list[AnyCase], list[str]]:
    """The cases that can be measured, and what to say of those that cannot, or only in part."""
    packages = dict.fromkeys(package for case in cases for package in case.needs if find_spec(package) is None)
    said = []
    for package in packages:
        names = ", ".join(case.name for case in cases if package in case.needs)
        said.append(f"{package} is not installed (pip install {package}); skipped: {names}")
    for package in COMPARED:
        names = ", ".join(case.name for case in cases if any(goal.value == over(package) for goal in case.goals))
        if names and find_spec(package) is None:
            said.append(f"{package} is not installed (pip install {package}); not compared with it: {names}")
    return [case for case in cases if not any(package in packages for package in case.needs)], said
