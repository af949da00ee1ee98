"""What a call would do, in words. Apart from the kernels, so that it can be named without loading them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Explanation:
    """How a call runs, and why."""

    path: str
    reason: str
    shape: str
    tasks: int
    tiles: int
    tiles_skipped: int
    bytes: int
    slow: tuple[str, ...]

    def __str__(self) -> str:
        share = f"{self.tiles_skipped / self.tiles:.0%}" if self.tiles else "none"
        lines = [
            f"path       {self.path}: {self.reason}",
            f"call       {self.shape}",
            f"work       {self.tasks:,} tasks; {self.tiles_skipped:,} of {self.tiles:,} tiles skipped ({share})",
            f"memory     {self.bytes / 2**20:,.1f} MiB besides the inputs",
        ]
        return "\n".join(lines + [f"slow       {reason}" for reason in self.slow])
