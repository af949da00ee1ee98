"""A whole model traced: beside the same model untraced, and where the weights fit, beside its own eager attention.

What is compared with eager attention is the entropy of every head of every layer at every position: a trace makes its
views for it, and a model that returns its weights has them written out. Beside it stands the model alone, on torch's
attention, which shows what tracing costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import clearhead as ch
from benchmarks.measure import ALONE, OURS, THEIRS
from benchmarks.models import Forward
from benchmarks.problems import Call


@dataclass(frozen=True)
class Traced:
    """A model over n words, and with `looked` what every head of it does."""

    of: Forward
    looked: bool

    @property
    def operations(self) -> float:
        return self.of.operations

    def truth(self, kind: type[np.floating[Any]] = np.float64) -> np.ndarray:
        """By transformers' own code in the given type: the entropies (layers, h, n), or the states."""
        return self.of.truth(kind) if not self.looked else eager(self)


def calls(asked: Traced, *, others: bool) -> dict[str, Call]:
    """The model traced, alone, and where its weights fit into memory, by its own eager attention."""

    def run() -> Any:
        with ch.trace(asked.of.model) as trace:
            states = asked.of.run()
        return np.stack([view.entropy for view in trace]) if asked.looked else states.numpy()

    found = {OURS: Call(run), ALONE: Call(asked.of.run)}
    return found | ({THEIRS: Call(lambda: eager(asked))} if others else {})


def eager(asked: Traced) -> np.ndarray:
    """The entropies from the weights that the model writes out."""
    model = asked.of.model
    model.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            weights = model(asked.of.ids, output_attentions=True).attentions
    finally:
        model.set_attn_implementation("sdpa")
    return np.stack([torch.special.entr(x[0]).sum(dim=-1).numpy() for x in weights])
