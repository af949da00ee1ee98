"""What is compiled for: how wide this machine's vectors are, and how many registers there are to keep them in.

All kernels are written in terms of these few numbers, so AVX-512, AVX2 and anything else that LLVM knows run the
same source. It is compiled for the processor at hand, unless numba's variables NUMBA_CPU_NAME and NUMBA_CPU_FEATURES
say otherwise. Nothing of numba is needed to find that out: whoever has a kernel on the disk need not load it.
"""

from __future__ import annotations

import functools
import os
from typing import NamedTuple

import llvmlite.binding as llvm


class Target(NamedTuple):
    """The shape of the widest micro-tile: `rows` × (`vectors` · lanes) accumulators stay in registers."""

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


class Processor(NamedTuple):
    """A processor as LLVM names it, and what it can do: words with a + or − before them, and a comma between two."""

    name: str
    features: str

    def has(self, feature: str) -> bool:
        return f"+{feature}" in self.features.split(",")


@functools.cache
def processor() -> Processor:
    """What this process compiles for."""
    name = os.environ.get("NUMBA_CPU_NAME") or llvm.get_host_cpu_name()
    features = os.environ.get("NUMBA_CPU_FEATURES")
    if features is None:
        features = "" if name.lower() == "generic" else llvm.get_host_cpu_features().flatten()
    return Processor(name, features)


def detect() -> Target:
    """The shape for that processor."""
    has = processor().has
    if has("avx512f") and has("avx512dq"):  # 24 of 32 registers hold sums, 4 a row of B, 1 a splat of A
        return Target("avx512", 64, rows=6, vectors=4, narrow=1, converts_half=True, pairs=has("avx512bf16"))
    if has("avx2") and has("fma"):  # 12 of 16
        return Target("avx2", 32, rows=6, vectors=2, narrow=2, converts_half=has("f16c"))
    if has("neon"):  # 24 of 32; reasoned, not measured
        return Target("neon", 16, rows=6, vectors=4, narrow=2, converts_half=True)
    # 8 of 16: without fma a product needs a register of its own
    return Target("generic", 16, rows=4, vectors=2, narrow=2, converts_half=False)


TARGET = detect()
WIDEST = TARGET.vectors  # how many vectors wide a panel is, if it is full
MIDDLE = max(WIDEST // 2, 1)
PANEL = 2  # vectors of a panel of numbers: in the forward pass its tile stays in L1, 2 to 4 % faster than with 4


def target_machine() -> llvm.TargetMachine:
    """The processor, for LLVM to write code for and to load it into this process."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    # code is loaded where there is room, and on x86 LLVM expects such code not to ask where it lies
    place = "static" if target.name.startswith("x86") else "default"
    name, features = processor()
    return target.create_target_machine(
        cpu=name, features=features, opt=2, reloc=place, codemodel="jitdefault", jit=True
    )  # fmt: skip
