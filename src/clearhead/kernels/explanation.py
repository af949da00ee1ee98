"""What a call would do, as data, and as text when it is printed.

Apart from the kernels, so that it can be named without loading them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from clearhead import checks

WORK = ("attention", "gradients", "look")


class Cut(NamedTuple):
    """How the work is cut into tasks: decided by the shape alone, whatever the number of threads."""

    tasks: int
    panel_queries: int  # that lie side by side in vector lanes
    panels: int  # of each head, or of heads that are folded together
    folded_heads: int  # query heads that share keys and lie in one panel
    key_parts: int  # into which the keys are split
    part_keys: int


@dataclass(frozen=True)
class Explanation:
    """How a call runs, and why."""

    work: str  # "attention", "gradients" or "look"
    way: str  # "forward", "decode", "backward", "watched", or on other devices "torch" and "chunked"
    machine: str  # the vectors it is compiled for, or the device
    arithmetic: str  # the type that is computed in; empty where that is torch's to say
    shapes: tuple[tuple[int, ...], ...]  # of q, k and v
    dtype: str  # of q
    because: tuple[str, ...]
    cut: Cut
    tiles: int  # blocks of keys against panels of queries
    tiles_skipped: int  # because the mask empties them
    memory: dict[str, int]  # bytes besides the inputs, by what they are for
    slow: tuple[str, ...]  # what would make the call slow, and why

    @property
    def bytes(self) -> int:
        """Memory that the call takes besides its inputs."""
        return sum(self.memory.values())

    @property
    def tasks(self) -> int:
        return self.cut.tasks

    @property
    def path(self) -> str:
        """The way in words, with the machine."""
        computed = f", {self.arithmetic} arithmetic" if self.arithmetic else ""
        return f"{self.way} ({self.machine}{computed})"

    @property
    def reason(self) -> str:
        return ", ".join(self.because)

    @property
    def shape(self) -> str:
        q, k, v = self.shapes
        return f"q {q}, k {k}, v {v}, {self.dtype}"

    def __str__(self) -> str:
        share = f"{self.tiles_skipped / self.tiles:.0%}" if self.tiles else "none"
        largest = ", ".join(f"{name} {_amount(size)}" for name, size in self._largest())
        lines = [
            f"path       {self.path}: {self.reason}",
            f"call       {self.shape}",
            f"work       {self.tasks:,} tasks; {self.tiles_skipped:,} of {self.tiles:,} tiles skipped ({share})",
            f"memory     {_amount(self.bytes)} besides the inputs" + (f": {largest}" if largest else ""),
        ]
        lines += [f"slow       {reason}" for reason in self.slow]
        doubt = checks.doubtful_axes(*self.shapes[:2])
        return "\n".join(lines + ([f"axes       {doubt}"] if doubt else []))

    def _largest(self) -> list[tuple[str, int]]:
        """What takes most of the memory, in falling order, without what takes next to nothing."""
        kept = [(name, size) for name, size in self.memory.items() if size >= max(self.bytes // 100, 1)]
        return sorted(kept, key=lambda entry: -entry[1])


def _amount(size: int) -> str:
    return f"{size / 2**20:,.1f} MiB"
