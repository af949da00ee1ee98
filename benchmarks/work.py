"""What a timed case does: one problem, and the calls that solve it, built from a size and a number of threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from benchmarks import gradients, looking, measure, peers, problems
from benchmarks.problems import Call, Problem, at, causal_problem, draw
from clearhead import masks


class Solvable(Protocol):
    """What a timed case is about: how much work it is, and what should come out."""

    @property
    def operations(self) -> float: ...

    def truth(self, kind: type[np.floating[Any]] = ...) -> np.ndarray: ...


@dataclass(frozen=True)
class Work:
    problem: Solvable
    calls: dict[str, Call]


Build = Callable[[float, int], Work]  # from size and threads


def work(problem: Problem, threads: int) -> Work:
    return Work(problem, peers.calls(problem, threads))


def plain(n: int, n_k: int | None = None, **shape: Any) -> Build:
    """Attention over n positions, their own or others."""
    return lambda size, threads: work(draw(at(size, n), None if n_k is None else at(size, n_k), **shape), threads)


def dense(n: int, h: int, d: int) -> Build:
    """Self-attention, with the rate of a matrix product measured beside it."""

    def build(size: float, threads: int) -> Work:
        found = work(draw(at(size, n), h=h, d=d), threads)
        return Work(found.problem, found.calls | {measure.YARDSTICK: peers.sgemm(at(size, 2048))})

    return build


def causal(n: int, h: int = 8, **shape: Any) -> Build:
    return lambda size, threads: work(causal_problem(at(size, n), h=h, **shape), threads)


def window(n: int, width: int, h: int) -> Build:
    return lambda size, threads: work(problems.window_problem(at(size, n), at(size, width), h), threads)


def padded(size: float, threads: int) -> Work:
    return work(problems.padded_problem(size), threads)


def packed(size: float, threads: int) -> Work:
    """The same sequences, laid end to end for those who can tell them apart, and padded for the others."""
    beside = problems.padded_problem(size)
    real = problems.lengths(size)

    def pack(x: np.ndarray) -> np.ndarray:  # (b, h, n, d) → (1, h, all positions, d)
        return np.concatenate([x[i, :, :length] for i, length in enumerate(real)], axis=1)[None]

    def repacked(call: Call) -> Call:
        return replace(call, read=lambda y: pack(call.read(y)))

    mask = masks.documents(boundaries=np.concatenate([[0], np.cumsum(real)]))
    joined = Problem(*(pack(x) for x in (beside.q, beside.k, beside.v)), mask=mask)
    calls = {name: repacked(call) for name, call in peers.calls(beside, threads).items()}
    return Work(joined, calls | {measure.OURS: peers.with_clearhead(joined, threads)})


def decode(dtype: str, h: int = 32, h_kv: int = 8) -> Build:
    """One new token over a cache; unless said, 32 query heads share 8 key/value heads."""
    return lambda size, threads: work(draw(1, at(size, 4096), h=h, h_kv=h_kv, dtype=dtype), threads)


def dropped(n: int, rate: float) -> Build:
    return lambda size, threads: work(replace(draw(at(size, n)), dropout=rate), threads)


def biased(n: int) -> Build:
    return lambda size, threads: work(problems.biased_problem(at(size, n)), threads)


def alibi(n: int) -> Build:
    return lambda size, threads: work(problems.alibi_problem(at(size, n)), threads)


def backward(
    n: int, h: int = 8, *, causal: bool = False, bias: bool = False, dropout: float = 0.0, **shape: Any
) -> Build:
    """Forward and backward over n positions."""

    def build(size: float, threads: int) -> Work:
        length = at(size, n)
        if bias:
            problem = problems.biased_problem(length, h, causal=causal, **shape)
        else:
            problem = (causal_problem if causal else draw)(length, h=h, **shape)
        asked = gradients.Gradients(replace(problem, dropout=dropout))
        return Work(asked, gradients.calls(asked) | {measure.YARDSTICK: peers.sgemm(at(size, 2048))})

    return build


def look(n: int, h: int = 8, *, causal: bool = False, others: bool = True) -> Build:
    """Looking at n positions: the statistics of every head, and a map of 512 × 512 cells."""

    def build(size: float, threads: int) -> Work:
        problem = (causal_problem if causal else draw)(at(size, n), h=h)
        asked = looking.Looking(problem, at(size, 512))
        return Work(asked, looking.calls(asked, threads, alone=others))

    return build


def tile(n: int, side: int, *, tiles: bool = False) -> Build:
    """A tile of 256 × 256 pixels of a window, of one head's map; with `tiles` one of those that a page asks for."""

    def build(size: float, threads: int) -> Work:
        asked = looking.Tile(draw(at(size, n), h=1), at(size, side), at(size, looking.PIXELS), tiles)
        return Work(asked, looking.tile_calls(asked))

    return build


def training(n: int, b: int) -> Build:
    """A step of a small GPT over b texts of n words; one training goes on from call to call for each library."""

    def build(size: float, threads: int) -> Work:
        from benchmarks.training import ATTENTION, FirstStep, Shape, Training

        shape = Shape(n=at(size, n), b=b)
        return Work(FirstStep(shape), {name: Call(Training(shape, f).step) for name, f in ATTENTION.items()})

    return build


def model(kind: str, n: int, *, new: int = 0) -> Build:
    """A whole model of transformers over n words, or from them on by so many `new` ones."""

    def build(size: float, threads: int) -> Work:
        from benchmarks import models

        asked = models.Forward(models.made(kind, size), at(size, n), new if size >= 1 else min(new, 3))
        return Work(asked, models.calls(asked))

    return build


def trace(n: int, *, layers: int, heads: int = 8, looked: bool, others: bool = False) -> Build:
    """A Llama over n words, traced; with `looked` the view of every layer is made too."""

    def build(size: float, threads: int) -> Work:
        from benchmarks import models, tracing

        asked = tracing.Traced(models.Forward(models.made("Llama", size, layers, heads), at(size, n)), looked)
        return Work(asked, tracing.calls(asked, others=others))

    return build
