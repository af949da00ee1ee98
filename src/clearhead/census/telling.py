"""How far a census is, while it is taken: a bar in a terminal, and elsewhere a line now and then."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from clearhead.census import words

if TYPE_CHECKING:
    from clearhead.census.taking import Step

EVERY = 10.0  # seconds between two lines, where there is no terminal
UNKNOWN = "–"


class Teller:
    """Called with each step. Rates count from the first row that came, as models take a while to be loaded."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.began: tuple[float, Step] | None = None
        self.last = float("-inf")
        self.bar: Progress | None = None
        self.stopped = False
        self.task = TaskID(0)

    def __enter__(self) -> Teller:
        if self.console.is_terminal:
            self.bar = Progress(BarColumn(), TextColumn("{task.description}"), console=self.console, transient=True)
            self.bar.start()
            self.task = self.bar.add_task(words.LOOKING(), total=None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def stop(self, why: str) -> None:
        """Say why no more will be told, once."""
        if self.stopped:
            return
        self.stopped = True
        if self.bar is not None:
            self.bar.stop()
        self.console.print(why, highlight=False, soft_wrap=True)

    def __call__(self, step: Step) -> None:
        now = time.monotonic()
        if step.left_out and not step.new_documents:
            left_out = words.LEFT_OUT(count=len(step.left_out), example=step.left_out[0])
            self.console.print(left_out, highlight=False, soft_wrap=True, markup=False)
        line = self._line(step, now)
        if self.bar is not None:
            self.bar.update(self.task, description=line, completed=step.documents, total=step.of)
        elif now - self.last >= EVERY or step.documents == step.of:
            self.console.print(line, highlight=False, soft_wrap=True)
            self.last = now

    def _line(self, step: Step, now: float) -> str:
        if self.began is None or not step.new_documents:
            if not step.new_documents and step.documents < step.of:
                return words.STARTING(done=step.documents, documents=words.counted("documents", step.of))
            if step.new_documents:
                self.began = now, step
            return _progress(step, 0.0, UNKNOWN)
        rate, left = rates(step, *self.began, now)
        return _progress(step, rate, clock(left))


def _progress(step: Step, rate: float, left: str) -> str:
    documents = words.counted("documents", step.of)
    return words.PROGRESS(done=step.documents, documents=documents, rate=rate, left=left)


def rates(step: Step, then: float, first: Step, now: float) -> tuple[float, float]:
    """Tokens a second since the first row, and the seconds that are left at its documents a second."""
    seconds = max(now - then, 1e-9)
    documents = step.new_documents - first.new_documents
    left = (step.of - step.documents) * seconds / documents if documents else float("inf")
    return (step.new_tokens - first.new_tokens) / seconds, left


def clock(seconds: float) -> str:
    """Seconds as 1:02:03, or 2:03."""
    if seconds == float("inf"):
        return UNKNOWN
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
