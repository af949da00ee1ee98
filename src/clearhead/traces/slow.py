"""Models whose attention cannot be watched: the weights that they write out themselves, for short inputs.

Such a model is asked for its weights with every call, `output_attentions=True`, and builds n × n numbers for every
head. A weight w is a score log w, so that a view is made of them like any other; the trace says that it is slow.
"""

from __future__ import annotations

import contextlib
import inspect
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from clearhead.tensors import to_numpy
from clearhead.traces.naming import is_wanted
from clearhead.traces.pieces import Piece
from clearhead.traces.stacking import run_of

FIELDS = ("attentions", "encoder_attentions", "decoder_attentions", "cross_attentions")


class Written:
    """A forward of which the weights were written out: (b, h, n_q, n_k) by name."""

    def __init__(self, weights: dict[str, np.ndarray], real: np.ndarray | None, ids: np.ndarray | None) -> None:
        self.weights, self.real, self._ids = weights, real, ids
        self.names = list(weights)
        self.batch = max((len(x) for x in weights.values()), default=0)
        self._pieces: dict[tuple[str, int], Piece] = {}

    def piece(self, name: str, entry: int) -> Piece:
        if (name, entry) not in self._pieces:
            weights = self.weights[name][entry]
            queries, keys = (self._places(entry, n) for n in weights.shape[-2:])
            own = weights[:, queries.start : queries.stop, keys.start : keys.stop].astype(np.float32)
            h, n_q, n_k = own.shape
            with np.errstate(divide="ignore"):  # log 0 is a key that is masked
                scores = np.log(own)
            nothing = np.zeros((h, max(n_q, n_k), 1), np.float32)
            self._pieces[name, entry] = Piece(nothing[:, :n_q], nothing[:, :n_k], bias=scores, scale=1.0, slow=True)
        return self._pieces[name, entry]

    def _places(self, entry: int, n: int) -> range:
        fits = self.real is not None and self.real.shape[-1] == n
        run = run_of(self.real[entry]) if fits and self.real is not None else None
        return range(n) if run is None else run

    def ids(self, entry: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        if self._ids is None:
            return None, None
        run = self._places(entry, self._ids.shape[-1])
        return self._ids[entry][run.start : run.stop], None

    def labels(self, entry: int) -> tuple[list[str] | None, list[str] | None]:
        return None, None


class Asking:
    """Asks a model for its weights with every call, and keeps them."""

    def __init__(self, model: nn.Module, layers: Any) -> None:
        self.model, self.layers, self.takes = model, layers, list[Written]()
        self.thread, self.number = threading.get_ident(), 0
        self.given: dict[str, Any] = {}

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Until the block ends."""
        if "output_attentions" not in inspect.signature(self.model.forward).parameters:
            raise NotImplementedError(
                f"{type(self.model).__name__} cannot be asked for its weights: its forward takes no output_attentions"
            )
        before = self.model.register_forward_pre_hook(self._ask, with_kwargs=True)
        after = self.model.register_forward_hook(self._take, with_kwargs=True)
        try:
            yield
        finally:
            before.remove()
            after.remove()

    def _ask(self, module: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if threading.get_ident() != self.thread:
            return None
        return arguments, {**named, "output_attentions": True}

    def _take(self, module: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any], output: Any) -> None:
        if threading.get_ident() != self.thread:
            return
        self.number += 1
        found = {
            f"{field}.{number}": to_numpy(weights.detach().float().cpu())
            for field in FIELDS
            for number, weights in enumerate(_of(output, field) or ())
            if isinstance(weights, torch.Tensor) and weights.ndim == 4
        }
        found = {name: weights for name, weights in found.items() if is_wanted(name, self.layers)}
        ids, real = (_tensor(named.get(name)) for name in ("input_ids", "attention_mask"))
        if ids is None and arguments:
            ids = _tensor(arguments[0])
        if found:
            self.takes.append(Written(found, None if real is None else real.astype(np.bool_), ids))


def _of(output: Any, field: str) -> Any:
    return output.get(field) if isinstance(output, dict) else getattr(output, field, None)


def _tensor(value: Any) -> np.ndarray | None:
    right = isinstance(value, torch.Tensor) and value.ndim == 2 and not value.is_floating_point()
    return to_numpy(value.detach().cpu()).astype(np.int64) if right else None
