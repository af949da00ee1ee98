"""`clearhead practice watch`: the exercise is checked again whenever its file is saved, and keys do the rest.

Nothing moves on without the learner's word. Without a terminal there are no keys, and Ctrl-C ends it. While nothing is
checked, the process for the next check stands ready with its imports done.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clearhead import advice
from clearhead.languages import RefusedError
from clearhead.practice import words
from clearhead.practice.command import load
from clearhead.practice.exercise import Exercise
from clearhead.practice.process import Process, check_file
from clearhead.practice.reports import Report
from clearhead.practice.workspace import Workspace

DEBOUNCE = 200  # milliseconds: editors save in several steps
RIGHT, WRONG = 0, 1


class Watch:
    """One watching: the exercise that is looked at, and whether it is right."""

    def __init__(self, workspace: Workspace, report: Report, exercise: Exercise) -> None:
        self.workspace, self.report, self.exercise = workspace, report, exercise
        self.right = False
        self.asking = False  # whether a reset waits for a yes
        self.stop = threading.Event()
        self.busy = threading.RLock()  # a key and a saved file may come at once
        self.ready: Process | None = None  # for the next check

    def run(self) -> int:
        watch = _watchfiles()
        with contextlib.suppress(KeyboardInterrupt):
            self.workspace.lay_down(self.exercise)
            with keys(self.press) as listening:
                if not listening:
                    self.report.say(words.command.NO_KEYS)
                try:
                    self._follow(watch)
                finally:
                    self.dismiss()
        self.report.say(words.command.GOODBYE)
        return RIGHT if self.right else WRONG

    def _follow(self, watch: Any) -> None:
        """Check once, and then whenever the exercise's file is saved, until a key says stop."""
        timing = {"debounce": DEBOUNCE, "step": 50, "rust_timeout": DEBOUNCE, "yield_on_timeout": True}
        first = True  # changes are noticed from now on, so that nothing saved during the first check is missed
        for changes in watch(self.workspace.folder, stop_event=self.stop, recursive=False, **timing):
            if first or any(Path(path).name == f"{self.exercise.name}.py" for _, path in changes):
                self.check()
            first = False

    def check(self) -> None:
        with self.busy:
            self.report.console.rule(self.exercise.name)
            verdict = check_file(self.exercise.name, self.workspace.file(self.exercise.name), load, self._taken())
            if verdict.kind != "unwritten":
                self.workspace.note_attempt(self.exercise.name, verdict.right)
            self.right = verdict.right
            self.report.watched(verdict)
            self._prepare()
            self._prompt()

    def _prepare(self) -> None:
        """Begin the process of the next check, so that its imports are done when the file is saved."""
        self.dismiss()
        process = Process(self.exercise.name, self.workspace.file(self.exercise.name))
        process.begin()
        self.ready = process

    def _taken(self) -> Process | None:
        """The process that stands ready; none if it has ended meanwhile, or there is none yet."""
        taken, self.ready = self.ready, None
        if taken is not None and not taken.lives:
            taken.end()
            return None
        return taken

    def dismiss(self) -> None:
        """End the process that stands ready, if one does."""
        if self.ready is not None:
            self.ready.end()
            self.ready = None

    def press(self, key: str) -> None:
        """What a key does; others are answered with those there are. What cannot be done is said, and keys live on."""
        with self.busy:
            try:
                self._do(key)
            except RefusedError as refused:
                self.report.say(refused.said)
                self._prompt()
            except OSError as error:
                self.report.say(words.command.CANNOT.filled(error=error))
                self._prompt()

    def _do(self, key: str) -> None:
        if self.asking:
            self.asking = False
            if key in ("y", "ㅛ"):
                self.report.was_reset(self.exercise, self.workspace.reset(self.exercise))
            else:
                self.report.say(words.command.NOT_RESET)
            self._prompt()
            return
        action = {name: getattr(self, f"_{name}") for name in ACTIONS}.get(KEYS.get(key.lower(), ""))
        if action is None:
            self._prompt()
        else:
            action()

    def _next(self) -> None:
        """Go on to the next exercise; one that needs what is not installed is passed over, and that is said."""
        waiting = self.workspace.waiting(self.exercise.name)
        if not waiting:
            self.report.all_done()
            return
        for name in waiting:
            try:
                exercise = load(name)
            except RefusedError as refused:
                self.report.say(refused.said)
                continue
            self.workspace.lay_down(exercise)
            self.exercise, self.right = exercise, False
            self.report.console.rule(name)
            self.report.introduce(exercise, commands=False)
            self._prepare()
            break
        self._prompt()

    def _hint(self) -> None:
        self.report.hints(self.exercise, self.workspace.next_hint(self.exercise.name), commands=False)
        self._prompt()

    def _list(self) -> None:
        self.report.list_all(self.exercise.name)
        self._prompt()

    def _reset(self) -> None:
        self.asking = True
        self.report.say(words.command.RESET_SURE.filled(name=self.exercise.name))

    def _quit(self) -> None:
        self.stop.set()

    def _prompt(self) -> None:
        self.report.warn()
        self.report.say(words.command.KEYS_WHEN_RIGHT if self.right else words.command.KEYS, style="dim")


ACTIONS = ("next", "hint", "list", "reset", "quit")
# A keyboard that is set to Hangul sends the letter on the same key.
KEYS = dict(zip("nhlrq", ACTIONS, strict=True)) | dict(zip("ㅜㅗㅣㄱㅂ", ACTIONS, strict=True))


@contextlib.contextmanager
def keys(press: Any) -> Iterator[bool]:
    """Hand every key that is pressed on, one by one, until the end; False if there is no terminal to press them in."""
    if not _is_terminal():
        yield False
        return
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    ended, wake = os.pipe()
    tty.setcbreak(terminal)
    thread = threading.Thread(target=_listen, args=(terminal, ended, press), daemon=True)
    thread.start()
    try:
        yield True
    finally:
        os.write(wake, b".")
        thread.join()
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
        os.close(ended)
        os.close(wake)


def _is_terminal() -> bool:
    """Whether keys can be read one by one here: a terminal, on a system that has termios."""
    return importlib.util.find_spec("termios") is not None and sys.stdin is not None and sys.stdin.isatty()


def _listen(terminal: int, ended: int, press: Any) -> None:
    import codecs
    import select

    decoder = codecs.getincrementaldecoder("utf-8")(errors="ignore")
    while True:
        ready, _, _ = select.select([terminal, ended], [], [])
        if ended in ready:
            return
        pressed = os.read(terminal, 64)
        if not pressed:  # the terminal has gone
            return
        for key in decoder.decode(pressed):
            press(key)


def _watchfiles() -> Any:
    try:
        from watchfiles import watch
    except ModuleNotFoundError as error:
        raise RefusedError(words.command.NEEDS_WATCHFILES.filled(command=advice.install("practice"))) from error
    return watch
