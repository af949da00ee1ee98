"""Structs in memory: what a kernel is told, as one block of 8-byte words that it reads by name.

A struct is a NamedTuple of whole numbers, floats, `Axes` and other structs. Python fills one in by keyword and packs
it; a kernel is handed the address, and with `job = view(Job, like, address)` it says `job.n_q` and `job.query.row`
(`struct_types`).
What goes from function to function is then one address, where a NamedTuple would be copied word by word. Any mixture
of types, layouts and options makes the same struct, so a kernel is compiled for float32, for float64, for pairs of
bfloat16 and for nothing else: `job.like` is a number of the type it computes in.

Scratch is described by structs too. Python says how much each part of it needs (`laid_out`), and each thread turns
that into the addresses of its own memory (`addressed`).
"""

from __future__ import annotations

import array
import functools
import itertools
import struct
import typing
from collections.abc import Iterator
from typing import Any

import numpy as np

WORD = 8
CACHE_LINE = 64
AXES = 8  # leading axes that a kernel walks over: parts of the keys, up to five batch axes, key heads, query heads
PAIRS = np.dtype(np.int16)  # what a kernel is compiled for whose products are of pairs of bfloat16


class Axes(tuple[int, ...]):
    """A number for each of the leading axes. A kernel gets the address of the first."""

    __slots__ = ()


@functools.cache
def fields_of(kind: Any) -> dict[str, tuple[int, Any]]:
    """Each field's place, in words from the beginning of the struct, and its type."""
    hints = typing.get_type_hints(kind)
    starts = itertools.accumulate((words_of(field) for field in hints.values()), initial=0)
    return dict(zip(hints, zip(starts, hints.values(), strict=False), strict=True))


@functools.cache
def words_of(kind: Any) -> int:
    """How many words a struct, or a field of this type, takes."""
    if kind in (int, float):
        return 1
    return AXES if kind is Axes else sum(words_of(field) for _, field in fields_of(kind).values())


@functools.cache
def _format(kind: Any) -> struct.Struct:
    def letters(kind: Any) -> str:
        if kind in (int, float):
            return "q" if kind is int else "d"
        return f"{AXES}q" if kind is Axes else "".join(letters(field) for _, field in fields_of(kind).values())

    return struct.Struct("=" + letters(kind))


def pack(value: Any) -> array.array[int]:
    """A struct as words. Whoever hands their address to a kernel holds on to them until it is done."""
    kind: Any = type(value)
    return array.array("q", _format(kind).pack(*_flattener(kind)(value)))


def first_word(kind: Any, name: str) -> int:
    """Which word of a packed struct a field begins with."""
    return fields_of(kind)[name][0]


@functools.cache
def _flattener(kind: Any) -> Any:
    """A function that makes one tuple of a struct and those in it: (v[0][0], v[0][1], …, *v[0][5], …)

    Written out, as a small call would spend a tenth of its time in a loop over the fields.
    """

    def written(kind: Any, name: str) -> Iterator[str]:
        for place, (_, field) in enumerate(fields_of(kind).values()):
            inner = f"{name}[{place}]"
            if field in (int, float, Axes):
                yield f"*{inner}" if field is Axes else inner
            else:
                yield from written(field, inner)

    return eval(f"lambda v: ({', '.join(written(kind, 'v'))},)")


def laid_out(kind: Any, itemsize: int, **numbers: int) -> Any:
    """A struct of scratch: for each part, how many bytes from the beginning it lies; the last field is the `end`.

    The addresses themselves come first (see `addressed`). Every part starts a cache line.
    """
    sizes = (WORD * words_of(kind), *(numbers[name] * itemsize for name in kind._fields[:-1]))
    return kind._make(itertools.accumulate(-(-size // CACHE_LINE) * CACHE_LINE for size in sizes))
