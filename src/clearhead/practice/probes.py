"""The calls that an answer is tried with, named so that any process can draw the same one.

A probe is a name, not the arguments: those may be functions or models, and are drawn anew from the name wherever they
are needed, in the grader's process and in the learner's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from clearhead.practice.exercise import Call, Part

DRAWS = 4  # at the sizes an exercise begins with
OTHER_DRAWS = 2  # at each of the other sizes


class Moved(NamedTuple):
    """One array of a call with other numbers: everywhere, or at one place of one axis."""

    argument: str
    axis: int | None = None
    place: int = 0


class Probe(NamedTuple):
    """A call by name: drawn for sizes with a seed, or the i-th of the further ones; its numbers maybe rounded.

    sizes     ((letter, size), …), as the part orders them
    further   which of `part.further`, or None for a drawn one
    digits    how many digits after the point its arrays of floats keep, or None for all
    moved     what is changed afterwards, to see what depends on it
    """

    sizes: tuple[tuple[str, int], ...] = ()
    seed: int = 0
    further: int | None = None
    digits: int | None = None
    moved: Moved | None = None


def call_of(part: Part, probe: Probe) -> Call:
    """The call of a probe, the same one each time."""
    rng = np.random.default_rng(probe.seed)
    further = probe.further
    call = part.draw(rng, dict(probe.sizes)) if further is None else list(part.further(rng))[further]
    call = call if probe.digits is None else _rounded(call, probe.digits)
    return call if probe.moved is None else _changed(part, call, probe.moved)


def probes(part: Part) -> list[Probe]:
    """Every probe of a part: at its sizes, at other sizes, and the further calls."""
    sizes = tuple(part.sizes.items())
    drawn = [Probe(sizes, seed) for seed in range(DRAWS if sizes else 1)]
    drawn += [Probe(tuple(other.items()), seed) for other in other_sizes(part) for seed in range(OTHER_DRAWS)]
    return drawn + [Probe(further=i) for i, _ in enumerate(part.further(np.random.default_rng(0)))]


def other_sizes(part: Part) -> Iterator[Mapping[str, int]]:
    """The same sizes given to other letters, and a place further round, where that respects the smallest ones.

    Some draws cannot take them, as where a width must be even; whoever uses them asks the solution first.
    """
    names, values = list(part.sizes), list(part.sizes.values())
    seen = [values]
    for turned in (values[::-1], values[1:] + values[:1]):
        other = dict(zip(names, turned, strict=True))
        if turned not in seen and all(size >= part.smallest.get(name, 1) for name, size in other.items()):
            seen.append(turned)
            yield other


def named_arguments(part: Part, call: Call) -> dict[str, Any]:
    """The arguments of a call by their names."""
    return {**dict(zip(part.signature.parameters, call.arguments, strict=False)), **call.keywords}


def _changed(part: Part, call: Call, moved: Moved) -> Call:
    """The call with other numbers in one of its arrays: floats are moved by amounts of their own, truths turned."""
    array = np.array(named_arguments(part, call)[moved.argument])
    where = (slice(None),) * (moved.axis or 0) + (() if moved.axis is None else (moved.place,))
    chosen = array[where]
    array[where] = ~chosen if array.dtype == bool else chosen + 1 + np.cos(np.arange(chosen.size)).reshape(chosen.shape)
    if moved.argument in call.keywords:
        return call._replace(keywords={**call.keywords, moved.argument: array})
    place = [*part.signature.parameters].index(moved.argument)
    return call._replace(arguments=(*call.arguments[:place], array, *call.arguments[place + 1 :]))


def _rounded(call: Call, digits: int) -> Call:
    return Call(
        tuple(_round(value, digits) for value in call.arguments),
        {name: _round(value, digits) for name, value in call.keywords.items()},
    )


def _round(value: Any, digits: int) -> Any:
    """Arrays of floats, alone or in tuples, lists and dicts; a single number, as eps is, stays itself."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.ndim:
        return np.round(value, digits) + 0.0  # no -0.0
    if type(value) in (tuple, list):
        return type(value)(_round(item, digits) for item in value)
    if type(value) is dict:
        return {name: _round(item, digits) for name, item in value.items()}
    return value
