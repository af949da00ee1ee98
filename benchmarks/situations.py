"""What else goes on when attention is called: nothing, a product of torch's just before, or everything.

Alone, a call has the machine for itself. In a model it comes right after a product of torch's, whose threads go on
spinning for a while and hold their cores. And on a machine that others use, no core is free at all.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from benchmarks import measure, peers
from benchmarks.machine import cores
from benchmarks.problems import Call, Problem, at, causal_problem, draw
from benchmarks.work import Build, Work

# Ends by itself when whoever started it is gone.
SPINNING = "import os\nwhile os.getppid() == {parent}:\n    for _ in range(100_000): pass"


def after_product(n: int, h: int, *, causal: bool = False, **shape: Any) -> Build:
    """Attention over n positions as a model calls it: on tensors, each time right after a product of torch's."""

    def build(size: float, threads: int) -> Work:
        problem = (causal_problem if causal else draw)(at(size, n), h=h, **shape)
        product = projection(problem)
        return Work(problem, {name: replace(x, before=product) for name, x in on_tensors(problem, threads).items()})

    return build


def tensors(n: int, h: int, *, causal: bool = False, **shape: Any) -> Build:
    """The same without the product."""

    def build(size: float, threads: int) -> Work:
        problem = (causal_problem if causal else draw)(at(size, n), h=h, **shape)
        return Work(problem, on_tensors(problem, threads))

    return build


def on_tensors(problem: Problem, threads: int) -> dict[str, Call]:
    """Ours and torch's, both on torch's tensors."""
    import clearhead.torch as cht

    q, k, v = (peers.tensor(x) for x in (problem.q, problem.k, problem.v))
    ours = Call(lambda: cht.attention(q, k, v, mask=problem.mask), lambda y: y.numpy())
    return {measure.OURS: ours, measure.THEIRS: peers.with_torch(problem, threads)}


def projection(problem: Problem) -> Any:
    """The product that stands before attention in a model: every position (n, h · d) by weights (h · d, h · d)."""
    import torch

    _, h, n, d = problem.q.shape
    x, weights = torch.rand(n, h * d), torch.rand(h * d, h * d)
    return lambda: torch.mm(x, weights)


@contextlib.contextmanager
def busy() -> Iterator[None]:
    """A machine whose cores are all busy with something else: one process spins for each, as long as this lasts."""
    code = SPINNING.format(parent=os.getpid())
    with contextlib.ExitStack() as until_the_end:
        for _ in range(cores()):
            process = until_the_end.enter_context(subprocess.Popen([sys.executable, "-S", "-c", code]))
            until_the_end.callback(process.kill)  # before it is waited for
        yield
