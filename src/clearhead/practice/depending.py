"""What a wrong output depends on, and what it should: one argument of a call is changed, and both answers watched.

A row sum shows a softmax along the wrong axis; that a later word changes an earlier output, or that the mask changes
nothing, shows only when they are changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from clearhead.languages import Said
from clearhead.practice import words
from clearhead.practice.comparing import bare, differing
from clearhead.practice.exercise import Part
from clearhead.practice.probes import Moved, Probe, call_of, named_arguments, probes


class Both(NamedTuple):
    """One output at one probe: what is right, and what came."""

    expected: Any
    got: Any


def dependence(part: Part, probe: Probe, output: str, at: Callable[[Probe], Both | None]) -> Iterator[Said]:
    """What the output depends on and must not, or must and does not; the plainest first.

    at   the output at a probe; None where there is nothing right to compare with, or no time to ask
    """
    still = at(probe)
    arrays = {
        name: value
        for name, value in named_arguments(part, call_of(part, probe)).items()
        if isinstance(value, np.ndarray) and value.dtype.kind in "fb" and value.size > 1
    }
    if still is None:
        return
    for name in arrays:
        moved = at(probe._replace(moved=Moved(name)))
        matters = moved and _changes(part, still.expected, moved.expected).any()
        if moved and matters and not _changes(part, still.got, moved.got).any() and _is_ignored(part, name, at):
            yield words.seen.IGNORED.filled(argument=name)
    letters = part.outputs.get(output, "").split()
    for name, array in arrays.items():
        if array.dtype.kind != "f":
            continue
        for axis, letter in _axes(probe, array.shape, letters):
            for place in (array.shape[axis] - 1, 0):
                moved = at(probe._replace(moved=Moved(name, axis, place)))
                if moved:
                    yield from _along(part, still, moved, letters.index(letter), Moved(name, axis, place), letter)


def _is_ignored(part: Part, name: str, at: Callable[[Probe], Both | None]) -> bool:
    """Whether an argument makes no difference in an ordinary call either: in a special one it may be by chance."""
    probe = probes(part)[0]
    if name not in named_arguments(part, call_of(part, probe)):
        return True
    still, moved = at(probe), at(probe._replace(moved=Moved(name)))
    return still is None or moved is None or not _changes(part, still.got, moved.got).any()


def _axes(probe: Probe, shape: tuple[int, ...], letters: list[str]) -> Iterator[tuple[int, str]]:
    """The axes of an argument that are axes of the output too, known by their sizes, which are all different."""
    sizes = dict(probe.sizes)
    for axis, size in enumerate(shape):
        of_size = [letter for letter, other in sizes.items() if other == size]
        if len(of_size) == 1 and of_size[0] in letters and size > 1:
            yield axis, of_size[0]


def _along(part: Part, still: Both, moved: Both, axis: int, by: Moved, letter: str) -> Iterator[Said]:
    """Places of an axis of the output that changed and should not have, or should have and did not."""
    right, came = (_changes(part, *pair) for pair in zip(still, moved, strict=True))
    if right.shape != came.shape or axis >= right.ndim:
        return
    others = tuple(i for i in range(right.ndim) if i != axis)
    should, does = np.asarray(right.any(axis=others)), np.asarray(came.any(axis=others))
    for wrong, said in ((does & ~should, words.seen.REACHES), (should & ~does, words.seen.MISSES)):
        if wrong.any():
            other = int(np.argmax(wrong))
            yield said.filled(argument=by.argument, letter=letter, place=by.place, other=other)
            return


def _changes(part: Part, before: Any, after: Any) -> np.ndarray:
    """Which numbers of an output changed; all of them, if its shape did."""
    a, b = np.asarray(bare(before)), np.asarray(bare(after))
    return differing(a, b, part.tolerance) if a.shape == b.shape else np.ones(a.shape, bool)
