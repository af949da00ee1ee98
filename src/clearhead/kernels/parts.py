"""Parts of the keys, which tasks of their own have seen: each has an output and an lse, and they are joined at the end.

Where there are few queries, as in decoding, there would not be work for every thread otherwise. What the parts gave
lies in one piece of memory that is taken for a call.
"""

from __future__ import annotations

import array
import math
from typing import Any, NamedTuple

import numpy as np

from clearhead.call import Call
from clearhead.kernels.description import Description
from clearhead.kernels.job import ABSENT, Parts
from clearhead.kernels.machine_code import Kernel
from clearhead.kernels.plan import Plan
from clearhead.kernels.structs import first_word, pack
from clearhead.kernels.target import TARGET

JOIN = Kernel("clearhead.kernels.join", "join", numbers=1)

_OUTPUTS, _SUMS, _SPARE, _OUTPUT, _LSE = (
    first_word(Parts, name) for name in ("outputs", "sums", "spare", "output", "lse")
)


class Joining(NamedTuple):
    """How what the parts of the keys gave is joined, in all calls like one."""

    words: array.array[int]  # Parts, packed
    shape: tuple[int, ...]  # of their outputs, (splits, …, n_q, d_v)
    kind: np.dtype[Any]  # in which they are computed
    lse_at: int  # bytes to where each part's lse lies
    spare_at: int  # and to one vector to spare

    @classmethod
    def of(cls, call: Call, plan: Plan, output: np.ndarray, lse: np.ndarray | None) -> Joining:
        """Into arrays that lie as these do."""
        described = Description(call, plan)
        parts = Parts(
            outputs=0, sums=0, spare=0, output=described.matrix(output),
            lse=ABSENT if lse is None else described.column(lse), parts=plan.splits, heads=math.prod(call.lead),
            n_q=call.n_q, d_v=call.d_v, folded=1, shape=described.axes,
        )  # fmt: skip
        shape = plan.splits, *output.shape
        vector, size = TARGET.vector_bytes, call.kind.itemsize
        spare = math.prod(shape) * size + vector  # what is written may be read a vector too far
        return cls(pack(parts), shape, call.kind, spare + vector, spare)

    def memory(self) -> np.ndarray:
        """Room for what all parts give."""
        return np.empty(self.lse_at // self.kind.itemsize + math.prod(self.shape[:-1]), self.kind)

    def arrays(self, memory: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The outputs and the lse of the parts in it."""
        outputs, sums = memory[: math.prod(self.shape)], memory[self.lse_at // self.kind.itemsize :]
        return outputs.reshape(self.shape), sums.reshape(self.shape[:-1])

    def join(self, memory: int, output: int, lse: int) -> None:
        """Fill the arrays at two addresses from what lies at `memory`; lse may be 0."""
        words = self.words[:]
        words[_OUTPUTS], words[_SUMS], words[_SPARE] = memory, memory + self.lse_at, memory + self.spare_at
        words[_OUTPUT], words[_LSE] = output, lse
        JOIN.function(self.kind)(words.buffer_info()[0])
