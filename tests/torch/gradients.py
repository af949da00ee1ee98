"""What gradients must be: those that torch's autograd finds through plain torch operations.

check_gradients(problem)    # a problem of tests/problems.py, which torch can hold

The output must have the bits of `clearhead.attention`'s. The judge of the gradients is `plain.attention` in float64,
whose own output is held to the textbook on the same row. The bound on an error is the error that the same operations
make in float32 on the same row, or the floor stated at `Judge` where they were luckier than that.

Where something that is not finite is in sight of a query there is no derivative, neither of that query nor of what it
may attend to; `known_gradients` says what is left to compare.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch

from clearhead import biases as numpy_biases, dispatch, masks
from clearhead.tensors import to_numpy, to_torch
from clearhead.textbook.attention import mask_scores
from clearhead.torch import attention, biases

from ..judge import Judge as OutputJudge, half_unit, half_unit_of_weights, judge, root_mean_square, rounds_weights
from ..layouts import LAYOUTS
from ..problems import Expected, Problem, Row
from .forced import in_plain_torch

ORDERS = 4
AS_IT_IS = (slice(None), slice(None))


def torch_can_hold(row: Row) -> bool:
    """Not another machine's byte order, nor what runs backwards in memory."""
    x = LAYOUTS[row.layout](np.zeros((2, 3, 5, 7)))
    return x.dtype.isnative and min(x.strides) >= 0


def check_gradients(problem: Problem, *, slack: float = 1.0, run: Callable[..., Any] = attention) -> None:
    """Fail unless the gradients of all inputs are within the bounds times `slack`.

    run: what computes them. The kernels' output must have the bits of `clearhead.attention`'s, another's is judged.
    """
    call = given(problem)
    output, lse = run(*call.tensors, **call.options, return_lse=True)
    if run is attention:
        has_the_bits_of_attention(problem, output, lse)
    elif not rounded_twice(problem):
        beside_plain_torch(problem).check(to_numpy(output), to_numpy(lse))

    wide = given(problem, torch.float64)
    exact, exact_lse = in_plain_torch(*wide.tensors, **wide.options, return_lse=True)
    answer = problem.textbook(np.dtype(np.float64))
    is_the_textbook(problem, answer, exact)
    clean = clean_queries(problem, answer)
    if not clean.all():
        wide = given(problem, torch.float64, clean=clean)
        exact, exact_lse = in_plain_torch(*wide.tensors, **wide.options, return_lse=True)
    incoming = Incoming.drawn(output, lse)
    judged = Judge(problem, answer, clean, incoming, incoming.back(wide.leaves, exact, exact_lse))
    known = known_gradients(problem, wide.leaves, clean)
    for name, got in incoming.back(call.leaves, output, lse).items():
        judged.check(name, got, known[name], slack)


def beside_plain_torch(problem: Problem) -> OutputJudge:
    """The judge of an output made of torch's products: what those make of it written out counts beside the textbook.

    The order in which they sum a dot product is not that of NumPy's: of 64 numbers in float64 they were seen to make
    1.9e-15 where NumPy's made 0.5e-15.
    """
    judged, plain = judge(problem), []
    for order in range(ORDERS):
        columns = np.random.default_rng(order).permutation(problem.q.shape[-1]) if order else slice(None)
        call = given(problem, None, (columns, slice(None)))
        output, lse = (to_numpy(x.detach()) for x in in_plain_torch(*call.tensors, **call.options, return_lse=True))
        plain.append(judged.plain[0]._replace(output=output, lse=lse))
    return replace(judged, plain=[*judged.plain, *plain])


def rounded_twice(problem: Problem) -> bool:
    """Whether float64 becomes a half type at the end: torch goes by way of float32, the judge of outputs does not."""
    return problem.kind == np.float64 and problem.q.dtype.itemsize < 4


class Given(NamedTuple):
    """A call on tensors, and those of its tensors that have gradients."""

    tensors: list[torch.Tensor]
    options: dict[str, Any]
    leaves: dict[str, torch.Tensor]


def given(
    problem: Problem,
    kind: torch.dtype | None = None,
    order: tuple[Any, Any] = AS_IT_IS,
    clean: np.ndarray | None = None,
) -> Given:
    """The problem on tensors, in its own types or in one type; `order` is that of the columns of d and of d_v.

    clean (…, h, n_q): with it, the queries that are not clean have no key left.
    """

    def leaf(x: Any) -> torch.Tensor:
        tensor = to_torch(x if x.flags.writeable else x.copy())
        return tensor.detach().to(kind or tensor.dtype).requires_grad_()

    leaves = {name: leaf(x) for name, x in zip("qkv", problem.arrays, strict=True)}
    options = {name: x for name, x in problem.options.items() if name not in ("return_lse", "strict")}
    for name in ("mask", "bias", "sinks"):
        x = options.get(name)
        if isinstance(x, numpy_biases.RelativeBias):
            table = leaf(x.table(problem.q.shape[-2], problem.k.shape[-2], *(problem.part or ())))
            leaves["table"], options[name] = table, biases.RelativeBias(lambda _, table=table: table, x.offset)
        elif isinstance(x, (np.ndarray, np.generic, float)):
            x = np.ascontiguousarray(x, np.asarray(x).dtype.newbyteorder("=")).reshape(np.shape(x))
            options[name] = torch.from_numpy(x) if x.dtype == np.bool_ else leaf(x)
            if x.dtype != np.bool_:
                leaves[name] = options[name]
    if clean is not None and not clean.all():
        options["mask"] = _only(options.get("mask"), clean[..., None])
    columns = (order[0], order[0], order[1])
    return Given([leaves[name][..., c] for name, c in zip("qkv", columns, strict=True)], options, leaves)


def _only(mask: Any, clean: np.ndarray) -> Any:
    """A mask that leaves no key to the queries that are not clean: (…, n_q, 1)"""
    if mask is None or isinstance(mask, masks.Mask):
        return masks.array(clean) if mask is None else mask & masks.array(clean)
    flags = torch.from_numpy(clean)
    return mask & flags if mask.dtype == torch.bool else torch.where(flags, mask, -torch.inf)


def clean_queries(problem: Problem, answer: Expected) -> np.ndarray:
    """Which queries see nothing but numbers, or nothing at all: (…, h, n_q)

    A query that is not finite is clean only where it may attend to no key; in sight of some it has no derivative.
    """
    clean = np.isfinite(answer.output).all(axis=-1) & (np.isfinite(answer.lse) | np.isneginf(answer.lse))
    return clean & (np.isfinite(problem.q).all(axis=-1) | ~in_sight(problem).any(axis=-1))


def in_sight(problem: Problem) -> np.ndarray:
    """Which keys each query may attend to: (…, h, n_q, n_k)"""
    options = problem.written_out()
    scores = np.zeros((*problem.lead, problem.q.shape[-2], problem.k.shape[-2]))
    return ~np.isneginf(mask_scores(scores, options.get("mask"), bias=options.get("bias")))


def known_gradients(problem: Problem, leaves: dict[str, torch.Tensor], clean: np.ndarray) -> dict[str, np.ndarray]:
    """Which numbers of each gradient are not reached by a query that is not clean: it reaches the keys in its sight."""
    spoilt = ~clean[..., None]
    reached = spoilt & in_sight(problem)
    of_keys = reached.any(axis=-2)[..., None]
    flags = {"q": spoilt, "k": of_keys, "v": of_keys, "mask": reached, "bias": reached}
    flags["sinks"] = spoilt.any(axis=(-1, -2))
    if "table" in leaves:
        flags["table"] = _distances(reached if problem.lead else reached[None])
    return {name: ~_any(flags[name], tuple(leaf.shape)) for name, leaf in leaves.items()}


def _distances(reached: np.ndarray) -> np.ndarray:
    """Which distances i − j are reached, from the furthest key ahead to the furthest behind: (…, n_q + n_k − 1)"""
    n_q, n_k = reached.shape[-2:]
    there = np.zeros((*reached.shape[:-2], n_q + n_k - 1), np.bool_)
    for i in range(n_q):
        there[..., i : i + n_k] |= reached[..., i, ::-1]
    return there


def _any(flags: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Flags of the scores' leading axes, joined over those that `shape` has not, has only once, or shares in groups."""
    if 0 in shape:
        return np.zeros(shape, np.bool_)
    flags = _joined(flags, shape, np.logical_or)
    return np.broadcast_to(flags if flags.size else np.False_, shape)


def _joined(x: np.ndarray, shape: tuple[int, ...], how: np.ufunc) -> np.ndarray:
    x = how.reduce(x, axis=tuple(range(x.ndim - len(shape))))
    x = x.reshape((1,) * (len(shape) - x.ndim) + x.shape)
    for axis, size in enumerate(shape):
        if size < x.shape[axis]:
            group = x.shape[axis] // size
            x = how.reduce(x.reshape(*x.shape[:axis], size, group, *x.shape[axis + 1 :]), axis=axis + 1)
    return x


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

    The bound is the error of plain torch in float32, as far as that is below 1/1000, or a floor where it is smaller.
    In float64 plain torch is the judge; then the bound is how far it is from itself with its columns in other orders:

        largest 2, root mean square ½, times eps · size · max(1, |lse|, |score| / 4)

    The kernels keep no more of a row than its lse, so its rounding moves all of the row's weights by eps · |lse|; and
    rounding a score s changes its weight by eps · s / 2. `size` is that of the largest gradient, or of the largest
    number that cancels in it: dP for a bias or sinks, times the largest |key| or |query| and the scale for q or k.

    Half precision is rounded at the end, which costs half a unit in the last place. All gradients but that of v are
    made from the output; where that was rounded to a narrower type, of precision e, they may be off by e · size / 2.
    Where weights are rounded to bfloat16 before they are multiplied, so are those that the gradient of v is made of: it
    may be off by as much as an output is that is mixed by them.
    """

    problem: Problem
    answer: Expected
    clean: np.ndarray
    incoming: Incoming
    exact: dict[str, np.ndarray]
    plain: list[dict[str, np.ndarray]] = field(default_factory=list)

    def check(self, name: str, got: np.ndarray, known: np.ndarray, slack: float = 1.0) -> None:
        """Fail unless the errors of a gradient, where it is known, are within the bounds times `slack`."""
        exact, narrow = self.exact[name], got.dtype.itemsize < self.problem.kind.itemsize
        assert got.shape == exact.shape
        granted = 1.001 * half_unit(exact, got.dtype) if narrow else 0.0  # torch rounds float64 to half types twice
        unknown = ~known
        bounds = self._floors(name)
        if slack > 1:  # the root mean square of a few numbers may be their largest
            bounds[1] = max(bounds[1], bounds[0] / max(known.sum(), 1) ** 0.5)
        for order in range(ORDERS):
            error = self._error(got, exact, granted, unknown)
            if _within(error, slack * bounds):
                break
            usual = self._plain(order)[name].astype(np.float64)
            unknown |= ~np.isfinite(usual)  # float32 does not reach so far
            made = np.minimum(_sizes(self._error(usual, exact, granted, unknown)), 1e-3 * _largest(exact))
            bounds = np.maximum(bounds, made)
        error = self._error(got, exact, granted, unknown)
        assert _within(error, slack * bounds), (
            f"gradient of {name}: errors {_sizes(error)}, bounds {slack * bounds} (largest, RMS)"
        )

    def _floors(self, name: str) -> np.ndarray:
        size, kind, output = self._size(name), self.problem.kind, self.incoming.output.dtype
        floors = float(np.finfo(kind).eps) * size * self._steepness * np.array([2, 1 / 2])
        if name != "v" and output.itemsize < kind.itemsize:
            floors += torch.finfo(output).eps * size * np.array([1 / 2, 1 / 8])
        if name == "v" and rounds_weights(self.problem):
            floors += self._of_rounded_weights()
        return floors

    def _of_rounded_weights(self) -> np.ndarray:
        """How far rounding weights moves the gradient of v: at most, and as a root mean square."""
        weights = np.where(np.isfinite(self.answer.weights), self.answer.weights, 0).swapaxes(-1, -2)
        incoming, shape = to_numpy(self.incoming.output).astype(np.float64), self.problem.v.shape
        half = half_unit_of_weights()
        most = _joined(weights @ np.abs(incoming), shape, np.add)
        square = _joined(weights**2 @ incoming**2, shape, np.add) / 3
        return half * np.array([most.max(initial=0), np.sqrt(square.mean() if square.size else 0)])

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
            call = given(self.problem, None, columns, self.clean)
            output, lse = in_plain_torch(*call.tensors, **call.options, return_lse=True)
            self.plain.append(self.incoming.back(call.leaves, output, lse, columns[1]))
        return self.plain[order]

    @staticmethod
    def _error(got: np.ndarray, exact: np.ndarray, granted: Any, unknown: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            error = np.maximum(np.abs(got.astype(np.float64) - exact) - granted, 0)
        return np.where(unknown, 0, error)


def _sizes(error: np.ndarray) -> np.ndarray:
    return np.array([error.max(initial=0), root_mean_square(error) if error.size else 0.0])


def _within(error: np.ndarray, bounds: np.ndarray) -> bool:
    return bool((_sizes(error) <= bounds).all())  # NaN is not


def _largest(x: np.ndarray) -> float:
    return float(np.abs(x[np.isfinite(x)].astype(np.float64)).max(initial=0))


def has_the_bits_of_attention(problem: Problem, output: torch.Tensor, lse: torch.Tensor) -> None:
    expected = dispatch.attention(*problem.arrays, **problem.options | {"return_lse": True, "strict": False})
    for what, got, array in zip(("output", "lse"), (output, lse), expected, strict=True):
        np.testing.assert_array_equal(to_numpy(got).view(np.uint8), array.view(np.uint8), what)


def is_the_textbook(problem: Problem, answer: Expected, output: torch.Tensor) -> None:
    """The judge's own output, within rounding of float64."""
    kept = 1 - problem.options.get("dropout", 0)
    steepness = max(1, answer.largest_score) if answer.largest_score < 1e15 else 1
    atol = 1e-14 * _largest(problem.v) / kept * steepness
    np.testing.assert_allclose(to_numpy(output), answer.output, rtol=1e-12, atol=atol)
