"""The figure of note 07: what six ways to attend take, as the text grows."""

from __future__ import annotations

import functools
import time
import tracemalloc
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import clearhead as ch
from clearhead import masks
from clearhead.languages import Said
from study_notes.drawing.paper import BLUE, GREEN, GREY, INK, ORANGE, PINK, SKY, draws, paper, tidy

Way = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384)
WIDTH = 64
MOST_SECONDS = 2.0  # a way that takes longer is not asked for the next length
MOST_MATRIX = 4096  # a matrix of more positions than this is more memory than a figure is worth
REPEATS = 3

POSITIONS = Said(en="positions", ko="위치 개수")
TIME = Said(en="processor time (s)", ko="프로세서 시간 (초)")
MEMORY = Said(en="memory besides the inputs (MiB)", ko="입력을 뺀 메모리 (MiB)")
WAYS: dict[str, tuple[Said, str, Way]] = {
    "matrix": (
        Said(en="matrix", ko="행렬"), INK,
        lambda q, k, v: ch.scaled_dot_product_attention(q, k, v)[0],
    ),
    "chunks": (
        Said(en="chunks of 64 queries", ko="쿼리 64개씩"), ORANGE,
        lambda q, k, v: ch.memory_efficient_attention(q, k, v, chunk_size=64),
    ),
    "flash": (
        Said(en="flash, in the textbook", ko="교과서의 플래시"), PINK,
        lambda q, k, v: ch.flash_attention(q, k, v, block_size=64),
    ),
    "attention": (
        Said(en="attention (kernel)", ko="attention (커널)"), BLUE,
        lambda q, k, v: ch.attention(q, k, v),
    ),
    "window": (
        Said(en="window of 257 (kernel)", ko="키 257개 윈도 (커널)"), SKY,
        lambda q, k, v: ch.attention(q, k, v, mask=masks.window(128, 128)),
    ),
    "linear": (
        Said(en="linear", ko="선형"), GREEN,
        lambda q, k, v: ch.linear_attention(q, k, v),
    ),
}  # fmt: skip


class Measured(NamedTuple):
    """Of one way: lengths, seconds and MiB, one each."""

    lengths: list[int]
    seconds: list[float]
    mebibytes: list[float]


@draws("07_time_and_memory", slow=True)
def time_and_memory(language: str) -> Figure:
    """Time and memory against the number of positions, for six ways to attend."""
    figure, (left, right) = paper(7.6, 3.9, 2)
    for key, (name, colour, _) in WAYS.items():
        lengths, seconds, mebibytes = measurements()[key]
        left.plot(lengths, seconds, marker="o", markersize=3.5, color=colour, label=name(language))
        right.plot(lengths, mebibytes, marker="o", markersize=3.5, color=colour)
    for axes, label in ((left, TIME), (right, MEMORY)):
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(LENGTHS[::2], [f"{n:,}" for n in LENGTHS[::2]])
        axes.minorticks_off()
        axes.set_xlabel(POSITIONS(language))
        axes.set_ylabel(label(language))
        axes.grid(color=GREY, alpha=0.2, linewidth=0.6)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return tidy(figure)


@functools.cache
def measurements() -> dict[str, Measured]:
    """Every way at every length that it can be asked for, one thread, float32, one head."""
    threads = ch.get_num_threads()
    ch.set_num_threads(1)
    try:
        return {key: _of_way(way, MOST_MATRIX if key == "matrix" else LENGTHS[-1]) for key, (_, _, way) in WAYS.items()}
    finally:
        ch.set_num_threads(threads)


def _of_way(way: Way, most: int) -> Measured:
    found = Measured([], [], [])
    for n in LENGTHS:
        if n > most or (found.seconds and found.seconds[-1] > MOST_SECONDS):
            break
        q, k, v = np.random.default_rng(0).standard_normal((3, n, WIDTH), dtype=np.float32)
        found.lengths.append(n)
        found.mebibytes.append(_peak(way, q, k, v) / 2**20)
        found.seconds.append(min(_seconds(way, q, k, v) for _ in range(REPEATS)))
    return found


def _peak(way: Way, *arrays: np.ndarray) -> int:
    """The most bytes held at once, but for the megabyte or less that the kernels keep from call to call."""
    way(*arrays)
    tracemalloc.start()
    try:
        way(*arrays)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _seconds(way: Way, *arrays: np.ndarray) -> float:
    """Of the processor, so that whatever else the machine does is not counted."""
    start = time.process_time()
    way(*arrays)
    return time.process_time() - start
