"""What is kept of one layer for one sequence, and the view that is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clearhead import masks
from clearhead.kernels.observation import Observation, Watched
from clearhead.kernels.sums import Sums
from clearhead.traces.by_distance import ByDistance
from clearhead.traces.tensor_files import Writer
from clearhead.views import View

Labels = Sequence[object] | None


@dataclass(eq=False)
class Piece:
    """One layer, one sequence, no padding: q (h, n_q, d)  k (h_kv, n_k, d), and how they attend.

    slow: these are weights that the model wrote out itself, as logarithms in the bias
    seen: what was observed of it before, with so many keys of each query, and so large a map
    """

    q: np.ndarray
    k: np.ndarray
    mask: masks.Mask | None = None
    bias: np.ndarray | ByDistance | None = None
    sinks: np.ndarray | None = None
    scale: float | None = None
    softcap: float | None = None
    slow: bool = False
    seen: Watched | None = None
    v: np.ndarray | None = None  # (h_kv, n_k, d_v), where values were kept
    gradient: np.ndarray | None = None  # (h, n_q, d_v), of what the heads gave, where there was a backward pass
    prompt: int | None = None  # how many queries came at once, where the others came one by one after them
    changed: bool = False  # whether what the heads gave was changed: not these weights times these values
    views: dict[Any, View] = field(default_factory=dict)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many queries and keys there are."""
        return self.q.shape[-2], self.k.shape[-2]

    def view(self, top_k: int, map_size: int, tokens: Labels = None, key_tokens: Labels = None) -> View:
        """The view of it, made when it is first asked for."""
        key = tuple(None if x is None else tuple(x) for x in (tokens, key_tokens))
        if key not in self.views:
            alike = None if key_tokens is tokens else key_tokens  # one list names queries and keys that are the same
            labels = None if tokens is None and key_tokens is None else (tokens, alike)
            bias = self.bias.relative() if isinstance(self.bias, ByDistance) else self.bias
            self.views[key] = View(
                self.q, self.k, None, np.asarray, top_k=top_k, map_size=map_size, mask=self.mask, bias=bias,
                sinks=self.sinks, scale=self.scale, softcap=self.softcap, tokens=labels, padding=False, seen=self.seen,
            )  # fmt: skip
            view = self.views[key]
            self.seen = Watched(np.zeros(0), view.lse, view.sums, view.observed)
        return self.views[key]

    def watched(self, top_k: int, map_size: int) -> Watched:
        """What is observed of it."""
        self.view(top_k, map_size)
        assert self.seen is not None
        return self.seen

    def put(self, writer: Writer, name: str, part: str, array: np.ndarray) -> None:
        """Write one of its arrays."""
        writer.put(name, array)


def observed(arrays: dict[str, np.ndarray]) -> Watched:
    """What was observed, from arrays by their names."""
    observation = Observation(*(arrays[name] for name in Observation._fields))
    return Watched(np.zeros(0), arrays["lse"], Sums(arrays["top"], arrays["total"]), observation)


def observed_arrays(seen: Watched) -> dict[str, np.ndarray]:
    """What was observed, as arrays by their names."""
    return {"lse": seen.lse, **seen.sums._asdict(), **seen.observation._asdict()}
