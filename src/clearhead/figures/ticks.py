"""Which positions of an axis get a label, how large, and turned how far, so that no two labels ever touch.

Every label is shown if it can be; then labels are made smaller, keys are turned; and when even that is not enough
every 2nd, 5th, 10th … is shown, now with its position, since a word alone would no longer say where it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clearhead.figures.lettering import largest, text_size, token_label

SIZES = (10.0, 9.0, 8.0, 7.0, 6.5)  # points; below the last, thinning reads better than shrinking
LEAST_LEVEL = 8.0  # a word that must be smaller than this to lie level is turned instead
THINNED_SIZE = 8.0
AIR = 1.12  # distance of neighbours, in label heights
THINNED_AIR = 2.2  # the same once most labels are left out anyway
EDGE = 0.02  # inches that a thinned label may stand out past the end of its map
SLANT = 0.7071  # sin 45° = cos 45°


@dataclass(frozen=True)
class Ticks:
    """Labels of one axis; `reach` is how far they stretch away from it, `overhang` how far past its start."""

    positions: list[int]
    labels: list[str]
    size: float
    rotation: int
    reach: float
    overhang: float = 0.0
    thinned: bool = False


def query_ticks(
    tokens: Sequence[object] | None, n: int, length: float, *, most: float = SIZES[0], start: int = 0
) -> Ticks:
    """Labels beside n rows that share `length` inches, at most `most` points large. The first is position `start`."""
    pitch = length / n
    sizes = _sizes(most, n, length)
    labels = _labels(tokens, range(n), start) if sizes else []
    for size in sizes:
        width, height = largest(labels, size)
        if height * AIR <= pitch:
            return Ticks(list(range(n)), labels, size, 0, width)
    return _thinned(tokens, n, length, min(THINNED_SIZE, most), start, stacked=True)


def key_ticks(tokens: Sequence[object] | None, n: int, length: float, *, slanted: bool, start: int = 0) -> Ticks:
    """Labels below n columns that share `length` inches: level, else slanted if that is wanted, else upright."""
    pitch = length / n
    sizes = _sizes(SIZES[0], n, length)
    labels = _labels(tokens, range(n), start) if sizes else []
    measured = [(size, *largest(labels, size)) for size in sizes]
    for size, width, height in measured:
        if width + 0.3 * height <= pitch and size >= LEAST_LEVEL:
            return Ticks(list(range(n)), labels, size, 0, height)
    for size, width, height in measured if tokens is not None else ():
        if slanted and height * AIR <= pitch * SLANT:
            past = max(text_size(text, size)[0] * SLANT - (i + 0.5) * pitch for i, text in enumerate(labels))
            return Ticks(list(range(n)), labels, size, 45, (width + height) * SLANT, max(0.0, past))
        if height * AIR <= pitch:
            return Ticks(list(range(n)), labels, size, 90, width)
    return _thinned(tokens, n, length, THINNED_SIZE, start, stacked=False)


def _thinned(
    tokens: Sequence[object] | None, n: int, length: float, size: float, start: int, *, stacked: bool
) -> Ticks:
    """Every 2nd, 5th, 10th … label: stacked beside rows, level below columns, or upright if they are words."""
    pitch = length / n
    upright = not stacked and tokens is not None
    for step in _steps(_line(size) / pitch):
        positions = list(range(0, n, step))
        labels = _labels(tokens, range(0, n, step), start)
        width, height = largest(labels, size)
        along = height if stacked or upright else width
        wanted = height * THINNED_AIR if stacked or upright else width + height
        if wanted <= step * pitch:
            break
    if len(positions) > 1 and (positions[-1] + 0.5) * pitch + along / 2 > length + EDGE:
        positions, labels = positions[:-1], labels[:-1]  # it would reach into the next map
    reach = width if stacked or upright else height
    return Ticks(positions, labels, size, 90 if upright else 0, reach, thinned=True)


def _labels(tokens: Sequence[object] | None, shown: range, start: int) -> list[str]:
    if tokens is None:
        return [str(i + start) for i in shown]
    if shown.step == 1:
        return [token_label(tokens[i]) for i in shown]
    return [f"{i + start}: {token_label(tokens[i])}" for i in shown]


def _line(size: float) -> float:
    return text_size("", size)[1]


def _sizes(most: float, n: int, length: float) -> list[float]:
    """The sizes to try for n labels along `length`: hopeless ones would mean measuring thousands of labels."""
    return [size for size in SIZES if size <= most and n * _line(size) <= length]


def _steps(least: float) -> list[int]:
    """2, 5, 10, 20, 50 … from the first above `least`."""
    steps = [digit * 10**power for power in range(9) for digit in (1, 2, 5)]
    return [step for step in steps if step > max(least, 1)]
