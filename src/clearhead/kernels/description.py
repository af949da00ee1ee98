"""A call as a kernel reads it: its arrays, described by where they lie and how, and packed."""

from __future__ import annotations

import array
import ctypes
import functools
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from clearhead.call import Call
from clearhead.kernels.job import ABSENT, FULL_BIAS, LOG2E, NO_BIAS, RELATIVE_BIAS, Job, Strided
from clearhead.kernels.plan import Plan
from clearhead.kernels.remembering import Remembered
from clearhead.kernels.storage import stored_kind
from clearhead.kernels.structs import AXES, Axes, first_word, pack
from clearhead.kernels.sums import Sums
from clearhead.kernels.target import TARGET, WIDEST

MOST_PACKED = 1024  # jobs that are remembered, of 2 KiB each


class Arrays(NamedTuple):
    """The arrays of a call, as a kernel reads them: the fields of `Job` of the same names."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    output: np.ndarray
    lse: np.ndarray | None
    top: np.ndarray | None
    total: np.ndarray | None
    allowed: np.ndarray | None
    bias: np.ndarray | None  # or the numbers of each distance, from distance 0 on
    low: np.ndarray | None
    high: np.ndarray | None
    sink: np.ndarray | None

    @classmethod
    def of(cls, call: Call, output: np.ndarray, lse: np.ndarray | None, sums: Sums | None) -> Arrays:
        """Those of a call, and room for its output, its lse and its sums."""
        top, total = (None, None) if sums is None else sums
        low, high = (None, None) if call.ranges is None else call.ranges
        bias = call.bias if call.table is None else _by_distance(call.table.astype(call.kind), call.n_k)
        sink = None if call.sinks is None else call.sinks.astype(call.kind)
        return cls(call.q, call.k, call.v, output, lse, top, total, call.allowed, bias, low, high, sink)


def _by_distance(table: np.ndarray, n_k: int) -> np.ndarray:
    """A bias per distance, from distance 0 on; lanes without a query may look past the end."""
    padded = np.zeros((table.shape[0], table.shape[1] + WIDEST * TARGET.vector_bytes), table.dtype)
    padded[:, : table.shape[1]] = table
    return padded[:, n_k - 1 :]


class Description:
    """A call as a kernel reads it. Holds on to every array whose address is in it."""

    def __init__(self, call: Call, plan: Plan) -> None:
        self.call, self.plan = call, plan
        self.shape = (plan.splits, *call.batch_shape, call.kv_heads, plan.group)
        self.axes = Axes((*(1,) * (AXES - len(self.shape)), *self.shape))
        self.alive: list[np.ndarray] = []

    def job(self, output: np.ndarray, lse: np.ndarray | None, sums: Sums | None = None) -> Job:
        """The call, with room for its output, its lse and its sums."""
        return self.job_on(Arrays.of(self.call, output, lse, sums))

    def job_on(self, arrays: Arrays) -> Job:
        """The call, whose arrays these are."""
        call, plan, x = self.call, self.plan, arrays
        bias, form = ABSENT, NO_BIAS
        if x.bias is not None and call.table is not None:
            # query i, key j is at distance i − j: one number on for a row, one back for a column
            bias, form = self.strided(x.bias, x.bias.shape[:-1], x.bias.itemsize, -x.bias.itemsize), RELATIVE_BIAS
        elif x.bias is not None:
            bias, form = self.matrix(x.bias), FULL_BIAS
        return Job(
            query=self.matrix(x.query),
            key=self.matrix(x.key, of_keys=True),
            value=self.matrix(x.value, of_keys=True),
            output=self.matrix(x.output),
            lse=ABSENT if x.lse is None else self.column(x.lse),
            top=ABSENT if x.top is None else self.column(x.top),
            total=ABSENT if x.total is None else self.column(x.total),
            allowed=ABSENT if x.allowed is None else self.matrix(x.allowed),
            bias=bias,
            low=ABSENT if x.low is None else self._range(x.low),
            high=ABSENT if x.high is None else self._range(x.high),
            sink=ABSENT if x.sink is None else self.strided(x.sink, x.sink.shape, 0, 0),
            tasks=plan.tasks,
            panels=plan.panels,
            vectors=plan.vectors,
            width=plan.width,
            heads=plan.heads,
            folded=plan.folded,
            heads_per_task=plan.heads_per_task,
            split=plan.split,
            thin=plan.thin,
            n_q=call.n_q,
            n_k=call.n_k,
            d=call.q.shape[-1],
            d_v=call.d_v,
            ranges=0 if x.low is None else x.low.shape[-2],
            period=call.period,
            phase=call.phase,
            bias_form=form,
            dropping=round(call.dropout * 2**32),
            seed=_signed(call.seed),
            first_query=call.first_query,
            first_key=call.first_key,
            first_head=call.among.first if call.among else 0,
            own_heads=max(call.heads, 1),
            other_heads=call.among.of - call.heads if call.among else 0,
            shape=self.axes,
            scale=call.scale / call.softcap if call.softcap else call.scale * LOG2E,
            true_scale=call.scale,
            softcap=call.softcap,
            keep=1 - call.dropout,
            scratch=plan.scratch,
        )

    def matrix(self, x: np.ndarray, *, of_keys: bool = False) -> Strided:
        """An array of rows and columns, whose axis before them is heads: the queries' heads, or the keys'."""
        return self.strided(x, x.shape[:-2], x.strides[-2], x.strides[-1], of_keys=of_keys)

    def column(self, x: np.ndarray) -> Strided:
        """An array with one number for each row."""
        return self.strided(x, x.shape[:-1], x.strides[-1], 0)

    def strided(self, x: np.ndarray, lead: tuple[int, ...], row: int, column: int, *, of_keys: bool = False) -> Strided:
        """An array with these leading axes, its rows and columns so many bytes apart."""
        self.alive.append(x)
        sharing, axes = steps(lead, x.strides[: len(lead)], self.shape, of_keys)
        return Strided(address_of(x), row, column, stored_kind(x.dtype), sharing, axes)

    def _range(self, x: np.ndarray) -> Strided:
        """An end of each query's runs of keys: (…, runs, n_q)"""
        return self.strided(x, x.shape[:-2], x.strides[-1], x.strides[-2])


@functools.lru_cache(maxsize=1024)
def steps(lead: tuple[int, ...], strides: tuple[int, ...], shape: tuple[int, ...], of_keys: bool) -> tuple[int, Axes]:
    """Bytes from one query head to the next that shares its keys, and along each leading axis.

    The head axis counts as two, key heads and the queries that share one.
    """
    group = shape[-1]
    steps = [stride if size > 1 else 0 for size, stride in zip(lead, strides, strict=True)]
    *batch, head = [0] * (len(shape) - 1 - len(steps)) + steps
    split = (head, 0) if of_keys else (head * group, head)
    return split[1], Axes((*(0,) * (AXES - len(shape)), *batch, *split))


def _place_of_the_address() -> int | None:
    """How many bytes into an array object NumPy keeps the address of its numbers; None if that cannot be told."""
    found = [
        {place for place in range(0, np.ndarray.__basicsize__, 8) if _word_at(id(x) + place) == _slow_address_of(x)}
        for x in (np.zeros(3), np.zeros((2, 5))[1:, ::2], np.zeros(7, np.int8)[3:])
    ]
    places = set.intersection(*found)
    return places.pop() if len(places) == 1 else None


def _word_at(address: int) -> int:
    return ctypes.c_int64.from_address(address).value


def _slow_address_of(x: np.ndarray) -> int:
    address: int = x.__array_interface__["data"][0]
    return address


_ADDRESS = _place_of_the_address()
if _ADDRESS is None:
    address_of = _slow_address_of
else:

    def address_of(x: np.ndarray, *, _word: Any = ctypes.c_int64.from_address, _place: int = _ADDRESS) -> int:
        """Where an array's first number lies: read off the object, in a quarter of the time NumPy takes to say it."""
        address: int = _word(id(x) + _place).value
        return address


_packed: Remembered[array.array[int]] = Remembered(MOST_PACKED)
_PLACES = [first_word(Job, name) for name in Arrays._fields]  # a Strided begins with its address
_SEED, _FIRST_QUERY, _FIRST_KEY, _PHASE = (
    first_word(Job, name) for name in ("seed", "first_query", "first_key", "phase")
)


def packed_job(call: Call, plan: Plan, arrays: Arrays) -> array.array[int]:
    """A job, packed. Where one like it was packed before, only the addresses are new, the seed and the place."""
    like_it = likeness(call, arrays), plan.vectors, plan.folded  # a mask of the same shape may want other panels
    known = _packed.get(like_it)
    if known is None:
        known = pack(Description(call, plan).job_on(arrays))
        _packed.keep(like_it, known)
    packed = known[:]
    fill_in(packed, call, arrays)
    return packed


def likeness(call: Call, arrays: Arrays) -> Hashable:
    """What tells packed jobs apart, but for what `fill_in` fills in."""
    return (
        tuple([None if x is None else (x.shape, x.strides, x.dtype) for x in arrays]),
        call.batch_shape, call.table is None, call.scale, call.softcap, call.dropout, call.period,
        call.among,
    )  # fmt: skip


def fill_in(packed: array.array[int], call: Call, arrays: Arrays) -> None:
    """Make a packed job, or one with more behind it, that of a call on these arrays."""
    for place, x in zip(_PLACES, arrays, strict=True):
        if x is not None:
            packed[place] = address_of(x)
    packed[_SEED], packed[_PHASE] = _signed(call.seed), call.phase
    packed[_FIRST_QUERY], packed[_FIRST_KEY] = call.first_query, call.first_key


def _signed(x: int) -> int:
    return x - 2**64 if x >= 2**63 else x
