"""How a training goes, while it goes: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from clearhead.translate import words
from clearhead.translate.report import percent

if TYPE_CHECKING:
    from clearhead.translate.training import Moment, Trainer


class Bar:
    """Loss, held-out exact match and the time left, on one line that stays in its place.

    Where there is no terminal a line is printed at every look at the held-out pairs instead.
    """

    def __init__(self, trainer: Trainer, console: Console) -> None:
        self.console = console
        self.progress = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            TextColumn(words.BAR["loss"]() + " {task.fields[loss]}"),
            TextColumn(words.BAR["held out"]() + " {task.fields[exact]}"),
            TimeElapsedColumn(), TextColumn(words.BAR["left"]()), TimeRemainingColumn(),
            console=console, transient=True, disable=not console.is_terminal,
        )  # fmt: skip
        self.task = self.progress.add_task(
            words.BAR["task"](task=words.task_name(trainer.task)),
            total=trainer.settings.steps, completed=trainer.step, loss="–", exact="–",
        )  # fmt: skip

    def __enter__(self) -> Bar:
        self.progress.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.progress.__exit__(kind, error, traceback)

    def stepped(self, trainer: Trainer, loss: float) -> None:
        self.progress.update(self.task, completed=trainer.step, loss=f"{loss:.3f}")

    def looked(self, trainer: Trainer, moment: Moment) -> None:
        self.progress.update(self.task, exact=percent(moment.exact))
        if not self.console.is_terminal:
            left = trainer.seconds / trainer.step * (trainer.settings.steps - trainer.step)
            line = words.STEP_LINE(
                step=moment.step,
                steps=trainer.settings.steps,
                loss=moment.loss,
                exact=percent(moment.exact),
                seconds=trainer.seconds,
                left=left,
            )
            self.console.print(line, highlight=False)
