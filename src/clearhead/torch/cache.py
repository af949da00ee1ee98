"""Keys and values kept from call to call, for decoding step by step.

A cache is handed in and never kept on a layer, so one layer can serve many sentences at once. It has spare room at its
end, so that a new token is written and the old ones are not copied. Where gradients are recorded it is rebuilt at each
call instead, since what is kept for the way back must not change.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int

LEAST_ROOM = 64  # positions to spare when a cache grows


class KeyValueCache:
    """The keys and values of one attention layer: K, V (…, h_kv, length, d_k), or None at first.

    In self-attention it grows with every call; in cross-attention it `holds` the projected memory and stays as it is.
    A call that fails leaves it unchanged.
    """

    def __init__(self) -> None:
        self.length = 0
        self.holds: str | None = None  # "self" or "memory" after the first call
        self._room: tuple[torch.Tensor, torch.Tensor] | None = None

    def __repr__(self) -> str:
        return f"<KeyValueCache: {self.length} keys{' of a memory' if self.holds == 'memory' else ''}>"

    def __copy__(self) -> KeyValueCache:
        """A cache that goes on by itself from here: it has no spare room, so neither writes into that of the other."""
        other = self.draft()
        other._room = None if self.K is None or self.V is None else (self.K, self.V)
        return other

    def draft(self) -> KeyValueCache:
        """A cache to try a call on. It has the same room, so only one of the two goes on: nothing is copied."""
        other = KeyValueCache()
        other.holds, other.length, other._room = self.holds, self.length, self._room
        return other

    @property
    def K(self) -> Float[torch.Tensor, "... h_kv length d"] | None:
        return None if self._room is None or not self.length else self._room[0][..., : self.length, :]

    @property
    def V(self) -> Float[torch.Tensor, "... h_kv length d_v"] | None:
        return None if self._room is None or not self.length else self._room[1][..., : self.length, :]

    def joined(
        self, keys: Float[torch.Tensor, "... h_kv n d"], values: Float[torch.Tensor, "... h_kv n d_v"]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """What is cached followed by what is new: (…, h_kv, n, d) → (…, h_kv, length + n, d).

        The new ones count as cached only after `keep`.
        """
        self.check_use("self")
        end = self.length + keys.shape[-2]
        if self._room is None or not self.length:
            self._room = keys, values
        else:
            for name, old, new in (("keys", self._room[0], keys), ("values", self._room[1], values)):
                _check_fit(name, old[..., : self.length, :], new)
            self._room = _extended(self._room[0], self.length, keys), _extended(self._room[1], self.length, values)
        return self._room[0][..., :end, :], self._room[1][..., :end, :]

    def keep(self, n: int) -> None:
        """Count the n positions that were joined last as cached."""
        self.holds = "self"
        self.length += n

    def keep_memory(self, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Hold the projected memory of cross-attention."""
        self.holds, self._room, self.length = "memory", (keys, values), keys.shape[-2]

    def recalled(self, memory: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The projected memory, provided `memory` (…, n_k, d_model) has the shape of the one that was projected."""
        assert self._room is not None
        expected = (*self._room[0].shape[:-3], self.length)
        if tuple(memory.shape[:-1]) != expected:
            raise ValueError(
                f"the cache holds a memory of {self.length} positions with leading dimensions {expected[:-1]}, got "
                f"one of shape {tuple(memory.shape)}; a new memory needs a new cache"
            )
        return self._room

    def check_use(self, use: str) -> None:
        """A cache that has been used one way is not used the other way."""
        if self.holds not in (None, use):
            raise ValueError(
                "this cache holds the keys of a memory (cross-attention) and cannot be used for self-attention; "
                "give each its own cache"
                if use == "self"
                else "this cache holds the keys of self-attention and cannot be used with a memory; "
                "give each its own cache"
            )

    def select(self, indices: Int[torch.Tensor, " b_new"]) -> KeyValueCache:
        """A new cache with the given sentences of the first batch axis, in that order, some perhaps repeated.

        indices (b_new,) → K, V (b_new, …, h_kv, length, d_k). Beam search carries on with the survivors this way.
        """
        chosen = KeyValueCache()
        chosen.holds, chosen.length = self.holds, self.length
        if self.K is None or self.V is None:
            return chosen
        if self.K.ndim < 4:
            raise ValueError(f"the cached keys have no batch axis to select from, their shape is {tuple(self.K.shape)}")
        chosen._room = self.K.index_select(0, indices), self.V.index_select(0, indices)
        return chosen


def _extended(room: torch.Tensor, length: int, new: torch.Tensor) -> torch.Tensor:
    """room (…, at least length, d) with new (…, n, d) after its first `length` rows."""
    end = length + new.shape[-2]
    if torch.is_grad_enabled():
        return torch.cat([room[..., :length, :], new], dim=-2)
    foreign = room.is_inference() and not torch.is_inference_mode_enabled()  # may not be written to
    if room.shape[-2] < end or foreign:
        bigger = new.new_empty((*room.shape[:-2], end + max(end // 2, LEAST_ROOM), room.shape[-1]))
        bigger[..., :length, :] = room[..., :length, :]
        room = bigger
    room[..., length:end, :] = new
    return room


def _check_fit(name: str, old: torch.Tensor, new: torch.Tensor) -> None:
    if (*old.shape[:-2], old.shape[-1]) != (*new.shape[:-2], new.shape[-1]) or old.dtype != new.dtype:
        raise ValueError(
            f"the cache holds {name} of shape {tuple(old.shape)} in {old.dtype} and the new ones have shape "
            f"{tuple(new.shape)} in {new.dtype}; all but the next to last axis must agree (is this the cache of "
            "another layer or another batch?)"
        )
