"""What a call costs before it starts: calls with so little to compute, on one thread, that they are nothing else.

Each has been made before with other numbers, as in a model, which calls the same layer again and again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import clearhead as ch
from benchmarks.measure import OURS, THEIRS
from benchmarks.peers import tensor
from benchmarks.problems import Call, Problem, causal_problem, draw
from benchmarks.work import Build, Work
from clearhead import masks

H, N, D = 8, 8, 64


@dataclass(frozen=True)
class Small:
    """The output of a problem, or with `backward` the gradients of queries, keys and values where it gets ones."""

    of: Problem
    backward: bool = False

    @property
    def operations(self) -> float:
        return self.of.operations

    def truth(self, kind: type[np.floating[Any]] = np.float64) -> np.ndarray:
        if not self.backward:
            return self.of.truth(kind)
        import torch

        inputs = [tensor(x.astype(kind)).requires_grad_() for x in (self.of.q, self.of.k, self.of.v)]
        output = torch.softmax(inputs[0] @ inputs[1].mT * D**-0.5, dim=-1) @ inputs[2]
        return joined(torch.autograd.grad(output.sum(), inputs))


def arrays(size: float, threads: int) -> Work:
    """NumPy's arrays."""
    problem = draw(N, h=H, d=D)
    return Work(
        Small(problem), {OURS: Call(partial(ch.attention, problem.q, problem.k, problem.v)), THEIRS: theirs(problem)}
    )


def masked(size: float, threads: int) -> Work:
    """The same with a mask, made anew for each call as one writes it."""
    problem = causal_problem(N, h=H, d=D)
    q, k, v = problem.q, problem.k, problem.v
    ours = Call(lambda: ch.attention(q, k, v, mask=masks.causal()))
    return Work(Small(problem), {OURS: ours, THEIRS: theirs(problem, is_causal=True)})


def tensors(*, gradient: bool) -> Build:
    """torch's tensors, the gradients of which are wanted or not."""

    def build(size: float, threads: int) -> Work:
        import clearhead.torch as cht

        problem = draw(N, h=H, d=D)
        q, k, v = on(problem, gradient)
        ours = Call(lambda: cht.attention(q, k, v), lambda y: y.detach().numpy())
        return Work(Small(problem), {OURS: ours, THEIRS: theirs(problem, gradient)})

    return build


def backward(size: float, threads: int) -> Work:
    """The way back alone, from a forward call that was made once."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    import clearhead.torch as cht

    problem = draw(N, h=H, d=D)

    def call(attend: Callable[..., torch.Tensor]) -> Call:
        inputs = on(problem, True)
        output = attend(*inputs)
        ones = torch.ones_like(output)
        return Call(lambda: torch.autograd.grad(output, inputs, ones, retain_graph=True), joined)

    return Work(Small(problem, True), {OURS: call(cht.attention), THEIRS: call(scaled_dot_product_attention)})


def on(problem: Problem, gradient: bool) -> list[Any]:
    return [tensor(x).requires_grad_(gradient) for x in (problem.q, problem.k, problem.v)]


def theirs(problem: Problem, gradient: bool = False, **options: Any) -> Call:
    from torch.nn.functional import scaled_dot_product_attention

    q, k, v = on(problem, gradient)
    return Call(lambda: scaled_dot_product_attention(q, k, v, **options), lambda y: y.detach().numpy())


def joined(gradients: Any) -> np.ndarray:
    return np.concatenate([x.numpy().ravel() for x in gradients])
