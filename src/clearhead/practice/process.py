"""A learner's file, checked in a process of its own: whatever it does, this one lives on and can say what happened.

Guarded against accidents, not against attacks. The time limit does not count imports; memory, what is printed and the
process's children are bounded; and everything is judged here, where the learner's code never runs.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from clearhead.files import write_whole
from clearhead.languages import Said
from clearhead.practice import exercises, grading, trying, wire, words
from clearhead.practice.answers import AccidentError, Failure, Outcome
from clearhead.practice.exercise import Exercise, Part
from clearhead.practice.loops import is_stub
from clearhead.practice.probes import Probe
from clearhead.practice.telling import failed
from clearhead.practice.verdict import Verdict

STARTING = 60.0  # seconds for the imports
LOADING = 20.0  # seconds for the learner's file itself
GRACE = 0.5  # seconds to answer where it was, once the limit is over
PRINTED = 1 << 20  # bytes that may be printed
SHOWN = 2000  # bytes of them that are shown
LOADED = 2  # messages of the child before the first answer: that it is ready, and that the file is loaded


def check_file(
    name: str, file: Path, load: Callable[[str], Exercise] = exercises.load, process: Process | None = None
) -> Verdict:
    """The verdict on a learner's file.

    load      gives the exercise of a name. It is asked for when the learner's process has been started, so that both
              processes import at the same time.
    process   one for this file that was begun before, so that nobody waits for its imports now
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        if process is not None:
            process.end()
        why = words.accidents.UNREADABLE.get(type(error).__name__, words.accidents.UNREADABLE[""])
        return Verdict(exercise=load(name), kind="unreadable", said=(why.filled(file=file, error=error.strerror),))
    with process or Process(name, file) as process:
        exercise = load(name)
        source = content.decode("utf-8", errors="replace")
        try:
            for part in exercise.parts:
                if is_stub(source, part.name):
                    break
                trying.trials(part)  # remembered, for when the answers come
            process.start(exercise.seconds)
            verdict = grading.grade(exercise, process.ask, {part.name: source for part in exercise.parts})
        except AccidentError as accident:
            verdict = Verdict(exercise=exercise, kind=accident.kind, said=(accident.said,), trace=accident.trace)
    remarks = process.remarks()
    if not file.exists():
        write_whole(file, content)
        remarks += (words.accidents.PUT_BACK.filled(file=file),)
    shown = next(iter(process.asked), None) if verdict.right else verdict.probe
    return verdict.with_remarks(process.printed(shown), remarks)


class Process:
    """The learner's process, from its beginning to its end: it imports at once, and loads the file when it is told."""

    def __init__(self, name: str, file: Path) -> None:
        self.name, self.file = name, file.resolve()
        self.seconds = self.left = 0.0
        self.threads = 0
        self.asked: list[Probe] = []
        self.accident: AccidentError | None = None  # nothing can be asked after one
        self.begun = False

    def __enter__(self) -> Process:
        if not self.begun:
            self.begin()
        return self

    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="practice-", ignore_cleanup_errors=True)
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self.child = subprocess.Popen(
            [sys.executable, "-m", "clearhead.practice.child", self.name, str(self.file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder.name,  # what its code writes or deletes by a bare name is nobody's
            env=os.environ | one_thread | {"PYTHONPATH": os.pathsep.join(_import_path()), "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
        )
        self.replies = Replies(self.child)
        self.prints = Prints(self.child)
        self.begun = True

    @property
    def lives(self) -> bool:
        return self.begun and self.child.poll() is None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.end()

    def end(self) -> None:
        """End the process and whatever it started; nothing is left open."""
        self._kill()
        self.prints.join()
        for channel in (self.child.stdin, self.child.stdout, self.child.stderr):
            with contextlib.suppress(OSError):
                if channel:
                    channel.close()
        self.folder.cleanup()

    def start(self, seconds: float) -> None:
        """Wait for the imports, and load the learner's file; its answers may then take so many seconds in all."""
        self.seconds = self.left = seconds
        self._reply(STARTING, "start")
        self._send({"load": True})
        report = self._reply(LOADING, "load")
        if "failure" in report:
            failure = wire.failure_of(report["failure"])
            raise AccidentError("loading", failed(words.accidents.LOADING, self.file.name, failure), failure.trace)
        for name in report["missing"]:
            raise AccidentError("missing", words.found.FOUND["missing"].filled(name=name))

    def ask(self, part: Part, probe: Probe) -> Outcome:
        """What the learner's function answers; the time it takes is taken off the check's.

        Raises:
            AccidentError: no answer came, now or at an earlier probe.
        """
        if self.accident is None:
            try:
                return self._ask(part, probe)
            except AccidentError as accident:
                self.accident = accident
        raise self.accident

    def _ask(self, part: Part, probe: Probe) -> Outcome:
        self.asked.append(probe)
        began = time.monotonic()
        self._send({"part": part.name, "probe": wire.packed_probe(probe)})
        reply = self._reply(self.left, "answer")
        self.left -= time.monotonic() - began
        self.threads = reply["threads"]
        came = wire.outcome_of(reply)
        if came.failure and came.failure.name == "TimeLimitError":
            self._stopped("answer", came.failure)
        return came

    def _send(self, message: dict[str, Any]) -> None:
        assert self.child.stdin
        with contextlib.suppress(OSError):  # it has died; the reply says of what
            self.child.stdin.write(wire.line(message))
            self.child.stdin.flush()

    def printed(self, probe: Probe | None = None) -> str:
        """The beginning of what the learner's code printed when it was loaded, and when last asked a probe.

        probe   by default the last one that it was asked
        """
        last = [place for place, asked in enumerate(self.asked, LOADED) if probe in (None, asked)][-1:]
        calls = self.prints.calls()
        printed = b"".join(calls[place] for place in (*range(LOADED), *last) if place < len(calls))
        return printed[:SHOWN].decode("utf-8", errors="replace")

    def remarks(self) -> tuple[Said, ...]:
        return (words.accidents.THREADS,) if self.threads else ()

    def _reply(self, seconds: float, during: str) -> dict[str, Any]:
        reply = self.replies.next(max(seconds, 0.01), self.prints.too_much)
        if reply is None and not self.replies.ended:
            self._interrupt()
            reply = self.replies.next(GRACE)
            failure = wire.failure_of(reply["failure"]) if reply and reply.get("failure") else None
            self._stopped(during, failure)
        if reply is None:
            raise self._death()
        if reply.get("replaced"):
            names = ", ".join(f"`{name.replace('numpy', 'np', 1)}`" for name in reply["replaced"][:3])
            raise AccidentError("replaced", words.accidents.ACCIDENTS["replaced"].filled(names=names))
        return reply

    def _stopped(self, during: str, failure: Failure | None) -> None:
        kind = "printed" if self.prints.too_much.is_set() else "slow_start" if during == "start" else "endless"
        seconds = {"start": STARTING, "load": LOADING}.get(during, self.seconds)
        said = words.accidents.ACCIDENTS[kind].filled(seconds=f"{seconds:g}", megabytes=PRINTED >> 20)
        raise AccidentError(kind, said, failure.trace if failure else ())

    def _death(self) -> AccidentError:
        """What a process that ended without an answer died of."""
        code = self.child.wait()
        if code >= 0:
            return AccidentError("ended", words.accidents.ACCIDENTS["ended"].filled(code=code))
        number = -code
        known = {s.value: s.name for s in signal.Signals}
        kind = {"SIGKILL": "killed", "SIGTERM": "told_to_end", "SIGINT": "told_to_end", "SIGHUP": "told_to_end"}.get(
            known.get(number, ""), "crashed"
        )
        return AccidentError(kind, words.accidents.ACCIDENTS[kind].filled(signal=known.get(number, number)))

    def _interrupt(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            self.child.send_signal(signal.SIGUSR1)

    def _kill(self) -> None:
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self.child.pid, signal.SIGKILL)
            else:
                self.child.kill()
        self.child.wait()


class Replies:
    """The lines that the child sends, read in a thread so that waiting for one can end."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self.child, self.ended = child, False
        self.lines: list[bytes] = []
        self.changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def next(self, seconds: float, stop: threading.Event | None = None) -> dict[str, Any] | None:
        """The next message; None if the time is over, `stop` was set, or the child ended."""
        deadline = time.monotonic() + seconds
        with self.changed:
            while not self.lines and not self.ended and not (stop and stop.is_set()):
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    return None
                self.changed.wait(min(remaining, 0.1))
            return wire.message(self.lines.pop(0)) if self.lines else None

    def _read(self) -> None:
        assert self.child.stdout
        with contextlib.suppress(OSError, ValueError):
            for line in self.child.stdout:
                with self.changed:
                    self.lines.append(line)
                    self.changed.notify()
        with self.changed:
            self.ended = True
            self.changed.notify()


class Prints:
    """What the learner's code prints, call by call: all of it is counted, and kept as long as it is not too much."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self.child, self.count = child, 0
        self.blocks: list[bytes] = []
        self.too_much = threading.Event()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def join(self) -> None:
        self.thread.join(GRACE)

    def calls(self) -> list[bytes]:
        """What was printed before the first message of the child, between it and the second, and so on."""
        return b"".join(self.blocks).split(wire.PRINTS_END)

    def _read(self) -> None:
        assert self.child.stderr
        with contextlib.suppress(OSError, ValueError):
            while block := os.read(self.child.stderr.fileno(), 1 << 16):
                self.count += len(block)
                if self.count > PRINTED:
                    self.too_much.set()
                else:
                    self.blocks.append(block)


def _import_path() -> list[str]:
    """Where this process found its modules, so that the child finds the same clearhead."""
    return [str(Path(entry).resolve()) for entry in sys.path if entry]
