"""Gradients on the rows of the equivalence table, judged by torch's autograd through plain torch operations.

The output must have the bits of `clearhead.attention`'s. The judge of the gradients is `fallback.chunked` in float64,
whose own output is held to the textbook on the same row. The bound on an error is the error that the same operations
make in float32 on the same row, or the floor stated at `Judge` where they were luckier than that.

Left out are rows in a layout that torch cannot hold: another machine's byte order, or running backwards. Where
something that is not finite is in sight there is no derivative, and only the output is compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from clearhead import biases as numpy_biases, dispatch
from clearhead.tensors import to_numpy, to_torch
from clearhead.torch import attention, biases

from ..equivalence import ROWS
from ..judge import _half_unit, _root_mean_square
from ..layouts import LAYOUTS
from ..problems import Answer, Problem, Row, build
from .forced import in_chunks

ORDERS = 4
AS_IT_IS = (slice(None), slice(None))


def torch_can_hold(layout: str) -> bool:
    x = LAYOUTS[layout](np.zeros((2, 3, 5, 7)))
    return x.dtype.isnative and min(x.strides) >= 0


HELD = [row for row in ROWS if torch_can_hold(row.layout)]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """For the judge: on small tensors torch's threads wait for one another most of the time."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Given(NamedTuple):
    """A call on tensors, and those of its tensors that have gradients."""

    tensors: list[torch.Tensor]
    options: dict[str, Any]
    leaves: dict[str, torch.Tensor]


def given(problem: Problem, kind: torch.dtype | None = None, order: tuple[Any, Any] = AS_IT_IS) -> Given:
    """The problem on tensors, in its own types or in one type; `order` is that of the columns of d and of d_v."""

    def leaf(x: Any) -> torch.Tensor:
        tensor = to_torch(x if x.flags.writeable else x.copy())
        return tensor.detach().to(kind or tensor.dtype).requires_grad_()

    leaves = {name: leaf(x) for name, x in zip("qkv", problem.arrays, strict=True)}
    options = {name: x for name, x in problem.options.items() if name not in ("return_lse", "strict")}
    for name in ("mask", "bias", "sinks"):
        x = options.get(name)
        if isinstance(x, numpy_biases.RelativeBias):
            table = leaf(x.table(problem.q.shape[-2], problem.k.shape[-2]))
            leaves["table"], options[name] = table, biases.RelativeBias(lambda _, table=table: table, x.offset)
        elif isinstance(x, (np.ndarray, np.generic, float)):
            x = np.ascontiguousarray(x, np.asarray(x).dtype.newbyteorder("=")).reshape(np.shape(x))
            options[name] = torch.from_numpy(x) if x.dtype == np.bool_ else leaf(x)
            if x.dtype != np.bool_:
                leaves[name] = options[name]
    columns = (order[0], order[0], order[1])
    return Given([leaves[name][..., c] for name, c in zip("qkv", columns, strict=True)], options, leaves)


@dataclass
class Incoming:
    """Gradients of an output and of its lse, where that is not −inf."""

    output: torch.Tensor
    lse: torch.Tensor

    @classmethod
    def drawn(cls, output: torch.Tensor, lse: torch.Tensor) -> Incoming:
        generator = torch.Generator().manual_seed(7)
        drawn = (torch.randn(x.shape, generator=generator, dtype=torch.float64).to(x.dtype) for x in (output, lse))
        return cls(*drawn)

    def back(
        self, leaves: dict[str, torch.Tensor], output: torch.Tensor, lse: torch.Tensor, columns: Any = slice(None)
    ) -> dict[str, np.ndarray]:
        """The gradients of the leaves."""
        loss = (output * self.output[..., columns].to(output.dtype)).sum()
        loss = loss + (torch.where(torch.isneginf(lse), 0, lse) * self.lse.to(lse.dtype)).sum()
        found = torch.autograd.grad(loss, list(leaves.values()), materialize_grads=True, allow_unused=True)
        return dict(zip(leaves, map(to_numpy, found), strict=True))


@dataclass
class Judge:
    """Compares gradients with those of plain torch in float64.

    The bound is the error of plain torch in float32, as far as that is below 1/1000, or a floor where it is smaller:

        largest 2, root mean square ½, times eps · size · max(1, |lse|, |score| / 4)

    The kernels keep no more of a row than its lse, so its rounding moves all of the row's weights by eps · |lse|; and
    rounding a score s changes its weight by eps · s / 2. `size` is that of the largest gradient, or of the largest
    number that cancels in it: dP for a bias or sinks, times the largest |key| or |query| and the scale for q or k.

    Half precision is rounded at the end, which costs half a unit in the last place. All gradients but that of v are
    made from the output; where that was rounded to a narrower type, of precision e, they may be off by e · size / 2.
    """

    problem: Problem
    answer: Answer
    incoming: Incoming
    exact: dict[str, np.ndarray]
    plain: list[dict[str, np.ndarray]] = field(default_factory=list)

    def check(self, name: str, got: np.ndarray) -> None:
        exact, narrow = self.exact[name], got.dtype.itemsize < self.problem.kind.itemsize
        assert got.shape == exact.shape
        granted = 1.001 * _half_unit(exact, got.dtype) if narrow else 0.0  # torch rounds float64 to half types twice
        overflown = np.zeros(got.shape, np.bool_)
        bounds = self._floors(name)
        for order in range(ORDERS):
            error = self._error(got, exact, granted, overflown)
            if _within(error, bounds) or self.problem.kind == np.float64:
                break
            usual = self._plain(order)[name].astype(np.float64)
            overflown |= ~np.isfinite(usual)
            made = np.minimum(_sizes(self._error(usual, exact, granted, overflown)), 1e-3 * _largest(exact))
            bounds = np.maximum(bounds, made)
        error = self._error(got, exact, granted, overflown)
        assert _within(error, bounds), f"gradient of {name}: errors {_sizes(error)}, bounds {bounds} (largest, RMS)"

    def _floors(self, name: str) -> np.ndarray:
        size, kind, output = self._size(name), self.problem.kind, self.incoming.output.dtype
        floors = float(np.finfo(kind).eps) * size * self._steepness * np.array([2, 1 / 2])
        if name != "v" and output.itemsize < kind.itemsize:
            floors += torch.finfo(output).eps * size * np.array([1 / 2, 1 / 8])
        return floors

    def _size(self, name: str) -> float:
        scale = self.problem.options.get("scale")
        scale = self.problem.q.shape[-1] ** -0.5 if scale is None else abs(scale)
        times = {"q": scale * _largest(self.problem.k), "k": scale * _largest(self.problem.q), "v": 0.0}.get(name, 1.0)
        return max(_largest(self.exact[name]), times * self._before_cancelling)

    @cached_property
    def _before_cancelling(self) -> float:
        v = np.where(np.isfinite(self.problem.v), self.problem.v.astype(np.float64), 0)
        if v.ndim > 2 and self.problem.lead and v.shape[-3] not in (1, self.problem.lead[-1]):
            v = v.repeat(self.problem.lead[-1] // v.shape[-3], axis=-3)
        of_weights = to_numpy(self.incoming.output).astype(np.float64) @ v.swapaxes(-1, -2)
        return _largest(of_weights) / (1 - self.problem.options.get("dropout", 0)) + _largest(
            to_numpy(self.incoming.lse)
        )

    @cached_property
    def _steepness(self) -> float:
        top = max(_largest(self.answer.lse), self.answer.largest_score / 4)
        return max(1.0, top if top < 1 / float(np.finfo(self.problem.kind).eps) else 0.0)  # beyond, none is told apart

    def _plain(self, order: int) -> dict[str, np.ndarray]:
        """What plain torch makes of it in the problem's own types. How lucky it is depends on the order of its sums."""
        if order == len(self.plain):
            rng = np.random.default_rng(order)
            columns = [rng.permutation(x.shape[-1]) for x in (self.problem.q, self.problem.v)] if order else AS_IT_IS
            call = given(self.problem, None, columns)
            output, lse = in_chunks(*call.tensors, **call.options, return_lse=True)
            self.plain.append(self.incoming.back(call.leaves, output, lse, columns[1]))
        return self.plain[order]

    @staticmethod
    def _error(got: np.ndarray, exact: np.ndarray, granted: Any, overflown: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            error = np.maximum(np.abs(got.astype(np.float64) - exact) - granted, 0)
        return np.where(overflown, 0, error)  # float32 does not reach so far


def _sizes(error: np.ndarray) -> np.ndarray:
    return np.array([error.max(initial=0), _root_mean_square(error) if error.size else 0.0])


def _within(error: np.ndarray, bounds: np.ndarray) -> bool:
    return bool((_sizes(error) <= bounds).all())  # NaN is not


def _largest(x: np.ndarray) -> float:
    return float(np.abs(x[np.isfinite(x)].astype(np.float64)).max(initial=0))


@pytest.mark.parametrize("row", HELD, ids=str)
def test_gradients_are_those_of_plain_torch(row: Row):
    problem = build(row)
    call = given(problem)
    output, lse = attention(*call.tensors, **call.options, return_lse=True)
    has_the_bits_of_attention(problem, output, lse)

    wide = given(problem, torch.float64)
    exact, exact_lse = in_chunks(*wide.tensors, **wide.options, return_lse=True)
    answer = problem.textbook(np.dtype(np.float64))
    is_the_textbook(problem, answer, exact)
    if not np.isfinite(answer.output).all():
        return
    incoming = Incoming.drawn(output, lse)
    judge = Judge(problem, answer, incoming, incoming.back(wide.leaves, exact, exact_lse))
    for name, got in incoming.back(call.leaves, output, lse).items():
        judge.check(name, got)


def has_the_bits_of_attention(problem: Problem, output: torch.Tensor, lse: torch.Tensor) -> None:
    expected = dispatch.attention(*problem.arrays, **problem.options | {"return_lse": True, "strict": False})
    for what, got, array in zip(("output", "lse"), (output, lse), expected, strict=True):
        np.testing.assert_array_equal(to_numpy(got).view(np.uint8), array.view(np.uint8), what)


def is_the_textbook(problem: Problem, answer: Answer, output: torch.Tensor) -> None:
    """The judge's own output, within rounding of float64."""
    kept = 1 - problem.options.get("dropout", 0)
    steepness = max(1, answer.largest_score) if answer.largest_score < 1e15 else 1
    atol = 1e-14 * _largest(problem.v) / kept * steepness
    np.testing.assert_allclose(to_numpy(output), answer.output, rtol=1e-12, atol=atol)


class TestTheTable:
    """The rules that leave rows out leave enough of them in."""

    def test_only_what_torch_cannot_hold_is_left_out(self):
        left_out = {row.layout for row in ROWS if row not in HELD}
        assert left_out == {"rows backwards", "columns backwards", "all backwards", "big-endian"}

    def test_every_kind_of_input_has_a_gradient(self):
        leaves = [set(given(build(row)).leaves) for row in HELD if row.options]
        assert set().union(*leaves) == {"q", "k", "v", "mask", "bias", "table", "sinks"}
