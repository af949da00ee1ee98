"""The textbook's models traced, without torch: they return every weight anyway, and those are kept.

While a block lasts, the attention layers of a model are of a class that passes on what they return. Weights of steps
that go on from a cache are put below those of the steps before.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from clearhead.textbook.module import Module
from clearhead.textbook.multi_head import MultiHeadAttention
from clearhead.traces.naming import is_wanted
from clearhead.traces.slow_pieces import Written

_told: dict[int, tuple[Callable[[Any, np.ndarray], None], ...]] = {}  # who is told of a layer's weights, by its id
_lock = threading.Lock()


def textbook_model(model: object) -> Module | None:
    """The textbook's model that this is, or that it holds, as a translator does."""
    if isinstance(model, Module):
        return model
    held = getattr(model, "model", None)
    return held if isinstance(held, Module) else None


def attention_layers(model: Module, path: str = "") -> Iterator[tuple[str, MultiHeadAttention]]:
    """The attention layers of a model, by their paths."""
    if isinstance(model, MultiHeadAttention):
        yield path, model
        return
    for name, value in vars(model).items():
        parts = enumerate(value) if isinstance(value, (list, tuple)) else [(None, value)]
        for number, part in parts:
            if isinstance(part, Module):
                inner = name if number is None else f"{name}.{number}"
                yield from attention_layers(part, f"{path}.{inner}" if path else inner)


class NumpyRecorder:
    """Keeps the weights that layers return, call by call."""

    def __init__(self, model: Module, layers: Any) -> None:
        self.names = {id(layer): path for path, layer in attention_layers(model)}
        self.kept = list(attention_layers(model))
        self.layers, self.thread = layers, threading.get_ident()
        self.forwards: list[dict[str, list[np.ndarray]]] = []
        self.arrived = 0
        self.stepping = False

    def __call__(self, layer: Any, weights: np.ndarray) -> None:
        path = self.names.get(id(layer))
        if path is None or threading.get_ident() != self.thread:
            return
        self.arrived += 1
        weights = weights.reshape((-1, *weights.shape[-3:]))
        forward = self.forwards[-1] if self.forwards else None
        rows = None if forward is None else forward.get(path)
        if rows is not None and self._goes_on(rows[-1], weights):
            rows.append(weights)
            return
        if forward is None or rows is not None:
            forward, self.stepping = {}, False
            self.forwards.append(forward)
        forward[path] = [weights]

    def _goes_on(self, before: np.ndarray, weights: np.ndarray) -> bool:
        """Whether these are weights of later steps: of one sequence that grew, or of another one in the same steps."""
        if len(before) != len(weights):
            return False
        n_q, n_k = weights.shape[-2:]
        if n_q < n_k and before.shape[-1] + n_q == n_k:
            self.stepping = True
            return True
        return self.stepping and before.shape[-1] == n_k

    def takes(self) -> list[Written]:
        found = []
        for forward in self.forwards:
            weights = {name: _joined(rows) for name, rows in forward.items() if is_wanted(name, self.layers)}
            if weights:
                prompts = {name: rows[0].shape[-2] for name, rows in forward.items() if len(rows) > 1}
                found.append(Written(weights, None, None, slow=False, prompts=prompts))
        return found

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Until the block ends."""
        with _lock:
            for _, layer in self.kept:
                if not _told.get(id(layer)):
                    kind: Any = type(layer)
                    layer.__class__ = _telling(kind)
                _told[id(layer)] = (*_told.get(id(layer), ()), self)
        try:
            yield
        finally:
            with _lock:
                for _, layer in self.kept:
                    left = tuple(other for other in _told.pop(id(layer)) if other is not self)
                    if left:
                        _told[id(layer)] = left
                    else:
                        layer.__class__ = type(layer).__mro__[1]


@functools.cache
def _telling(kind: type[MultiHeadAttention]) -> type[MultiHeadAttention]:
    """A class of layers that pass on the weights that they return."""

    def forward(self: MultiHeadAttention, *arguments: Any, **options: Any) -> Any:
        output, weights = kind.forward(self, *arguments, **options)
        for tell in _told.get(id(self), ()):
            tell(self, weights)
        return output, weights

    return type(kind.__name__, (kind,), {"forward": forward, "__module__": kind.__module__})


def _joined(rows: list[np.ndarray]) -> np.ndarray:
    """Weights of several steps, one below the other, none on keys that came later."""
    wide = max(x.shape[-1] for x in rows)
    return np.concatenate([np.pad(x, [(0, 0)] * 3 + [(0, wide - x.shape[-1])]) for x in rows], axis=-2)
