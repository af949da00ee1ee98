"""What is kept of one layer while a model runs: queries, keys and masks, call by call, and the pieces made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch

from clearhead import masks
from clearhead.tensors import to_numpy, to_torch
from clearhead.torch.watching import Position
from clearhead.traces.by_distance import ByDistance, joined
from clearhead.traces.pieces import Piece
from clearhead.traces.scratch import Kept
from clearhead.traces.stacking import OfOneSequence, Rows, Stacked, run_of

Keep = Callable[[np.ndarray, object], Kept]  # an array, and whose it is, to what is left of it in memory


@dataclass(eq=False)
class Part:
    """What one call adds: q (b, h, n_q, d), the keys that it saw, counted in the whole, and how it masked them.

    gradient (b, h, n_q, d_v): of what the heads gave, where there was a backward pass
    hooked: whether a backward pass will bring it; where layers are checkpointed, a later call of the same may
    """

    q: Kept
    keys: range
    mask: masks.Mask | None
    bias: np.ndarray | ByDistance | None
    gradient: Kept | None = None
    hooked: bool = False


class Joined(NamedTuple):
    """What all calls gave: q (b, h, n_q, d)  k (b, h_kv, n_k, d)  v (b, h_kv, n_k, d_v), where values are kept"""

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray | None


@dataclass(eq=False)
class Layer:
    """A layer in one call of a model, or in all steps of a generation.

    first_key: the position that the first key kept stands at in its sequence
    real (b, n_k): which keys are no padding; None if all are
    kept: whether anything is kept but what tells whether a call goes on
    """

    grows: bool
    first_query: int
    first_key: int
    scale: float | None
    softcap: float | None
    sinks: np.ndarray | None
    kept: bool
    parts: list[Part] = field(default_factory=list)
    keys: list[Kept] = field(default_factory=list)
    values: list[Kept] = field(default_factory=list)
    real: np.ndarray | None = None
    query_real: np.ndarray | None = None
    length: int = 0  # the position after the last key
    asked: int = 0  # how many queries came, kept or not
    last_key: torch.Tensor | None = None
    whole: torch.Tensor | None = None  # all keys, where they are compared
    joined: Joined | None = None
    changed: bool = False  # whether the heads gave something else than their weights times values, as if one is ablated

    @property
    def batch(self) -> int:
        return self.parts[0].q.shape[0]

    @property
    def n_q(self) -> int:
        return sum(part.q.shape[-2] for part in self.parts)

    @property
    def n_k(self) -> int:
        return sum(keys.shape[-2] for keys in self.keys)

    @property
    def here(self) -> int:
        """How many queries there are in this process."""
        return self.n_q

    def rows(self, entry: int) -> slice:
        """Where the queries of a sequence that are no padding lie among those in this process."""
        queries, _ = self.places(entry)
        return slice(queries.start, queries.stop)

    def together(self, entry: int, rows: np.ndarray) -> np.ndarray:
        """A number of each query of a sequence, from those of the queries in this process."""
        return rows

    def goes_on(self, position: Position, k: torch.Tensor) -> bool:
        """Whether a call with these keys adds to what is here: it begins where this ends, or some steps before."""
        return (
            self.grows and position.grows and 0 < position.first_query <= self.length
            and position.first_query > self.first_query
            and self.last_key is not None and self.last_key.shape[0] == k.shape[0]
        )  # fmt: skip

    def remembers(self, position: Position, k: torch.Tensor) -> bool:
        """Whether the keys that were there before are still the same; after a beam search they are not."""
        seen = position.first_query - position.first_key
        if self.whole is not None:
            past = self.whole[..., position.first_key - self.first_key : position.first_query - self.first_key, :]
            return torch.equal(past, k[..., :seen, :])
        if seen < 1 or self.last_key is None or position.first_query != self.length:
            return True
        return torch.equal(self.last_key, k[..., seen - 1, :])

    def add(
        self,
        position: Position,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor | None,
        mask: masks.Mask | None,
        bias: torch.Tensor | ByDistance | None,
        keep: Keep | None,
    ) -> None:
        """One more call: its queries, those of its keys and values that are new, and its mask."""
        n_q, n_k = q.shape[-2], k.shape[-2]
        self.asked += n_q
        first = position.first_key - self.first_key
        if self.grows:
            self._forget_from(position.first_query)
            end = min(position.first_query - position.first_key + n_q, n_k)  # a static cache is longer than its content
            fresh = slice(self.length - position.first_key, end)
            self.length = position.first_key + end
        else:
            fresh, self.length = slice(0, 0 if self.keys else n_k), n_k
        new = k[..., fresh, :]
        self.last_key = k[..., self.length - position.first_key - 1, :].detach().clone() if n_k else None
        if self.whole is not None:
            kept = self.whole[..., : position.first_query - self.first_key, :] if self.grows else self.whole[..., :0, :]
            self.whole = torch.cat([kept, new.detach()], dim=-2)
        if not self.kept:
            return

        def stored(tensor: torch.Tensor) -> Kept:
            return _array(tensor) if keep is None else keep(_array(tensor), self)

        added: Any = bias
        if isinstance(bias, torch.Tensor):
            added = _array(torch.broadcast_to(bias, (*bias.shape[:-2], n_q, n_k)))
        self.parts.append(Part(stored(q), range(first, first + n_k), mask, added))
        if new.shape[-2]:
            self.keys.append(stored(new))
            if v is not None:
                self.values.append(stored(v[..., fresh, :]))
        self._note_padding(position, mask, bias if isinstance(bias, torch.Tensor) else None, k)

    def take_gradient(self, part: Part, keep: Keep | None, gradient: torch.Tensor) -> None:
        """What a backward pass gave for what the heads gave in one call; several add up, as in torch."""
        if part not in self.parts:  # taken back, or written to a file by now
            return
        own = _array(gradient.reshape((1,) * (4 - gradient.ndim) + gradient.shape))
        own = own if part.gradient is None else np.asarray(part.gradient) + own
        part.gradient = own if keep is None else keep(own, self)

    def gradient_of(self, entry: int) -> np.ndarray | None:
        """The gradient of one sequence of the batch, without its padding: (h, n_q, d_v)"""
        found = [part.gradient for part in self.parts if part.gradient is not None]
        if not found or len(found) < len(self.parts):
            return None
        return _end_to_end([gradient[entry] for gradient in found])[:, self.rows(entry)]

    def _forget_from(self, position: int) -> None:
        """Take back what was kept from a position on: steps that a model guessed and took back."""
        while self.parts and self.first_query + self.n_q > position:
            part = self.parts.pop()
            left = position - self.first_query - self.n_q
            if left > 0:
                self.parts.append(_shorter(part, left))
        while self.keys and self.first_key + self.n_k > position:
            keys, values = self.keys.pop(), self.values.pop() if self.values else None
            left = position - self.first_key - self.n_k
            if left > 0:
                self.keys.append(keys[..., :left, :])
                self.values += [] if values is None else [values[..., :left, :]]
        self.length = min(self.length, position)

    def _note_padding(
        self, position: Position, mask: masks.Mask | None, bias: torch.Tensor | None, k: torch.Tensor
    ) -> None:
        """Which keys are real, as the latest call says it."""
        b, _, n_k, _ = k.shape
        real = position.real
        if real is None and mask is not None:
            padding = mask.padding(masks.Sizes(self.parts[-1].q.shape[-2], n_k, (b,), self.parts[-1].q.shape[1]))
            real = None if padding is None else ~padding
        if real is None and bias is not None and bias.ndim == 4 and bias.shape[1:3] == (1, 1):
            lowest = torch.finfo(bias.dtype).min
            real = to_numpy((bias[:, 0, 0] > lowest / 2).cpu())
        if real is None:
            return
        whole = np.ones((b, self.n_k), np.bool_)
        if self.real is not None:
            width = min(self.real.shape[-1], whole.shape[-1])
            whole[:, :width] = self.real[:, :width]
        start = position.first_key - self.first_key
        width = min(real.shape[-1], whole.shape[-1] - start)
        whole[:, start : start + width] = np.broadcast_to(real, (b, real.shape[-1]))[:, :width]
        self.real = whole

    def piece(self, entry: int) -> Piece:
        """What is kept of one sequence of the batch, without its padding."""
        q, k, v = self._joined()
        queries, keys = self.places(entry)
        sizes = masks.Sizes(self.n_q, self.n_k, (self.batch,), q.shape[1])
        mask: masks.Mask | None = None
        if any(part.mask is not None or part.keys != range(self.n_k) for part in self.parts):
            stacked = Stacked(tuple(Rows(part.q.shape[-2], part.keys, part.mask) for part in self.parts))
            whole: masks.Mask = stacked
            if len(self.parts) == 1 and self.parts[0].keys == range(self.n_k) and self.parts[0].mask is not None:
                whole = self.parts[0].mask
            mask = OfOneSequence(whole, sizes, entry, queries, keys)
        return Piece(
            q[entry][:, queries.start : queries.stop], k[entry][:, keys.start : keys.stop], mask,
            self._bias(entry, queries, keys), self.sinks, self.scale, self.softcap,
            v=None if v is None else v[entry][:, keys.start : keys.stop],
            prompt=max(self.parts[0].q.shape[-2] - queries.start, 0) if len(self.parts) > 1 else None,
            changed=self.changed,
        )  # fmt: skip

    def places(self, entry: int) -> tuple[range, range]:
        """The queries and the keys of a sequence that are no padding, counted from the first ones kept."""
        keys = None if self.real is None else run_of(self.real[entry])
        keys = range(self.n_k) if keys is None else keys
        if not self.grows and self.n_q != self.n_k:
            own = None if self.query_real is None else run_of(self.query_real[entry])
            return (range(self.n_q) if own is None else own), keys
        shift = self.first_query - self.first_key  # queries stand at the last positions of the keys that were there
        return range(max(keys.start - shift, 0), max(min(keys.stop - shift, self.n_q), 0)), keys

    def _joined(self) -> Joined:
        if self.joined is None or self.joined.q.shape[-2] != self.n_q:
            q, k, v = [part.q for part in self.parts], self.keys, self.values
            self.joined = Joined(_end_to_end(q), _end_to_end(k), _end_to_end(v) if v else None)
        return self.joined

    def _bias(self, entry: int, queries: range, keys: range) -> np.ndarray | ByDistance | None:
        """What is added to the scores of a sequence: a table by distance, or (heads, n_q, n_k), heads perhaps 1"""
        if all(part.bias is None for part in self.parts):
            return None
        table = self._table()
        if table is not None:
            return table.moved(keys.start - queries.start)
        rows = []
        for part in self.parts:
            own = _written_out(part, entry)
            own = own[..., : self.n_k - part.keys.start]
            after = self.n_k - part.keys.start - own.shape[-1]
            rows.append(np.pad(own, [(0, 0), (0, 0), (part.keys.start, after)]) if part.keys.start or after else own)
        most = max(len(row) for row in rows)
        rows = [np.broadcast_to(row, (most, *row.shape[1:])) for row in rows]
        whole = rows[0] if len(rows) == 1 else np.concatenate(rows, axis=-2)
        return whole[:, queries.start : queries.stop, keys.start : keys.stop]

    def _table(self) -> ByDistance | None:
        """What all calls alike add by distance, counted from the first query and key kept; None if they do not."""
        tables, first = [], 0
        for part in self.parts:
            if not isinstance(part.bias, ByDistance):
                return None
            tables.append(part.bias.moved(first - part.keys.start))
            first += part.q.shape[-2]
        return joined(tables)


def _end_to_end(arrays: Sequence[Kept]) -> np.ndarray:
    """Arrays as one, along their positions; one alone is not copied."""
    return np.asarray(arrays[0]) if len(arrays) == 1 else np.concatenate([np.asarray(x) for x in arrays], axis=-2)


def _written_out(part: Part, entry: int) -> np.ndarray:
    """The bias of a call for one sequence: (heads, n_q, keys)"""
    n_q = part.q.shape[-2]
    if part.bias is None:
        return np.zeros((1, n_q, len(part.keys)), np.float32)
    return part.bias.array(n_q, len(part.keys)) if isinstance(part.bias, ByDistance) else _of_entry(part.bias, entry)


def _shorter(part: Part, n_q: int) -> Part:
    """The first queries of a part."""
    sizes = masks.Sizes(part.q.shape[-2], len(part.keys), (part.q.shape[0],), part.q.shape[1])
    mask = part.mask
    if mask is not None:
        rows = mask.array(*sizes[:2], batch_shape=sizes.batch_shape, heads=sizes.heads)[..., :n_q, :]
        mask = masks.array(rows)
    bias = part.bias[..., :n_q, :] if isinstance(part.bias, np.ndarray) else part.bias
    return Part(part.q[..., :n_q, :], part.keys, mask, bias)


def _of_entry(bias: np.ndarray, entry: int) -> np.ndarray:
    """(…, n_q, n_k), leading axes missing or 1 → (heads, n_q, n_k) of one sequence"""
    bias = bias.reshape((1,) * (4 - bias.ndim) + bias.shape)
    return bias[entry if bias.shape[0] > 1 else 0]


def _array(tensor: torch.Tensor) -> np.ndarray:
    """A copy of a tensor that belongs to nobody else."""
    return np.array(to_numpy(tensor.detach().cpu()), order="C", copy=True)


def settled(options: dict[str, Any], n_q: int, n_k: int) -> tuple[masks.Mask | None, torch.Tensor | ByDistance | None]:
    """The mask and the bias of a call, a mask of floats being a bias."""
    mask, bias = options.get("mask"), options.get("bias")
    if bias is not None and not isinstance(bias, torch.Tensor):
        bias = ByDistance.told(bias, n_q, n_k)
    if isinstance(mask, torch.Tensor):
        if mask.is_floating_point():
            if isinstance(bias, ByDistance):  # the mask has a number for every place already
                bias = to_torch(bias.array(n_q, n_k)).to(mask)
            return None, mask if bias is None else bias + mask
        return masks.array(to_numpy(mask.detach().cpu())), bias
    return mask, bias
