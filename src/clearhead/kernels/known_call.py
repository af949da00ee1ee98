"""What is the same in all calls like one, packed as the kernel reads it: only addresses are to be filled in."""

from __future__ import annotations

import array
from typing import Any, NamedTuple

import numpy as np

from clearhead.kernels import layout
from clearhead.kernels.description import address_of
from clearhead.kernels.job import Job
from clearhead.kernels.parts import Joining
from clearhead.kernels.rounds import JOB, WORDS
from clearhead.kernels.schedule import Work, spread
from clearhead.kernels.structs import WORD, first_word
from clearhead.masks import Ranges

# Where a call has what changes from one to the next, behind the words of its round.
AT_QUERY, AT_KEY, AT_VALUE, AT_OUTPUT, AT_LSE, AT_TOP, AT_TOTAL, AT_LOW, AT_HIGH, AT_N_K, AT_SPLIT = (
    WORDS + first_word(Job, name)
    for name in ("query", "key", "value", "output", "lse", "top", "total", "low", "high", "n_k", "split")
)

# What is wanted of a call: its output, also its lse, also the sums for its derivative.
OUTPUT, LSE, SUMS = range(3)


class Known(NamedTuple):
    """What is the same in all calls like one."""

    work: Work
    words: array.array[int]  # its round, and behind it the job, packed
    splits: int  # parts of the keys
    joining: Joining | None  # how their results are joined, if there are several
    output: tuple[int, ...]  # the shape of its output
    strides: tuple[int, ...]  # how many numbers lie from one to the next along each axis of it
    heads_last: bool  # whether in memory it is (…, n_q, h, d_v)
    lying: tuple[int, ...]  # the lengths of its axes in the order in which they lie there
    rows: tuple[int, ...]  # and of its lse
    sums: tuple[int, ...]
    kind: np.dtype[Any]  # in which it is computed
    runs: Ranges | None  # the keys that its mask leaves to each query, to which the packed job points
    only_runs: bool  # whether the mask says nothing else
    seen: int  # how many of them the last query sees: see `plan.Shape`

    def empty(self, kind: np.dtype[Any]) -> np.ndarray:
        """Room for the output of one of them."""
        return layout.empty(self.output, kind, heads_last=self.heads_last)

    def fill(self, q: int, k: int, v: int, output: int, lse: int = 0, top: int = 0, total: int = 0) -> None:
        """Compute a call whose arrays lie at these addresses."""
        if self.joining is None:
            self._run(q, k, v, output, lse, top, total)
            return
        memory = self.joining.memory()
        place = address_of(memory)
        self._run(q, k, v, place, place + self.joining.lse_at, 0, 0)
        self.joining.join(place, output, lse)

    def _run(self, q: int, k: int, v: int, output: int, lse: int, top: int, total: int) -> None:
        words = self.words[:]
        words[JOB] = words.buffer_info()[0] + WORD * WORDS
        words[AT_QUERY], words[AT_KEY], words[AT_VALUE], words[AT_OUTPUT] = q, k, v, output
        words[AT_LSE], words[AT_TOP], words[AT_TOTAL] = lse, top, total
        spread(self.work, words)
