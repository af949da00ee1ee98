"""How wide the vectors of this machine are, and how many registers there are to keep them in.

All kernels are written in terms of these few numbers, so AVX-512, AVX2 and anything else that LLVM knows run the
same source. numba decides what is compiled for; its variables NUMBA_CPU_NAME and NUMBA_CPU_FEATURES are obeyed.
"""

from __future__ import annotations

from typing import NamedTuple

import llvmlite.binding as llvm
from numba.core import config


class Target(NamedTuple):
    """The shape of the micro-tile: `rows` × (`vectors` · lanes) accumulators stay in registers."""

    name: str
    vector_bytes: int
    rows: int
    vectors: int
    narrow: int  # vectors of a panel that is better narrow: under a causal mask it then has fewer keys to see
    converts_half: bool  # whether float16 is converted by an instruction
    pairs: bool = False  # whether one multiplies and adds pairs of bfloat16, twice as many numbers as of float32

    def lanes(self, itemsize: int) -> int:
        """Numbers in one vector."""
        return self.vector_bytes // itemsize


def _features() -> set[str]:
    """The CPU features numba compiles for, as LLVM names them."""
    if config.CPU_NAME == "generic":
        return set()
    if config.CPU_FEATURES is not None:
        return {word[1:] for word in config.CPU_FEATURES.split(",") if word.startswith("+")}
    return {word[1:] for word in llvm.get_host_cpu_features().flatten().split(",") if word.startswith("+")}


def detect() -> Target:
    """What numba will compile for in this process."""
    features = _features()
    if "avx512f" in features:  # 24 of 32 registers hold sums, 4 a row of B, 1 a splat of A
        pairs = "avx512bf16" in features
        return Target("avx512", 64, rows=6, vectors=4, narrow=1, converts_half=True, pairs=pairs)
    if "avx2" in features and "fma" in features:  # 12 of 16
        return Target("avx2", 32, rows=6, vectors=2, narrow=2, converts_half="f16c" in features)
    if "neon" in features:  # 24 of 32; reasoned, not measured
        return Target("neon", 16, rows=6, vectors=4, narrow=2, converts_half=True)
    # 8 of 16: without fma a product needs a register of its own
    return Target("generic", 16, rows=4, vectors=2, narrow=2, converts_half=False)


TARGET = detect()
