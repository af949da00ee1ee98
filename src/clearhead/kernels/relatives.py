"""Calls that are made of one before which differs in little, where nothing has to be prepared and packed again.

With a cache every step has a key more than the one before. Of a call without a mask that changes three numbers and how
far apart the keys' heads lie, so such calls are a family: a new one is made of one before in 10 µs, not in 300.

Of a batch with padding the mask is new each time, and of that change only the runs of keys that it leaves to each
query: such calls are kin, and so are their backward passes.
"""

from __future__ import annotations

import array
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from clearhead import masks
from clearhead.call import Call
from clearhead.kernels.description import address_of, steps
from clearhead.kernels.job import Strided
from clearhead.kernels.known_call import AT_HIGH, AT_KEY, AT_LOW, AT_N_K, AT_SPLIT, AT_VALUE, LSE, OUTPUT, Known
from clearhead.kernels.launch import operations, operations_on
from clearhead.kernels.plan import Shape, forward_plan, forward_split, seen_by_the_last, shape_of
from clearhead.kernels.structs import first_word

_SHARING, _AXES = (first_word(Strided, name) for name in ("sharing", "axes"))
MASK = 9  # which part of a key is the mask


class Family(NamedTuple):
    """Calls without a mask that differ only in how many keys there are and in how far apart the keys' heads lie."""

    known: Known  # one of them
    shape: tuple[int, ...]  # the lengths of the leading axes, as the kernel has them
    units: tuple[int, int]  # bytes of what strides of keys and of values are counted in
    per_key: float  # operations for one key


def family_of(key: Any) -> Hashable:
    """What tells families apart; None for a call that has none."""
    q, q_strides, q_kind, k, k_strides, k_kind, v, v_strides, v_kind, mask, scale, softcap, wanted = key
    if mask is not None or wanted not in (OUTPUT, LSE) or min(len(k), len(v)) < 2 or k[-2] != v[-2] or not k[-2]:
        return None
    return (
        q, q_strides, q_kind, k[:-2], k[-1], k_strides[-2:], k_kind, v[:-2], v[-1], v_strides[-2:], v_kind,
        scale, softcap, wanted,
    )  # fmt: skip


def grown(family: Family, key: Any) -> Known | None:
    """One of a family with other keys, unless those would be cut into another number of parts."""
    known, (_, _, _, k, k_strides, _, v, v_strides, *_) = family.known, key
    n_k = k[-2]
    split = forward_split(n_k, known.work.tasks // known.splits)
    if -(-n_k // split) != known.splits:
        return None
    words = known.words[:]
    words[AT_N_K], words[AT_SPLIT] = n_k, split
    for place, shape, strides, unit in zip(
        (AT_KEY, AT_VALUE), (k, v), (k_strides, v_strides), family.units, strict=True
    ):
        apart = tuple([unit * stride for stride in strides[:-2]])
        words[place + _SHARING], axes = steps(tuple(shape[:-2]), apart, family.shape, True)
        words[place + _AXES : place + _AXES + len(axes)] = array.array("q", axes)
    return known._replace(work=known.work.taking(family.per_key * n_k), words=words)


def family_like(key: Any, call: Call, known: Known, shape: tuple[int, ...]) -> Family | None:
    """The family of a call that has one, if the kernel reads its keys and values just as they were given."""
    units = tuple(_unit(x, key[at], key[at + 1]) for x, at in ((call.k, 3), (call.v, 6)))
    return None if 0 in units else Family(known, shape, (units[0], units[1]), operations(call) / call.n_k)


def _unit(x: np.ndarray, shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """How many bytes strides are counted in, those of an array or of a tensor; 0 if neither has that shape and them."""
    if x.shape != tuple(shape):
        return 0
    return next((unit for unit in (1, x.itemsize) if x.strides == tuple([unit * step for step in strides])), 0)


class Kin(NamedTuple):
    """Calls whose masks leave other runs of keys to the queries, and that do not differ otherwise."""

    known: Known  # one of them
    sizes: masks.Sizes  # what masks are told
    shape: Shape

    @classmethod
    def of(cls, call: Call, known: Known) -> Kin | None:
        """Those of a call, if its mask says nothing but runs of keys."""
        return cls(known, call.sizes, shape_of(call)) if known.only_runs else None


def kin_of(key: Any) -> Hashable:
    """What tells kin apart: all but the mask, and of that which kinds it is joined from; None without a mask."""
    mask = key[MASK]
    if mask is None:
        return None
    return (*key[:MASK], *key[MASK + 1 :], *[type(part) for part in masks.parts(mask)])


def with_other_runs(kin: Kin, mask: masks.Mask) -> Known | None:
    """One of them with another mask, unless that says anything but runs or would have it cut otherwise."""
    ranges, allowed, period, _, rule = masks.resolve(mask, kin.sizes)
    if (
        ranges is None
        or allowed is not None
        or period != 1
        or rule is not None
        or not lie_alike(ranges, kin.known.runs)
    ):
        return None
    shape, seen = kin.shape, seen_by_the_last(*ranges)
    if seen != shape.seen and forward_plan(shape._replace(seen=seen)) != forward_plan(shape):
        return None
    work = kin.known.work.taking(operations_on(ranges, shape.batch * shape.heads, shape.d + shape.d_v))
    return kin.known._replace(work=work, words=pointing_to(ranges, kin.known.words), runs=ranges, seen=seen)


def pointing_to(ranges: masks.Ranges, words: array.array[int]) -> array.array[int]:
    """A packed call, with its round before it, that reads these runs."""
    words = words[:]
    words[AT_LOW], words[AT_HIGH] = address_of(ranges.low), address_of(ranges.high)
    return words


def size_of_runs(ranges: masks.Ranges | None) -> int:
    """How many bytes runs of keys take."""
    return 0 if ranges is None else sum(x.nbytes for x in ranges)


def lie_alike(one: masks.Ranges, other: masks.Ranges | None) -> bool:
    """Whether runs lie in memory as others do."""
    return other is not None and all(
        a.shape == b.shape and a.strides == b.strides and a.dtype == b.dtype for a, b in zip(one, other, strict=True)
    )
