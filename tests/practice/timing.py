"""How long a learner waits: `clearhead practice check`, run as a learner runs it, for every exercise.

Each is checked with the right answer, with a mistake that has a name, and with a wrong answer that has none, for which
the grader looks furthest. The command is started anew each time, so imports are counted. Printed are the seconds on
the clock and those of processors, of both processes together, each the median of some rounds:

    python -m tests.practice.timing [--rounds 3] [EXERCISE …]

The exit status is 1 if an answer took longer than LIMIT, on the clock.
"""

from __future__ import annotations

import argparse
import inspect
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from clearhead.practice import exercises
from clearhead.practice.exercise import Exercise

LIMIT = 2.0  # seconds that a learner may wait
WRONG = Path(__file__).parent / "wrong"  # mistakes as a learner writes them, where ours are written otherwise

# Put below a right answer: its first number or text is changed, which is no mistake that has a name.
SPOILED = """

def spoiled(function):
    return lambda *arguments, **keywords: spoil(function(*arguments, **keywords))


def spoil(value):
    if isinstance(value, dict):
        return {name: spoil(item) if name == next(iter(value)) else item for name, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)([spoil(value[0]), *value[1:]])
    if isinstance(value, str):
        return value + "?"
    if getattr(value, "ndim", 0) == 0:
        return not value if isinstance(value, bool) else value + 1
    if "bool" in str(value.dtype):
        value.flat[0] = not value.flat[0]
        return value
    return value**3 + 1
"""


class Spent(NamedTuple):
    """Seconds on the clock, and of processors."""

    clock: float
    processor: float


def right(exercise: Exercise) -> str:
    """A learner's file with our solution."""
    solutions = [inspect.getsource(part.solution) for part in exercise.parts]
    return "\n\n".join(["from __future__ import annotations", exercise.imports, *solutions])


def named(exercise: Exercise) -> str:
    """A learner's file with the first mistake of the exercise."""
    part = exercise.parts[0]
    mistake = part.mistakes[0].name
    written = WRONG / f"{exercise.name}.py"
    if written.exists():
        slips = written.read_text(encoding="utf-8").replace("from __future__ import annotations\n", "")
        return f"{right(exercise)}\n\n{slips}\n\n{part.name} = {mistake}\n"
    ours = f"exercises.load({exercise.name!r}).parts[0].mistakes[0].wrong"
    slip = f"\n\nfrom clearhead.practice import exercises\n\nwrong, ours = {ours}, {part.name}\n\n\n"
    whole = "ours(*arguments, **keywords) | wrong(*arguments, **keywords)"  # of several answers it gives some
    merged = f"def {part.name}(*arguments, **keywords):\n    return {whole}\n"
    return right(exercise) + slip + (merged if not part.outputs else f"{part.name} = wrong\n")


def unnamed(exercise: Exercise) -> str:
    """A learner's file whose numbers are wrong in a way of its own."""
    name = exercise.parts[0].name
    return f"{right(exercise)}{SPOILED}\n\n{name} = spoiled({name})\n"


ANSWERS = {"right": right, "named": named, "unnamed": unnamed}


def spent(name: str, text: str) -> tuple[int, str, Spent]:
    """The status of a check of a file, what it printed, and what it took."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.py"
        file.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "clearhead", "practice", "check", name, "--file", str(file)]
        before, began = _children(), time.perf_counter()
        ran = subprocess.run(
            [*command, "--workspace", folder], capture_output=True, text=True, env=os.environ | {"CLEARHEAD_LANG": "en"}
        )
        return ran.returncode, ran.stdout + ran.stderr, Spent(time.perf_counter() - began, _children() - before)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(name: str, kind: str, rounds: int) -> Spent:
    """The median of some checks of one answer.

    Raises:
        RuntimeError: the check did not say of the answer what it is.
    """
    exercise = exercises.load(name)
    text = ANSWERS[kind](exercise)
    taken = []
    for _ in range(rounds):
        status, told, seconds = spent(name, text)
        if (status, is_named(exercise, told)) != (kind != "right", kind == "named"):
            raise RuntimeError(f"the {kind} answer of {name} got status {status}:\n{told}")
        taken.append(seconds)
    return Spent(*(statistics.median(column) for column in zip(*taken, strict=True)))


def is_named(exercise: Exercise, told: str) -> bool:
    """Whether what is told holds what is said of the first mistake, however its lines are broken."""
    said = "".join(exercise.parts[0].mistakes[0].said.en.split())
    return said in "".join(told.split())


def table(names: list[str], rounds: int) -> Iterator[tuple[str, dict[str, Spent]]]:
    for name in names:
        kinds = [kind for kind in ANSWERS if (name, kind) != ("train_a_copier", "unnamed")]  # all it can get wrong
        yield name, {kind: measured(name, kind, rounds) for kind in kinds}


def main() -> int:
    parser = argparse.ArgumentParser(description="How long `clearhead practice check` takes, for every exercise.")
    parser.add_argument("names", nargs="*", default=exercises.NAMES, metavar="EXERCISE")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(f"{'seconds on the clock (processor)':<32}" + "".join(f"{kind:>16}" for kind in ANSWERS))
    slow = []
    for name, row in table(list(options.names), options.rounds):
        cells = [f"{s.clock:.2f} ({s.processor:.2f})" for s in row.values()]
        print(f"{name:<32}" + "".join(f"{cell:>16}" for cell in cells), flush=True)
        slow += [f"{name} ({kind}: {s.clock:.2f} s)" for kind, s in row.items() if s.clock > LIMIT]
    print(f"above {LIMIT:g} s: {', '.join(slow) or 'none'}; load of the machine {os.getloadavg()[0]:.1f}")
    return bool(slow)


if __name__ == "__main__":
    raise SystemExit(main())
