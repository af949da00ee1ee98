"""Wrong answers that no exercise has thought of: the solutions, each with one small random edit.

An edit swaps an axis, a sign or two operands, is off by one, or drops a line. Those that change no answer on valid
input, drawn far beyond the grader's own probes, are no mistakes; of the others the share that the grader catches is
printed, and what it says of them, by

    python -m tests.practice.mutations [--edits 20] [--bare] [EXERCISE …]
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import inspect
import random
import signal
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from clearhead.practice import exercises, grading, trying, words
from clearhead.practice.exercise import Exercise, Part
from clearhead.practice.probes import Probe, other_sizes, probes
from clearhead.practice.verdict import Verdict

SEEDS = range(100, 104)  # not those of the grader's probes
SECONDS = 2.0  # for an edit that loops for ever


class Edit(NamedTuple):
    """A solution with one edit, as a function and as text."""

    function: Callable[..., Any]
    source: str


class Tally(NamedTuple):
    """Edits that change an answer, how many of them were caught, and what was said of those: each is counted once.

    named       the mistake by its name
    described   more than what was found: what the numbers show, what they depend on, where they are right after all
    error       an exception: its words, and the line it came from
    form        another shape, type or number of outputs than was asked for, and no more than that
    bare        that numbers are wrong, with an example, and no more than that
    """

    wrong: int = 0
    caught: int = 0
    named: int = 0
    described: int = 0
    error: int = 0
    form: int = 0
    bare: int = 0
    escaped: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()

    def __add__(self, other: Tally) -> Tally:  # type: ignore[override]
        return Tally(*(a + b for a, b in zip(self, other, strict=True)))


SWAPPED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


def changes(node: ast.AST) -> Iterator[Callable[[Any], None]]:
    """The edits that can be made at a node, each a function that makes it."""
    if isinstance(node, ast.BinOp):
        if type(node.op) in SWAPPED:
            yield lambda n: setattr(n, "op", SWAPPED[type(n.op)]())
        yield swap_operands
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPPED:
        yield lambda n: n.ops.__setitem__(0, SWAPPED[type(n.ops[0])]())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield lambda n: setattr(n, "op", ast.UAdd())
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield lambda n: setattr(n, "value", n.value + 1)
        yield lambda n: setattr(n, "value", n.value - 1)
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield lambda n: setattr(n, "value", not n.value)
    if isinstance(node, ast.Call) and len(node.args) > 1:
        yield lambda n: n.args.__setitem__(slice(0, 2), n.args[1::-1])
    if isinstance(node, ast.Call) and node.keywords:
        yield lambda n: n.keywords.pop()
    body = getattr(node, "body", None)
    if isinstance(body, list) and len(body) > 1:
        for place, statement in enumerate(body):
            if not isinstance(statement, ast.Return) and not _is_docstring(statement):
                yield lambda n, place=place: n.body.pop(place)


def swap_operands(node: ast.BinOp) -> None:
    node.left, node.right = node.right, node.left


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def edits(part: Part) -> Iterator[Edit]:
    """Every edit of a part's solution that Python can read."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(part.solution)))
    for number, node in enumerate(ast.walk(tree)):
        for which, _ in enumerate(changes(node)):
            edited = copy.deepcopy(tree)
            target = next(n for i, n in enumerate(ast.walk(edited)) if i == number)
            list(changes(target))[which](target)
            with contextlib.suppress(SyntaxError):
                yield Edit(compiled(part, edited), ast.unparse(edited))


def compiled(part: Part, tree: ast.Module) -> Callable[..., Any]:
    scope = dict(part.solution.__globals__)
    exec(compile(ast.fix_missing_locations(tree), f"<edited {part.name}>", "exec"), scope)
    return scope[part.name]


def changes_an_answer(part: Part, function: Callable[..., Any]) -> bool:
    """Whether a function is wrong anywhere: on the grader's probes, or on others that it does not know."""
    sizes = [tuple(part.sizes.items()), *(tuple(other.items()) for other in other_sizes(part))]
    beyond = [Probe(size, seed) for size in sizes for seed in SEEDS if size]
    beyond += [
        Probe(further=probe.further, seed=seed) for probe in probes(part) if probe.further is not None for seed in SEEDS
    ]
    for trial in (*trying.trials(part), *filter(None, (trying.trial_of(part, probe) for probe in beyond))):
        if trying.judged(part, trial, trying.theirs(part, function, trial.probe)):
            return True
    return False


def tally(exercise: Exercise, part: Part, count: int, seed: int = 0) -> Tally:
    """What becomes of some random edits of a part."""
    drawn = list(edits(part))
    random.Random(f"{part.name} {seed}").shuffle(drawn)
    total = Tally()
    for edit in drawn[:count]:
        with limited():
            verdict = grading.check(exercise, {part.name: edit.function})
            if verdict.right:
                escaped = changes_an_answer(part, edit.function)
                total += Tally(wrong=escaped, escaped=(edit.source,) * escaped)
            else:
                kind = told(verdict)
                total += Tally(1, 1, unnamed=(f"{kind}\n{edit.source}",) * (kind == "bare"))._replace(**{kind: 1})
    return total


def told(verdict: Verdict) -> str:
    """Which count of a Tally a verdict belongs to: what was said of the answer."""
    if verdict.mistake is not None:
        return "named"
    if verdict.kind == "exception":
        return "error"
    if len(verdict.said) > 1 and verdict.said[1] != words.seen.ONLY_FURTHER:
        return "described"
    return "bare" if verdict.kind in ("values", "nan") else "form"


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """End an endless loop with an exception in it, which is then caught as any other."""

    def stop(*_: object) -> None:
        raise TimeoutError("an edit that never ends")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def main() -> None:
    parser = argparse.ArgumentParser(description="How many random edits of the solutions are caught, and named.")
    parser.add_argument("names", nargs="*", default=exercises.NAMES, metavar="EXERCISE")
    parser.add_argument("--edits", type=int, default=20, help="edits of each function")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bare", action="store_true", help="print the edits of which nothing could be said")
    options = parser.parse_args()
    total = Tally()
    for name in options.names:
        exercise = exercises.load(name)
        for part in exercise.parts:
            found = tally(exercise, part, options.edits, options.seed)
            total += found
            print(f"{part.name:<30} {_shares(found)}", flush=True)
            for source in found.escaped + (found.unnamed if options.bare else ()):
                print(textwrap.indent(source, "    | "))
    print(f"{'all':<30} {_shares(total)}")


def _shares(found: Tally) -> str:
    kinds = ("caught", "named", "described", "error", "form", "bare")
    counts = {kind: getattr(found, kind) for kind in kinds}
    shares = [f"{count:>4} {kind} {count / (found.wrong or 1):>4.0%}" for kind, count in counts.items()]
    return f"{found.wrong:>4} wrong:{','.join(shares)}"


if __name__ == "__main__":
    main()
