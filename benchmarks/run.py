"""One run from the first case to the files: progress while it lasts, and everything kept if it is stopped."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from benchmarks import goals, machine, measure, peers, plot, report
from benchmarks.rows import Row, means
from benchmarks.table import MEAN_GOALS, AnyCase, group_sizes, select

__all__ = ["RESULTS", "group_sizes", "run", "select", "show_cases", "show_missed"]

INTERRUPTED = 130  # what a shell expects of a command stopped by Ctrl-C
WIDTH = 150  # where there is no terminal to ask
RESULTS = "bench.json"


def run(cases: Sequence[AnyCase], *, threads: int, quick: bool, out: Path, size: float = 1.0) -> int:
    """Measure the cases, print and write what was found, and return the exit status."""
    console = new_console()
    out.mkdir(parents=True, exist_ok=True)
    peers.set_threads(threads)
    effort = measure.QUICK if quick else measure.Effort()
    settings = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"), "threads": threads, "quick": quick, "size": size,
        "rounds": effort.rounds, "seconds": effort.seconds, "load_before": machine.load(),
    }  # fmt: skip
    if (load := machine.load()) is not None and load > 0.5:
        console.print(f"others are using this machine (load {load}): the figures will suffer", style="yellow")
    cases, absent = goals.missing(cases)
    for what in absent:
        console.print(what, style="yellow", highlight=False)
    rows: list[Row] = []
    interrupted = False
    try:
        measure_all(cases, rows, effort, threads, size, console)
    except KeyboardInterrupt:
        interrupted = True
    finally:  # an error in one case must not cost the others
        found = report.Report(
            machine.describe(), settings, rows, means(rows, MEAN_GOALS, group_sizes()), len(rows) == len(cases)
        )
        finish(found, out, console)
    return INTERRUPTED if interrupted else 0


def measure_all(
    cases: Sequence[AnyCase], rows: list[Row], effort: measure.Effort, threads: int, size: float,
    console: Console,
) -> None:  # fmt: skip
    """Append a row for each case, with a bar that knows which one it is and how much is left."""
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    # Drawn only between turns: a thread that draws ten times a second would be timed with the calls.
    with Progress(*columns, console=console, transient=True, auto_refresh=False, speed_estimate_period=300) as progress:
        task = progress.add_task("", total=len(cases))
        for done, case in enumerate(cases):
            progress.update(task, completed=done, description=f"{case.name:<32}", refresh=True)

            def tick(share: float, done: int = done) -> None:
                progress.update(task, completed=done + share, refresh=True)

            row = case.measure(effort, threads, size, tick)
            rows.append(row)
            progress.console.print(report.line(row), highlight=False)


def finish(found: report.Report, out: Path, console: Console) -> None:
    if not found.rows:
        console.print("nothing was measured", style="yellow")
        return
    report.show(found, console)
    goals.show_missed(found, console)
    report.write_json(found, out / RESULTS)
    plot.write(found, out / "bench.png")
    console.print(f"written: {RESULTS} and bench.png in {out}", highlight=False)


def show_missed(cases: Sequence[AnyCase], out: Path) -> None:
    """Print what the last run missed of these cases."""
    goals.show_last(out / RESULTS, new_console(), [case.name for case in cases])


def show_cases(cases: Sequence[AnyCase]) -> None:
    console = new_console()
    for case in cases:
        wanted = ", ".join(str(goal) for goal in case.goals) or "no goal"
        console.print(f"{case.group:<12}{case.name:<32}against {case.against}: {wanted}", highlight=False)


def new_console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=WIDTH)
