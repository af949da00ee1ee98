"""Which positions of an axis get a label, how large, and turned how far, so that no two labels ever touch.

Every label is shown if it can be; then labels are made smaller, keys are turned; and when even that is not enough
every 2nd, 5th, 10th … is shown, now with its position, since a word alone would no longer say where it stands. A single
syllable or letter is never turned: it takes no less room lying down, and reads worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from clearhead.figures.lettering import largest, text_size, token_label
from clearhead.text.clusters import clusters

SIZES = (10.0, 9.0, 8.0, 7.0, 6.5)  # points; below the last, thinning reads better than shrinking
LEAST_LEVEL = 8.0  # a word that must be smaller than this to lie level is turned instead
THINNED_SIZE = 8.0
AIR = 1.12  # distance of neighbours, in label heights
THINNED_AIR = 2.2  # the same once most labels are left out anyway
EDGE = 0.02  # inches that a thinned label may stand out past the end of its map
SLANT = 0.7071  # sin 45° = cos 45°
CLEAR = 1.75  # a line's own height, and half of the slanted one's across it: 1 + 1 / √2, and some air
LINE_SPACING = 1.2  # matplotlib's


@dataclass(frozen=True)
class Ticks:
    """Labels of one axis; `reach` is how far they stretch away from it, `overhang` how far past its start.

    All are turned by `rotation` degrees but those that are `level`.
    """

    positions: list[int]
    labels: list[str]
    size: float
    rotation: int
    reach: float
    overhang: float = 0.0
    thinned: bool = False
    level: list[bool] = field(init=False)

    def __post_init__(self) -> None:
        level = [not self.rotation or is_single(label.rpartition("\n")[2]) for label in self.labels]
        object.__setattr__(self, "level", level)


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
    single = [text for text in labels if is_single(text)]
    measured = [(size, *largest(labels, size)) for size in sizes]
    for size, width, height in measured:
        if width + 0.3 * height <= pitch and (size >= LEAST_LEVEL or len(single) == n):
            return Ticks(list(range(n)), labels, size, 0, height)
    for size, width, height in measured if tokens is not None and len(single) < n else ():
        level, _ = largest(single, size)
        below = level / 2 + CLEAR * height if single else 0.0  # where the next label, slanted, passes under a level one
        if slanted and max(height * AIR / SLANT, below) <= pitch:
            past = max(text_size(text, size)[0] * SLANT - (i + 0.5) * pitch for i, text in enumerate(labels))
            return Ticks(list(range(n)), labels, size, 45, (width + height) * SLANT, max(0.0, past))
        if height * AIR <= pitch and level + 0.1 * height <= pitch:
            return Ticks(list(range(n)), labels, size, 90, max(width, height))
    return _thinned(tokens, n, length, THINNED_SIZE, start, stacked=False)


def is_single(label: str) -> bool:
    """Whether a label is one syllable, one letter, one sign."""
    return sum(1 for _ in clusters(label)) == 1


def _thinned(
    tokens: Sequence[object] | None, n: int, length: float, size: float, start: int, *, stacked: bool
) -> Ticks:
    """Every 2nd, 5th, 10th … label: beside rows one above the other, below columns upright if they are words."""
    pitch = length / n
    for step in _steps(_line(size) / pitch):
        positions = list(range(0, n, step))
        labels = _labels(tokens, range(0, n, step), start, two_lines=not stacked)
        level = [text for text in labels if tokens is None or "\n" in text]
        turned = [text for text in labels if not stacked and text not in level]
        width, height = largest([part for text in level for part in text.split("\n")] or labels, size)
        wanted = height * THINNED_AIR if stacked or turned else 0.0
        if level and not stacked:
            wanted = max(wanted, width + height)
        if wanted <= step * pitch:
            break
    along = width if level and not stacked else height
    if len(positions) > 1 and (positions[-1] + 0.5) * pitch + along / 2 > length + EDGE:
        positions, labels = positions[:-1], labels[:-1]  # it would reach into the next map
    reach = largest(turned or labels, size)[0] if stacked or turned else 0.0
    if level and not stacked:
        reach = max(reach, height * (1 + LINE_SPACING * ("\n" in level[0])))
    return Ticks(positions, labels, size, 90 if turned else 0, reach, thinned=True)


def _labels(tokens: Sequence[object] | None, shown: range, start: int, *, two_lines: bool = False) -> list[str]:
    """Positions, tokens, or both: in one line, or if `two_lines` a single syllable below its position."""
    if tokens is None:
        return [str(i + start) for i in shown]
    texts = [token_label(tokens[i]) for i in shown]
    if shown.step == 1:
        return texts
    breaks = ["\n" if two_lines and is_single(text) else " " for text in texts]
    return [f"{i + start}:{between}{text}" for i, between, text in zip(shown, breaks, texts, strict=True)]


def _line(size: float) -> float:
    return text_size("", size)[1]


def _sizes(most: float, n: int, length: float) -> list[float]:
    """The sizes to try for n labels along `length`: hopeless ones would mean measuring thousands of labels."""
    return [size for size in SIZES if size <= most and n * _line(size) <= length]


def _steps(least: float) -> list[int]:
    """2, 5, 10, 20, 50 … from the first above `least`."""
    steps = [digit * 10**power for power in range(9) for digit in (1, 2, 5)]
    return [step for step in steps if step > max(least, 1)]
