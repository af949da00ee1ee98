"""New calls, drawn and checked for as long as you like: `make sweep ARGS="--calls 5000"`.

The suite draws the same calls every time, and a few new ones. Here all are new: each is attended, looked at and
differentiated, and held to what the textbook says. Calls are drawn in batches, each from a seed of its own. When one
fails, hypothesis looks for the smallest that does; that one is shown as a row of tests/equivalence.py, with the seed
that draws it again.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import traceback
from collections.abc import Callable, Iterator

import hypothesis
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from clearhead.dispatch import attention

from .drawn import rows
from .judge import judge
from .problems import Row, build
from .torch.gradients import check_gradients, torch_can_hold
from .views.truth import check_look

BATCH = 100
SEEDS = 2**32

# Two runs of the same length through the same rounding errors differ by luck; that much is granted to a drawn row.
SLACK = 3.0


def check_call(row: Row) -> None:
    """Fail unless attention, what is seen of it and its gradients are what the textbook says."""
    problem = build(row)
    output, lse = attention(*problem.arrays, **problem.options, return_lse=True)
    judge(problem).check(output, lse, slack=SLACK)
    assert attention(*problem.arrays, **problem.options).tobytes() == output.tobytes(), "lse changed the output"
    check_look(problem, slack=SLACK)
    if torch_can_hold(row):
        check_gradients(problem, slack=SLACK)


def check_batch(seed: int, calls: int, check: Callable[[Row], None] = check_call) -> None:
    """Draw calls and check them. What fails says which seed, and how many calls, draw it again."""

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=calls,
        database=None,
        derandomize=False,
        deadline=None,
        report_multiple_bugs=False,
        print_blob=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
    )
    @hypothesis.given(row=rows())
    def whatever_is_asked(row: Row) -> None:
        check(row)

    try:
        whatever_is_asked()
    except Exception as error:
        error.add_note(f"The same calls are drawn by: make sweep ARGS='--seed {seed} --calls {calls}'")
        raise


def sweep(seed: int, calls: int, right: Callable[[int], None]) -> None:
    """Batch after batch, each from the seed after the last; `right` is told how many calls were right so far."""
    for number, done in enumerate(range(0, calls, BATCH)):
        size = min(BATCH, calls - done)
        found = itertools.count(1)

        def counted(row: Row, done: int = done, size: int = size, found: Iterator[int] = found) -> None:
            check_call(row)
            right(done + min(next(found), size))  # there are more while a smaller call that fails is looked for

        check_batch(seed + number, size, counted)


def main(arguments: list[str] | None = None) -> int:
    """0 if all calls are right, 1 if one is not, 130 if it was stopped."""
    parser = argparse.ArgumentParser(prog="python -m tests.sweep", description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=1000, help="how many to draw (default: %(default)s)")
    parser.add_argument("--seed", type=int, help="draw the calls of an earlier run (default: new ones)")
    asked = parser.parse_args(arguments)
    seed = random.SystemRandom().randrange(SEEDS) if asked.seed is None else asked.seed
    columns = (TextColumn("seed {task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(str(seed), total=asked.calls)
        try:
            sweep(seed, asked.calls, lambda done: progress.update(task, completed=done))
        except (Exception, KeyboardInterrupt) as error:
            progress.stop()
            done = progress.tasks[task].completed
            if isinstance(error, KeyboardInterrupt):
                print(f"stopped: {done:.0f} calls from seed {seed} were right")
                return 130
            traceback.print_exc()
            return 1
    print(f"{asked.calls} calls from seed {seed} are right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
