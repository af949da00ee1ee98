"""One run of the backward kernel: what it is told, and the arrays it fills."""

from __future__ import annotations

import array
import functools
import math
from typing import Any, NamedTuple

import numpy as np

from clearhead.call import Call
from clearhead.kernels import backward_job, description, layout
from clearhead.kernels.description import MOST_PACKED, address_of
from clearhead.kernels.job import ABSENT, Strided
from clearhead.kernels.launch import launch_packed, operations
from clearhead.kernels.machine_code import Kernel
from clearhead.kernels.plan import backward_plan, computed_as, shape_of
from clearhead.kernels.remembering import Remembered
from clearhead.kernels.storage import BFLOAT16, stored_kind
from clearhead.kernels.structs import PAIRS, first_word, pack
from clearhead.kernels.sums import Sums
from clearhead.kernels.target import TARGET, WIDEST

BACKWARD = Kernel("clearhead.kernels.backward")
_scratch_for = functools.lru_cache(maxsize=256)(backward_job.scratch_for)


class Arrays(NamedTuple):
    """The arrays of a backward pass beside those of its call: the fields of `Backward` of the same names."""

    gradient: np.ndarray
    delta: np.ndarray | None  # what is added to each query's Δ, if anything is
    d_query: np.ndarray
    d_key: np.ndarray
    d_value: np.ndarray
    d_bias: np.ndarray | None  # as the kernel sees it, from distance 0 on where it is by distance


MORE = 2.5  # times the operations of the forward pass: five products, not two

_packed: Remembered[array.array[int]] = Remembered(MOST_PACKED)
_PLACES = [first_word(backward_job.Backward, name) for name in Arrays._fields]  # a Strided begins with its address
assert first_word(backward_job.Backward, "job") == 0, "a packed pass is filled in as the job it begins with"


class Pass:
    """The backward kernel on one strip of a call, and the arrays it fills."""

    def __init__(
        self,
        call: Call,
        sums: Sums,
        output: np.ndarray,
        gradient: np.ndarray,
        *,
        delta: np.ndarray | None = None,
        of_bias: bool = False,
    ) -> None:
        self.call, kind = call, call.kind
        self.shared = of_bias and call.bias is not None and self._is_shared()
        self.bias_apart = of_bias and call.bias is not None and not self.shared and min(self._bias_shape()[-2:]) > 1
        self.plan = plan = backward_plan(shape_of(call), self.shared)
        self.sums, self.output, self.gradient, self.delta = sums, output, gradient, delta
        lead = (*call.batch_shape, call.kv_heads) if call.has_heads else ()
        shapes = (
            (plan.splits, *(call.lead or (1,)), call.n_q, call.q.shape[-1]),
            (*lead, call.n_k, call.k.shape[-1]),
            (*lead, call.n_k, call.d_v),
        )
        self.d_q, self.d_k, self.d_v = (
            layout.empty(shape, kind, heads_last=len(shape) > 2 and layout.lies_heads_last(x.strides))
            for shape, x in zip(shapes, (call.q, call.k, call.v), strict=True)
        )
        self.d_bias = self._room_for_bias() if of_bias else None

    def run(self) -> None:
        forward, own = self.arrays()
        packed = self.packed(forward, own)  # addresses of arrays that are held here until it is done
        launch_packed(BACKWARD, packed, self.computed_as, self.plan.tasks, self.room, self.operations)

    @property
    def computed_as(self) -> np.dtype[Any]:
        """What the kernel computes in: pairs of bfloat16 only where the gradient comes in that type too."""
        paired = computed_as(self.call) == PAIRS and stored_kind(self.gradient.dtype) == BFLOAT16
        return PAIRS if paired else self.call.kind

    @property
    def room(self) -> int:
        """Bytes of scratch that a thread needs."""
        block, panel = self._scratch
        return self.plan.scratch.end + block.end + self.plan.panels * panel.end

    @property
    def operations(self) -> float:
        return MORE * operations(self.call)

    @property
    def _scratch(self) -> tuple[backward_job.BlockScratch, backward_job.PanelScratch]:
        return _scratch_for(self.call.kind.itemsize, self.plan.width, self.call.q.shape[-1], self.call.d_v)

    def arrays(self) -> tuple[description.Arrays, Arrays]:
        """Those of the call, and those of the pass itself."""
        d_bias = self.d_bias
        if d_bias is not None and self.call.table is not None:
            d_bias = d_bias[..., self.call.n_k - 1 :]
        of_call = description.Arrays.of(self.call, self.output, None, self.sums)
        return of_call, Arrays(self.gradient, self.delta, self.d_q, self.d_k, self.d_v, d_bias)

    def packed(self, of_call: description.Arrays, own: Arrays) -> array.array[int]:
        """What the kernel is told. Where a pass like it was packed before, only addresses, seed and place are new."""
        seen = tuple([None if x is None else (x.shape, x.strides) for x in own])
        like_it = description.likeness(self.call, of_call), seen, self.shared, self.plan.vectors
        known = _packed.get(like_it)
        if known is None:
            known = pack(self._description(of_call, own))
            _packed.keep(like_it, known)
        packed = known[:]
        description.fill_in(packed, self.call, of_call)
        for place, x in zip(_PLACES, own, strict=True):
            if x is not None:
                packed[place] = address_of(x)
        return packed

    def _description(self, of_call: description.Arrays, own: Arrays) -> backward_job.Backward:
        described = description.Description(self.call, self.plan)
        block, panel = self._scratch
        return backward_job.Backward(
            job=described.job_on(of_call),
            gradient=described.matrix(own.gradient),
            delta=ABSENT if own.delta is None else described.column(own.delta),
            d_query=described.matrix(own.d_query),
            d_key=described.matrix(own.d_key, of_keys=True),
            d_value=described.matrix(own.d_value, of_keys=True),
            d_bias=ABSENT if own.d_bias is None else self._strided_bias(described, own.d_bias),
            bias_apart=int(self.bias_apart),
            block=block,
            panel=panel,
            panel_size=panel.end,
        )

    def queries_gradient(self) -> np.ndarray:
        """Summed over the parts of the keys, in order."""
        whole = self.d_q[0] if self.plan.splits == 1 else self.d_q.sum(axis=0)
        return whole if self.call.lead else whole[0]

    def _bias_shape(self) -> tuple[int, ...]:
        """The shape of the bias's gradient: that of the bias as it was given, for this strip's queries."""
        *lead, n_q, n_k = at_least_2d(self.call.bias_shape)
        return (*lead, 1 if n_q == 1 else self.call.n_q, n_k)

    def _is_shared(self) -> bool:
        """Whether several heads add to the same large gradient, so that they must take turns."""
        *lead, n_q, n_k = self._bias_shape()
        return math.prod(lead) < math.prod(self.call.lead) and n_q > 1 and n_k > 1

    def _room_for_bias(self) -> np.ndarray | None:
        """Where dS is added up: no two tasks may add to the same number."""
        call, kind = self.call, self.call.kind
        lead = call.lead or (1,)
        if call.table is not None:
            return np.zeros((self.plan.splits, *lead, call.table.shape[1] + WIDEST * TARGET.vector_bytes), kind)
        if call.bias is None:
            return None
        *own, n_q, n_k = self._bias_shape()
        if self.shared:
            return zeros((*own, n_q, n_k), kind)
        shape = (self.plan.splits if n_k == 1 else 1, *lead, n_q, n_k)
        unmasked = call.ranges is None and call.allowed is None and call.period == 1
        # Then the kernel writes each number. With n = 2048 and 8 heads zeros would take the pass 5 % longer, and 30 %
        # where the system has no large pages.
        return np.empty(shape, kind) if self.bias_apart and unmasked else zeros(shape, kind)

    def _strided_bias(self, described: description.Description, x: np.ndarray) -> Strided:
        if self.call.table is not None:
            return described.strided(x, x.shape[:-1], x.itemsize, -x.itemsize)
        steps = [stride if size > 1 else 0 for size, stride in zip(x.shape[-2:], x.strides[-2:], strict=True)]
        return described.strided(x, x.shape[:-2], steps[0], steps[1])

    def bias_gradient(self) -> np.ndarray:
        """The gradient summed down to the shape of the bias, or of its table of distances."""
        x = self.d_bias
        assert x is not None
        if self.call.table is not None:
            x = x[..., : self.call.table.shape[1]]
            x = x.sum(axis=tuple(range(x.ndim - 2)))
            return x if self.call.table.shape[0] > 1 else x.sum(axis=0, keepdims=True)
        shape = self._bias_shape()
        if x.shape == shape:
            return x
        x = x[0] if len(x) == 1 else x.sum(axis=0)
        return summed(x.reshape(*self.call.lead, *x.shape[-2:]), shape)


def zeros(shape: tuple[int, ...], kind: np.dtype[Any]) -> np.ndarray:
    """An array of zeros that are written, not promised.

    What NumPy promises is mapped in page by page when it is first touched, and by a kernel that goes through it row by
    row from two threads: that took as long as the backward pass itself. What it hands out empty lies in large pages
    where it is large and the system has such pages.
    """
    x = np.empty(shape, kind)
    x.fill(0)
    return x


def at_least_2d(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (1,) * (2 - len(shape)) + shape


def summed(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """x summed over the axes that `shape` has not, or has only once."""
    extra = x.ndim - len(shape)
    if extra:
        x = x.sum(axis=tuple(range(extra)))
    over = tuple(axis for axis, (a, b) in enumerate(zip(x.shape, shape, strict=True)) if a != b)
    return x.sum(axis=over, keepdims=True) if over else x
