"""What the command prints: an exercise introduced, a verdict, hints, the list, how far one is."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from clearhead import advice
from clearhead.languages import Said
from clearhead.practice import exercises, showing, words
from clearhead.practice.exercise import Exercise
from clearhead.practice.verdict import Verdict
from clearhead.practice.workspace import FOLDER, Workspace

NARROW, WIDE = 40, 100  # columns: text is easier to read in lines of moderate length
VERBATIM, QUESTION = "    ", r"\d+\. "  # how the lines of a task begin that are formulas and shapes, or questions


class Report:
    """Prints to standard output, with colour if that is a terminal."""

    def __init__(self, workspace: Workspace, console: Any = None) -> None:
        from rich.console import Console

        self.workspace = workspace
        self.console = console or Console(highlight=False, soft_wrap=False)
        self.console.width = max(NARROW, min(self.console.width, WIDE))

    def say(self, said: Said, style: str = "") -> None:
        self.console.print(said(), style=style, markup=False)

    def warn(self) -> None:
        """What there is to say about the workspace, once."""
        while self.workspace.warnings:
            self.say(self.workspace.warnings.pop(0), style="yellow")

    def introduce(self, exercise: Exercise, *, commands: bool = True) -> None:
        """The task, its file, and what to type next."""
        place = exercises.NAMES.index(exercise.name) + 1
        self.console.print(f"{place}/{len(exercises.NAMES)} {exercise.name} · {exercise.title()}", style="bold")
        self.console.print()
        for line in filled(exercise.task(), self.console.width):
            self.console.print(line, markup=False, soft_wrap=True)
        self.console.print()
        said = words.command.WHAT_TO_DO if commands else words.command.WRITE_THERE
        said = said.filled(file=self.workspace.file(exercise.name))
        self._commands(said, exercise, ("check", "watch", "hint") if commands else ())

    def watched(self, verdict: Verdict) -> None:
        """A verdict where keys say what can be done next."""
        showing.show(verdict, self.console)

    def verdict(self, verdict: Verdict) -> None:
        showing.show(verdict, self.console)
        name = verdict.exercise.name
        if verdict.kind == "unreadable":
            return
        if not verdict.right:
            self._commands(words.command.WHEN_WRONG, verdict.exercise, ("hint",))
        elif self.workspace.following(name) is None:
            self.all_done()
        else:
            self._commands(words.command.WHEN_RIGHT, verdict.exercise, ("solution", ""))

    def hints(self, exercise: Exercise, count: int, *, commands: bool = True) -> None:
        for number, hint in enumerate(exercise.hints[:count], 1):
            self.console.print(words.command.HINT(number=number, total=len(exercise.hints)), style="bold")
            self._indented(hint(), 2)
        if commands and count < len(exercise.hints):
            self._commands(words.command.MORE_HINTS, exercise, ("hint",))

    def solution(self, exercise: Exercise) -> None:
        """Every line whole: wrapped in a terminal, and as it was written where it is piped."""
        from rich.syntax import Syntax

        for part in exercise.parts:
            code = inspect.getsource(part.solution)
            if self.console.is_terminal:
                self.console.print(Syntax(code, "python", background_color="default", word_wrap=True))
            else:
                self.console.print(code, markup=False, soft_wrap=True)

    def was_reset(self, exercise: Exercise, kept: Path | None) -> None:
        file = self.workspace.file(exercise.name)
        self.say(words.command.RESET.filled(file=file))
        if kept:
            self.say(words.command.KEPT.filled(file=kept))

    def list_all(self, current: str | None = None) -> None:
        """Every exercise, with an arrow at the current one: by default the first that is not passed."""
        from rich.table import Table

        current = current or self.workspace.current()
        table = Table(box=None, show_header=False, pad_edge=False)
        for place, name in enumerate(exercises.NAMES, 1):
            mark = "✓" if self.workspace.standing(name).passed else "→" if name == current else " "
            style = {"✓": "green", "→": "bold"}.get(mark, "")
            table.add_row(mark, f"{place:>2}", name, _title(name), style=style)
        self.console.print(table)
        self._how_far()

    def progress(self, names: Sequence[str]) -> Iterator[str]:
        """The names one by one, with a bar in a terminal."""
        from rich.progress import track

        yield from track(names, description=words.command.CHECKING(), console=self.console, transient=True)

    def summary(self, verdicts: Sequence[Verdict]) -> None:
        """A line for each exercise, with the first sentence of what is not right."""
        for verdict in verdicts:
            mark = showing.mark(verdict)
            self.console.print(f"{mark} {verdict.exercise.name}", style=showing.COLOURS[mark])
            if mark == showing.WRONG:
                self._indented(verdict.said[0](), 4)
        self._how_far()

    def all_done(self) -> None:
        self.say(words.command.ALL_DONE.filled(total=len(exercises.NAMES)), style="bold green")

    def _indented(self, text: str, columns: int) -> None:
        """Text whose every line begins so many columns in."""
        from rich.padding import Padding
        from rich.text import Text

        self.console.print(Padding(Text(text), (0, 0, 0, columns), expand=False))

    def _how_far(self) -> None:
        passed = sum(self.workspace.standing(name).passed for name in exercises.NAMES)
        self.console.print()
        self.say(words.command.HOW_FAR.filled(passed=passed, total=len(exercises.NAMES)))

    def _commands(self, said: Said, exercise: Exercise, actions: Sequence[str]) -> None:
        """What can be typed next, a line each; where it is narrow, what that does in another."""
        from rich.cells import cell_len

        self.say(said)
        where = "" if self.workspace.folder == FOLDER else f" --workspace {shlex.quote(str(self.workspace.folder))}"
        lines = [f"{advice.program()} practice{f' {a} {exercise.name}' if a else ''}{where}" for a in actions]
        longest = max(map(len, lines), default=0)
        beside = all(4 + longest + cell_len(words.command.DOES[a]()) <= self.console.width for a in actions)
        for line, action in zip(lines, actions, strict=True):
            between = " " * (longest - len(line) + 2) if beside else "\n      "
            self.console.print(f"  {line}{between}{words.command.DOES[action]()}", markup=False, soft_wrap=True)


def filled(text: str, width: int) -> Iterator[str]:
    """A task in lines of a width: its paragraphs and numbered questions are filled anew, what is indented stays."""
    paragraph: list[str] = []
    for line in text.split("\n"):
        is_verbatim = line.startswith(VERBATIM) or not line
        if is_verbatim or re.match(QUESTION, line):
            yield from _fill(paragraph, width)
            paragraph = []
        if is_verbatim:
            yield line
        else:
            paragraph.append(line)
    yield from _fill(paragraph, width)


def _fill(paragraph: list[str], width: int) -> Iterator[str]:
    """The words of some lines in lines of a width; those of a question hang below its first word."""
    from rich.cells import cell_len

    number = re.match(QUESTION, paragraph[0]) if paragraph else None
    line = ""
    for word in " ".join(paragraph).split():
        longer = f"{line} {word}" if line else word
        if line.strip() and cell_len(longer) > width:
            yield line
            longer = " " * (len(number[0]) if number else 0) + word
        line = longer
    if line:
        yield line


def _title(name: str) -> str:
    """The title of an exercise; one that needs what is not installed is listed all the same."""
    try:
        return exercises.load(name).title()
    except ModuleNotFoundError:
        return ""
