"""The learner's folder: a file for each exercise, and how far they have come.

A learner's file is never overwritten. Progress is written whole or not at all; a damaged one is set aside, not thrown
away.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearhead.files import write_whole
from clearhead.languages import Said, spoken
from clearhead.practice import exercises, words
from clearhead.practice.exercise import Exercise
from clearhead.practice.sheet import sheet

FOLDER = Path("practice")
PROGRESS = "progress.json"
VERSION = 1


@dataclass
class Standing:
    """How far the learner is with one exercise."""

    passed: bool = False
    hints: int = 0
    attempts: int = 0


class Workspace:
    """A learner's folder.

    warnings   what there is to say about it: a damaged file that was set aside, progress that could not be written
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.warnings: list[Said] = []
        self.standings = self._read()

    @property
    def is_new(self) -> bool:
        """Whether nobody has practised here yet."""
        return not (self.folder / PROGRESS).exists()

    def file(self, name: str) -> Path:
        """Where the learner writes an exercise."""
        return self.folder / f"{name}.py"

    def lay_down(self, exercise: Exercise) -> Path:
        """The learner's file of an exercise, which is made if it is not there."""
        file = self.file(exercise.name)
        if not file.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(file, sheet(exercise).encode())
        return file

    def standing(self, name: str) -> Standing:
        return self.standings.setdefault(name, Standing())

    def current(self) -> str | None:
        """The first exercise that is not passed, or None when all are."""
        return next((name for name in exercises.NAMES if not self.standing(name).passed), None)

    def following(self, name: str) -> str | None:
        """The next exercise after one that is not passed, or None when all others are."""
        return next(iter(self.waiting(name)), None)

    def waiting(self, name: str) -> list[str]:
        """Every other exercise that is not passed: those further on first, then from the beginning."""
        place = exercises.NAMES.index(name) + 1
        others = exercises.NAMES[place:] + exercises.NAMES[: place - 1]
        return [other for other in others if not self.standing(other).passed]

    def note_attempt(self, name: str, passed: bool) -> None:
        standing = self.standing(name)
        standing.attempts += 1
        standing.passed = standing.passed or passed
        self._keep()

    def next_hint(self, name: str) -> int:
        """How many hints are shown now: one more than the last time, three at most."""
        standing = self.standing(name)
        standing.hints = min(standing.hints + 1, 3)
        self._keep()
        return standing.hints

    def reset(self, exercise: Exercise) -> Path | None:
        """Begin an exercise anew; the copy of what was there, if something was."""
        file, kept = self.file(exercise.name), None
        if file.exists():
            kept = _free(file)
            file.rename(kept)
        self.standings[exercise.name] = Standing()
        self.lay_down(exercise)
        self.save()
        return kept

    def save(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        known = {name: dataclasses.asdict(standing) for name, standing in self.standings.items() if _is_begun(standing)}
        content = {"version": VERSION, "language": spoken(), "exercises": known}
        write_whole(self.folder / PROGRESS, (json.dumps(content, indent=2) + "\n").encode())

    def _keep(self) -> None:
        """Save, for whoever has something better to say than that it failed: that is left in the warnings."""
        try:
            self.save()
        except OSError as error:
            said = words.command.NOT_KEPT.filled(folder=self.folder, error=error.strerror or error)
            self.warnings = [*(warning for warning in self.warnings if warning != said), said]

    def _read(self) -> dict[str, Standing]:
        path = self.folder / PROGRESS
        if not path.exists():
            return {}
        try:
            return _standings(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError, KeyError, AttributeError):
            aside = _free(path)
            path.rename(aside)
            self.warnings.append(words.command.DAMAGED.filled(file=path, aside=aside))
            return {}


def _standings(content: dict[str, Any]) -> dict[str, Standing]:
    """What a progress file says. Exercises that this version does not know are kept.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: the file is not what `save` writes.
    """
    if content["version"] != VERSION:
        raise ValueError(f"version {content['version']}")
    read = {name: Standing(**kept) for name, kept in content["exercises"].items()}
    for standing in read.values():
        if not (type(standing.passed) is bool and type(standing.hints) is type(standing.attempts) is int):
            raise TypeError("a standing holds a truth and two whole numbers")
    return read


def _is_begun(standing: Standing) -> bool:
    return standing != Standing()


def _free(path: Path) -> Path:
    """A name beside a file that is not taken: softmax.old1.py."""
    number = 1
    while (free := path.with_name(f"{path.stem}.old{number}{path.suffix}")).exists():
        number += 1
    return free
