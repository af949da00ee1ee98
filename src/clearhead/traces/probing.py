"""An input that shows induction heads, and what is published about heads, each by its own definition.

induction   the mean weight on the token after the one that was the same as the query's, on a random sequence that is
            given twice: the mean of the diagonal 1 − L (TransformerLens, Main_Demo)
sink        received(k) / (n − k), averaged over what may look at key k, at the first token; a head is a sink head from
            0.3 on (Attention-Sink, sail-sg)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clearhead import checks
from clearhead.traces.stacking import Runs
from clearhead.views import View

if TYPE_CHECKING:
    from clearhead.traces.result import Trace

SINK = 0.3


class Probe(NamedTuple):
    """A probe's scores, (layers, h) each, NaN where a layer has no such head, and the layers' names."""

    names: list[str]
    induction: np.ndarray
    previous_token: np.ndarray
    duplicate_token: np.ndarray


def probe(
    model: Any, *, length: int = 50, vocabulary: int | None = None, first: int | None = None, seed: int = 0
) -> Probe:
    """Which heads of a language model are induction heads: it reads a random sequence twice.

    length: how many tokens the sequence has. vocabulary: how many ids there are to draw from; the model's own unless
    given. first: an id to begin with, such as a model's beginning of text; the model's own unless given, if it has one.

    Scores are means over the second reading of the weight on the token after the first occurrence (induction), on the
    first occurrence itself (duplicate_token) and, over all, on the token before (previous_token).
    """
    import torch

    from clearhead.traces.opening import trace

    length = checks.count("length", length, least=2)
    config = getattr(model, "config", None)
    if vocabulary is None:
        vocabulary = getattr(config, "vocab_size", None)
    if not isinstance(vocabulary, int):
        raise ValueError(f"probe needs to know how many ids {type(model).__name__} has: probe(model, vocabulary=…)")
    first = getattr(config, "bos_token_id", None) if first is None else first
    begin = [first] if isinstance(first, int) and first < vocabulary else []
    drawn = np.random.default_rng(seed).integers(0, vocabulary, length)
    ids = torch.tensor([[*begin, *drawn.tolist(), *drawn.tolist()]], device=next(model.parameters()).device)
    with trace(model) as found, torch.no_grad():
        model(ids)
    views = list(found)
    queries = np.arange(len(begin) + length, len(begin) + 2 * length)
    rows = [_means(view, queries, length) for view in views]
    tables = (_table([row[kind] for row in rows]) for kind in range(3))
    return Probe(found.names, *tables)


def _means(view: View, queries: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean weights of each head on the place after the first occurrence, on the token before, and on the occurrence."""
    everything = np.arange(1, view.n_q)
    return (
        weight_at(view, queries, queries - length + 1),
        weight_at(view, everything, everything - 1),
        weight_at(view, queries, queries - length),
    )


def weight_at(view: View, queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The mean weight of each head over pairs of a query and a key: (h)"""
    low = np.zeros((1, 1, view.n_q), np.int64)
    high = np.zeros_like(low)
    low[..., queries], high[..., queries] = keys, keys + 1
    return np.asarray(view.mass(Runs(low, high)))[..., queries].mean(-1)


def sinks(view: View) -> np.ndarray:
    """How much attention the first token gets from each query that may look at it, on average: (h)"""
    return np.asarray(view.received)[..., 0] / view.n_q


def sink_share(trace: Trace) -> float:
    """The share of heads that are sink heads."""
    scores = np.concatenate([np.ravel(sinks(view)) for view in trace])
    return float((scores > SINK).mean())


def _table(rows: list[np.ndarray]) -> np.ndarray:
    table = np.full((len(rows), max((len(row) for row in rows), default=0)), np.nan)
    for number, row in enumerate(rows):
        table[number, : len(row)] = row
    return table
