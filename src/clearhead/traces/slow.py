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
from clearhead.traces.slow_pieces import Written

FIELDS = ("attentions", "encoder_attentions", "decoder_attentions", "cross_attentions")


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
