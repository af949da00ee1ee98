"""What is kept of a layer where its sequence is spread over ranks: the rows of this one, and what is said of all.

Masks, padding and positions are those of the whole, and so is a view: every rank asks for it, and each looks at the
queries that it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from clearhead import masks
from clearhead.kernels.observation import Observation, Watched
from clearhead.kernels.sums import Sums
from clearhead.tensors import to_numpy, to_torch
from clearhead.torch.parallel.agreeing import gathered
from clearhead.torch.parallel.group_views import GroupView
from clearhead.torch.parallel.layouts import Runs, even_shards, put_together
from clearhead.torch.parallel.looking import looked_at
from clearhead.torch.watching import Position, Spread
from clearhead.traces.layers import Layer
from clearhead.traces.pieces import Labels, Piece
from clearhead.traces.stacking import OfOneSequence

WHOLE = ("map_sum", "map_count", "low", "high", "allowed", "sinks")  # of a layer's arrays, those that have no rows


@dataclass(eq=False, kw_only=True)
class SpreadLayer(Layer):
    """A layer in a call of a model whose sequence is spread: n_q and n_k are of the whole, q and k are this rank's."""

    over: Spread

    @property
    def n_q(self) -> int:
        return self.over.n

    @property
    def n_k(self) -> int:
        return self.over.n

    @property
    def here(self) -> int:
        return sum(map(len, self._runs()[dist.get_rank(self.over.group)]))

    def rows(self, entry: int) -> slice:
        """Where the rows of a sequence that are no padding lie in what this rank holds, which is in rising order."""
        queries, _ = self.places(entry)
        held = np.concatenate([np.asarray(run) for run in self._runs()[dist.get_rank(self.over.group)]])
        start, stop = np.searchsorted(held, [queries.start, queries.stop])
        return slice(int(start), int(stop))

    def shards(self, entry: int) -> list[Runs]:
        """What each rank holds of a sequence, counted from the first position that is no padding."""
        queries, _ = self.places(entry)
        return [[_within(run, queries) for run in runs] for runs in self._runs()]

    def together(self, entry: int, rows: np.ndarray) -> np.ndarray:
        """What all ranks have of a number of each position, from what this one has: (rows) → (n)"""
        parts = gathered(self.over.group, torch.from_numpy(np.ascontiguousarray(rows)))
        return to_numpy(put_together(parts, self.shards(entry), -1))

    def _runs(self) -> list[Runs]:
        return even_shards(self.over.n, dist.get_world_size(self.over.group), self.over.layout)

    def _note_padding(
        self, position: Position, mask: masks.Mask | None, bias: torch.Tensor | None, k: torch.Tensor
    ) -> None:
        if position.real is not None:
            self.real = np.broadcast_to(position.real, (len(k), self.over.n))

    def piece(self, entry: int) -> Piece:
        q, k, v = self._joined()
        (queries, keys), rows = self.places(entry), self.rows(entry)
        mask = self.parts[0].mask
        if mask is not None:
            sizes = masks.Sizes(self.n_q, self.n_k, (self.batch,), q.shape[1])
            mask = OfOneSequence(mask, sizes, entry, queries, keys)
        own = (None if x is None else x[entry][:, rows] for x in (q, k, v))
        q, k, v = own  # type: ignore[assignment]
        return SpreadPiece(
            q, k, mask, None, self.sinks, self.scale, self.softcap, v=v, changed=self.changed,
            group=self.over.group, shards=self.shards(entry),
        )  # fmt: skip


def _within(run: range, whole: range) -> range:
    """What a run has of another, counted from the start of that."""
    start = min(max(run.start, whole.start), whole.stop)
    return range(start - whole.start, max(min(run.stop, whole.stop), start) - whole.start)


@dataclass(eq=False, kw_only=True)
class SpreadPiece(Piece):
    """One layer, one sequence, no padding: q (h, rows, d)  k (h_kv, rows, d) of this rank, the rest of the whole."""

    group: Any
    shards: list[Runs]

    @property
    def sizes(self) -> tuple[int, int]:
        n = sum(len(run) for runs in self.shards for run in runs)
        return n, n

    def view(self, top_k: int, map_size: int, tokens: Labels = None, key_tokens: Labels = None) -> Any:
        """A view over the group, made anew each time, as it holds the keys of other ranks: every rank asks for it."""
        return self._look(top_k, map_size, tokens, None if key_tokens is tokens else key_tokens)

    def _look(self, top_k: int, map_size: int, tokens: Labels = None, key_tokens: Labels = None) -> GroupView:
        q, k = (to_torch(np.array(x)) for x in (self.q, self.k))  # torch warns of memory that cannot be written to
        sinks = None if self.sinks is None else torch.from_numpy(self.sinks)
        return looked_at(
            q, k, None, self.mask, group=self.group, shards=self.shards, scale=self.scale, softcap=self.softcap,
            sinks=sinks, top_k=top_k, map_size=map_size, tokens=tokens, key_tokens=key_tokens, padding=False,
        )  # fmt: skip

    def watched(self, top_k: int, map_size: int) -> Watched:
        """What is observed of this rank's queries, what its keys receive from all, and the map of the whole."""
        view = self._look(top_k, map_size)
        seen = [each.view for each in view.seen]

        def joined(of: Callable[[Any], Any]) -> np.ndarray:
            return np.concatenate([np.asarray(of(each)) for each in seen], axis=1)

        indices = [
            np.where(each.view.observed.top_indices < 0, -1, each.view.observed.top_indices + each.keys.start)
            for each in view.seen
        ]
        kind = seen[0].call.kind
        empty = np.zeros((view.heads, 0, 0), kind)
        observation = Observation(
            entropy=joined(lambda x: x.observed.entropy),
            max_weight=joined(lambda x: x.observed.max_weight),
            distance=joined(lambda x: x.observed.distance),
            received=to_numpy(view.statistics.received),
            top_indices=np.concatenate(indices, axis=1),
            top_weights=joined(lambda x: x.observed.top_weights),
            map_sum=view.cells.total.astype(kind) if map_size else empty,
            map_count=view.cells.unmasked if map_size else empty.astype(np.int64),
        )
        sums = Sums(joined(lambda x: x.sums.top), joined(lambda x: x.sums.total))
        return Watched(np.zeros(0), joined(lambda x: to_numpy(x.lse)), sums, observation)

    def put(self, writer: Any, name: str, part: str, array: np.ndarray) -> None:
        """This rank's rows of an array, or, from one rank, what has none."""
        if part in WHOLE:
            writer.put(name, array)
        else:
            writer.put_rows(name, part, array, self._own())

    def _own(self) -> Sequence[range]:
        return self.shards[dist.get_rank(self.group)]
