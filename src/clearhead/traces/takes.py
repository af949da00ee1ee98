"""One forward of a model as it was traced: its sequences, its layers, and the ids of its tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clearhead.traces.images import Image
from clearhead.traces.naming import role
from clearhead.traces.pieces import Piece

if TYPE_CHECKING:
    from clearhead.torch.watching import Spread
    from clearhead.traces.layers import Layer
    from clearhead.traces.recording import Forward

Take = Any  # a forward as a trace asks it: `Recorded`, or `storing.Stored`


class Recorded:
    """A forward in memory."""

    def __init__(self, forward: Forward) -> None:
        self.forward = forward
        self._pieces: dict[tuple[str, int, int], Piece] = {}

    @property
    def names(self) -> list[str]:
        return [name for name, layer in self.forward.layers.items() if layer.kept and layer.parts]

    @property
    def batch(self) -> int:
        sizes = {self.forward.layers[name].batch for name in self.names}
        return max(sizes, default=0)

    @property
    def over(self) -> Spread | None:
        """Where its sequence lies, if that is spread over processes."""
        return self.forward.over

    def piece(self, name: str, entry: int) -> Piece:
        layer = self.forward.layers[name]
        if not 0 <= entry < layer.batch:
            raise IndexError(f"{name} saw a batch of {layer.batch}, and there is no sequence {entry} in it")
        key = (name, entry, layer.n_q)  # a generation that goes on has more of it
        if key not in self._pieces:
            self._note_queries(layer)
            self._pieces[key] = layer.piece(entry)
        self._pieces[key].gradient = layer.gradient_of(entry)  # which may have come since
        return self._pieces[key]

    def scales(self, entry: int) -> np.ndarray | None:
        """By how much the last norm stretched each position of a sequence that is no padding, where it is known."""
        if not self.forward.scales:
            return None
        whole = np.concatenate(self.forward.scales, axis=-1)
        for name in self.names:
            layer = self.forward.layers[name]
            last = role(name) != "encoder" or not any(role(other) != "encoder" for other in self.names)
            if last and whole.shape == (layer.batch, layer.here):
                return layer.together(entry, whole[entry][layer.rows(entry)])
        return None

    def released(self, name: str) -> Layer:
        """A layer that is written somewhere else by now, and has let go of its arrays."""
        layer = self.forward.layers[name]
        for other in self.forward.layers.values():  # as long as there are others to tell of it
            self._note_queries(other)
        self._pieces = {key: piece for key, piece in self._pieces.items() if key[0] != name}
        layer.parts, layer.keys, layer.values, layer.joined = [], [], [], None
        return layer

    def _note_queries(self, layer: Layer) -> None:
        """Let a layer know which queries are real where they look at another sequence: as where at their own."""
        if layer.kept and layer.parts and not layer.grows and layer.n_q != layer.n_k:
            found = self._real_queries(layer.n_q)
            layer.query_real = layer.query_real if found is None else found

    def _real_queries(self, n_q: int) -> np.ndarray | None:
        own = [x for x in self.forward.layers.values() if x.grows and x.kept and x.n_k == n_q and x.real is not None]
        return own[0].real if own else None

    def readings(self, entry: int) -> tuple[None, None]:
        """What is known of the text of its tokens: nothing."""
        return None, None

    def ids(self, entry: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        return self._real(self.forward.ids, entry), self._real(self.forward.source_ids, entry)

    def image(self, entry: int) -> Image | None:
        """The image that the model was given, if there was one."""
        images = self.forward.images
        return None if images is None or entry >= len(images.pixels) else Image(images.pixels[entry], images.patch)

    def _real(self, ids: np.ndarray | None, entry: int) -> np.ndarray | None:
        """The ids of one sequence, without those that its layers take for padding."""
        if ids is None or entry >= len(ids):
            return None
        source = ids is self.forward.source_ids
        for name, layer in self.forward.layers.items():
            suits = role(name) != "cross" and (role(name) == "encoder" or not source)
            if layer.kept and suits and layer.first_key == 0 and layer.n_k == ids.shape[-1]:
                _, keys = layer.places(entry)
                return ids[entry][keys.start : keys.stop]
        return ids[entry]
