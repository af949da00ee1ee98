"""What `parallel.look` gives: statistics where the queries are, and answers about the whole.

Windows and tiles of the matrix are computed again by the ranks that hold their queries. Patterns are of a head as a
whole: for them each rank gets the whole sequence of some heads, as `attention` with split="heads" does, and where there
are more ranks than key/value heads, some have none.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike

from clearhead import checks, names
from clearhead.call import Call
from clearhead.matrices import REDUCTIONS, Pooled
from clearhead.tensors import on_host
from clearhead.torch.parallel.agreeing import gathered, told
from clearhead.torch.parallel.by_heads import Heads, Swap, heads_added, to_heads, with_heads
from clearhead.torch.parallel.joint import Joint
from clearhead.torch.parallel.layouts import Runs, even_runs, put_together
from clearhead.views import engines, tiles, windows
from clearhead.views.choosing import chosen
from clearhead.views.patterns import Patterns
from clearhead.views.view import TopK, View, look as look_here


class Statistics(NamedTuple):
    """What is seen of queries, as `clearhead.views.View` has it, and what keys receive."""

    output: torch.Tensor | None
    lse: torch.Tensor
    entropy: torch.Tensor
    max_weight: torch.Tensor
    distance: torch.Tensor
    on_first: torch.Tensor
    on_self: torch.Tensor
    top_k: TopK
    received: torch.Tensor


class Seen(NamedTuple):
    """A run of queries, and a view of them over a run of keys, of which they need some runs."""

    queries: range
    keys: range
    needed: Runs
    view: View


class GroupView:
    """What `parallel.look` saw. Statistics of queries are those of this rank's, and `received` is that of its keys.

    output, lse, entropy, max_weight, distance, on_first, on_self, top_k, received: as `clearhead.views.View` has them

    The methods answer about the whole, and every rank of the group calls them with the same arguments and gets the
    same answer. A rank computes what is its queries' own; for patterns, which are of heads, ranks get whole heads.
    """

    def __init__(
        self,
        joint: Joint,
        call: Call,
        seen: list[Seen],
        statistics: Statistics,
        map_size: int,
        labels: dict[str, Any],
    ) -> None:
        """labels: tokens, key_tokens and padding, as `look` was given them."""
        self.joint, self.seen, self.statistics = joint, seen, statistics
        self.heads, self.map_size, self._call, self._labels = call.heads, map_size, call, labels

    def __getattr__(self, name: str) -> Any:
        """A statistic, by its name."""
        if name in Statistics._fields:
            found = getattr(self.statistics, name)
            if found is None:
                raise AttributeError("there is no output without values: look(q, k, v) gives one, look(q, k) does not")
            return found
        raise names.no_such_name("a view of a group", name, [*Statistics._fields, *vars(type(self))])

    def __repr__(self) -> str:
        n = self.joint
        return f"GroupView({self.heads} heads, {n.n_q} queries × {n.n_k} keys over {n.ranks} ranks)"

    def gather(self) -> Statistics:
        """The statistics of the whole, on every rank."""

        def whole(x: torch.Tensor, shards: list[Runs], dim: int = -1) -> torch.Tensor:
            parts = gathered(self.joint.group, x.detach().cpu())
            return put_together(parts, shards, dim).to(x.device)

        found, queries = self.statistics, self.joint.queries
        of_a_query = [name for name in Statistics._fields if name not in ("output", "top_k", "received")]
        return Statistics(
            output=None if found.output is None else whole(found.output, queries, -2),
            top_k=TopK(*(whole(x, queries, -2) for x in found.top_k)),
            received=whole(found.received, self.joint.keys),
            **{name: whole(getattr(found, name), queries) for name in of_a_query},
        )

    def weights(
        self, head: Any = None, rows: Any = slice(None), cols: Any = slice(None), *, batch: Any = None
    ) -> torch.Tensor:
        """Any window of the matrix of the whole: see `clearhead.views.View.weights`."""

        def find() -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
            query, key = (np.arange(n)[chosen(name, x, n)[0]] for name, x, n in self._asked(rows, cols))
            found = []
            for each in self.seen:
                tall, wide = (_inside(x, run) for x, run in ((query, each.queries), (key, each.keys)))
                places = _run(query[tall] - each.queries.start), _run(key[wide] - each.keys.start)
                found.append((tall, wide, windows.window(each.view, head, *places, batch)))
            return found

        pieces = [piece for each in told(self.joint.group, find) for piece in each]
        (query, one_row), (key, one_col) = (chosen(name, x, n) for name, x, n in self._asked(rows, cols))
        like = pieces[0][-1]
        size = len(np.arange(self.joint.n_q)[query]), len(np.arange(self.joint.n_k)[key])
        result = np.zeros((*like.shape[:-2], *size), like.dtype)
        for tall, wide, part in pieces:
            result[..., tall[:, None], wide] = part
        result = result[(..., 0 if one_row else slice(None), 0 if one_col else slice(None))]
        return torch.from_numpy(np.ascontiguousarray(result)).to(self.joint.q.device)

    def _asked(self, rows: Any, cols: Any) -> Iterator[tuple[str, Any, int]]:
        return zip(("rows", "cols"), (rows, cols), (self.joint.n_q, self.joint.n_k), strict=True)

    def tile(
        self,
        head: Any = None,
        rows: Any = slice(None),
        cols: Any = slice(None),
        size: int | tuple[int, int] = 512,
        *,
        reduce: str = "mean",
        batch: Any = None,
    ) -> torch.Tensor:
        """A window of the whole pooled into cells: see `clearhead.views.View.tile`."""
        return self._values(self._pooled(head, rows, cols, size, reduce, batch), reduce)

    def map(self, reduce: str = "mean") -> torch.Tensor:
        """The tile of everything: see `clearhead.views.View.map`. It takes another pass the first time."""
        checks.choice("reduce", reduce, REDUCTIONS)
        return self._values(self.cells, reduce)

    @functools.cached_property
    def cells(self) -> Pooled:
        """The sums, maxima and counts of the map's cells."""
        if not self.map_size:
            raise ValueError("this view has no map, as it was made with map_size=0; look(…, map_size=512) makes one")
        return self._pooled(None, None, None, self.map_size, "mean", None)

    def _pooled(self, head: Any, rows: Any, cols: Any, size: Any, reduce: str, batch: Any) -> Pooled:
        """The sums, maxima and counts of a window's cells, from the ranks that hold its queries."""

        def find() -> list[tuple[int, int, Pooled]]:
            checks.choice("reduce", reduce, REDUCTIONS)
            window = tiles.checked_window(rows, cols, size, self.joint.n_q, self.joint.n_k)
            return [piece for each in self.seen for piece in _cells(each, window, head, batch)]

        pieces = [piece for each in told(self.joint.group, find) for piece in each]
        window = tiles.checked_window(rows, cols, size, self.joint.n_q, self.joint.n_k)
        lead = pieces[0][-1].total.shape[:-2]
        whole = Pooled(*(np.zeros((*lead, *window.cells), kind) for kind in (np.float64, np.float64, np.int64)))
        for down, right, part in pieces:  # in the order of ranks: the same sums everywhere
            tall, wide = part.total.shape[-2:]
            for into, x, join in zip(whole, part, (np.add, np.maximum, np.add), strict=True):
                here = into[..., down : down + tall, right : right + wide]
                join(here, x, out=here)
        return whole

    def _values(self, cells: Pooled, reduce: str) -> torch.Tensor:
        return torch.from_numpy(tiles.cell_values(cells, reduce, self._call.kind)).to(self.joint.q.device)

    def patterns(
        self,
        token_ids: ArrayLike | None = None,
        *,
        separators: Collection[object] | None = None,
        punctuation: Collection[object] | None = None,
    ) -> Patterns:
        """What each head does, over the whole: see `clearhead.views.View.patterns`. Queries and keys are sent again."""
        ids, view = on_host(token_ids), _of_heads(self.joint, self._call, self._labels)

        def find() -> Patterns | None:
            seen = view()
            return None if seen is None else seen.patterns(ids, separators=separators, punctuation=punctuation)

        found = [x for x in told(self.joint.group, find) if x is not None]
        return found[0] if len(found) == 1 else _joined(found)


def _inside(positions: np.ndarray, run: range) -> np.ndarray:
    """Which of these positions lie in a run."""
    return np.flatnonzero((positions >= run.start) & (positions < run.stop))


def _run(positions: np.ndarray) -> slice | np.ndarray:
    """Positions as a slice, if they are a run."""
    if positions.size and bool((np.diff(positions) == 1).all()):
        return slice(int(positions[0]), int(positions[-1]) + 1)
    return positions


def _cells(each: Seen, window: tiles.Window, head: Any, batch: Any) -> Iterator[tuple[int, int, Pooled]]:
    """What some queries add to the cells of a window: the first cell down and to the right, and its sums."""
    view, (query_bits, key_bits) = each.view, window.bits
    whole = head is None and batch is None
    entries = np.zeros(()) if whole else windows.of_heads(view, head, batch)
    for down, rows in _cut(window.rows, each.queries, query_bits):
        for right, cols in _cut(window.cols, each.keys, key_bits):
            if whole:
                found = engines.pooled(view.call, view.sums, rows, cols, query_bits, key_bits)
                yield down, right, Pooled(*(view.shaped(x) for x in found))
                continue
            parts = [
                engines.pooled(*windows.one_head(view, number), rows, cols, query_bits, key_bits)
                for number in entries.ravel()
            ]
            stacked = (np.stack([x[0] for x in column]) for column in zip(*parts, strict=True))
            yield down, right, Pooled(*(x.reshape(*entries.shape, *x.shape[-2:]) for x in stacked))


def _cut(window: slice, run: range, bits: int) -> list[tuple[int, slice]]:
    """What a run has of a window, cut where a cell begins: the number of the first cell, and positions in the run."""
    start, stop = max(window.start, run.start), min(window.stop, run.stop)
    start, stop = (start, stop) if start < stop else (run.start, run.start)
    cell = max(start - window.start, 0) >> bits
    border = min(max(window.start + ((cell + 1) << bits), start), stop)
    start, border, stop = (x - run.start for x in (start, border, stop))
    pieces = [(cell, slice(start, border)), (cell + 1, slice(border, stop))]
    return [piece for piece in pieces if piece[1].start < piece[1].stop] or pieces[:1]


def _of_heads(joint: Joint, call: Call, labels: dict[str, Any]) -> Callable[[], View | None]:
    """The whole sequence of some heads on this rank, and what makes a view of them, if there are any."""
    group = call.heads // max(call.kv_heads, 1)
    heads = [Heads(range(run.start * group, run.stop * group), run) for run in even_runs(call.kv_heads, joint.ranks)]
    swaps = [Swap(joint.queries, [x.queries for x in heads]), Swap(joint.keys, [x.keys for x in heads])]
    tensors = [with_heads(joint.q, call.heads), with_heads(joint.k, call.kv_heads)]
    q, k = to_heads(tensors, swaps, joint.rank, joint.group)
    here = heads[joint.rank].queries

    def view() -> View | None:
        if not here:
            return None
        extra = heads_added(joint, joint.shared, here, call.heads)
        own = [x if call.has_heads else x[0] for x in (q, k)]
        return look_here(own[0], own[1], **extra, **joint.options, **labels, top_k=0, map_size=0)

    return view


def _joined(found: list[Patterns]) -> Patterns:
    """The patterns of all heads, from those of each rank's."""

    def joined(of: Callable[[Patterns], Any], axis: int = -1) -> Any:
        return np.concatenate([np.asarray(of(x)) for x in found], axis=axis)

    def by_name(each: list[dict[str, Any]]) -> dict[str, Any]:
        return {name: np.concatenate([np.asarray(x[name]) for x in each], axis=-1) for name in each[0]}

    return dataclasses.replace(
        found[0],
        labels=joined(lambda x: x.labels),
        score=joined(lambda x: x.score),
        radius=joined(lambda x: x.radius),
        scores=by_name([x.scores for x in found]),
        shares=by_name([x.shares for x in found]),
        closest=joined(lambda x: x.closest, axis=-2),
    )
