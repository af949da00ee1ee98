"""A bar on the terminal for what takes long, and none where there is no terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextlib.contextmanager
def showing(wanted: bool, steps: Sequence[str]) -> Iterator[Iterator[str]]:
    """The steps, one after the other, shown by their names as they are taken."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not (wanted and console.is_terminal)) as bar:
        task = bar.add_task("", total=len(steps))

        def taken() -> Iterator[str]:
            for step in steps:
                bar.update(task, description=step)
                yield step
                bar.advance(task)

        yield taken()
