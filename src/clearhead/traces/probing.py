"""An input that shows induction heads, and what is published about heads, each by its own definition.

Of induction there are three published scores, which are not equal. All are about the key p + 1 after an earlier place p
of the query's token:

diagonal    on a random sequence that is given twice, the mean weight on the place after the first occurrence: the mean
            of the diagonal 1 − L (TransformerLens, Main_Demo). `probe`
detector    on any text, the part of all attention that lies on such keys: Σ A ⊙ D / Σ A, D being 1 there
            (TransformerLens, head_detector). `induction`
repeated    on any text, the attention on such keys by the queries that have one: Σ A ⊙ D / repeated queries
            (Neuronpedia, compute-head-metrics). `induction`

sink        received(k) / (n − k), averaged over what may look at key k, at the first token; a head is a sink head from
            0.3 on (Attention-Sink, sail-sg)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clearhead import checks
from clearhead.tensors import on_host
from clearhead.textbook.pattern_scores import checked_tokens
from clearhead.traces.stacking import Runs
from clearhead.views import View, repeats

if TYPE_CHECKING:
    from clearhead.traces.result import Trace

SINK = 0.3


class Probe(NamedTuple):
    """A probe's scores, (layers, h) each, NaN where a layer has no such head, and the layers' names.

    induction: the mean of the diagonal 1 − L (TransformerLens, Main_Demo)
    """

    names: list[str]
    induction: np.ndarray
    previous_token: np.ndarray
    duplicate_token: np.ndarray


class Induction(NamedTuple):
    """Two published scores of induction on a text, (h) each, which differ in what they divide by."""

    detector: np.ndarray
    repeated: np.ndarray


def probe(
    model: Any, *, length: int = 50, vocabulary: int | None = None, first: int | None = None, seed: int = 0
) -> Probe:
    """Which heads of a language model are induction heads: it reads a random sequence twice.

    length: how many tokens the sequence has. vocabulary: how many ids there are to draw from; the model's own unless
    given. first: an id to begin with, such as a model's beginning of text; the model's own unless given, if it has one.

    Scores are means over the second reading of the weight on the token after the first occurrence (induction), on the
    first occurrence itself (duplicate_token) and, over all, on the token before (previous_token). Of the published
    scores of induction this is TransformerLens's mean of the diagonal 1 − L.
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


def induction(view: View, token_ids: Any) -> Induction:
    """How much of each head's attention lies on what followed earlier places of the query's token, by two definitions.

    token_ids (n): the tokens of the keys, of which the queries are the last. See the top of `clearhead.traces.probing`;
    the third definition is `clearhead.probe`, which makes its own text.
    """
    ids = checked_tokens(on_host(token_ids), view.n_q, view.n_k, view.batch_shape)
    mass = repeats.masses(view, ids)["induction"].mass.astype(np.float64)
    before = np.concatenate([np.zeros_like(ids[..., :1], np.bool_), ids[..., 1:] == ids[..., :-1]], axis=-1)
    own = before[
        ..., view.n_k - view.n_q :
    ]  # where the token before is the same, what followed it is the query's place
    mass = mass + np.where(own, np.asarray(view.on_self), 0)
    place = np.arange(view.n_q) + view.n_k - view.n_q
    _, first, number = np.unique(ids, return_index=True, return_inverse=True)
    again = first[number[view.n_k - view.n_q :]] < place
    total = np.asarray(view.total).sum(axis=-1, dtype=np.float64)
    found = np.where(again, mass, 0).sum(axis=-1)
    return Induction(found / np.maximum(total, np.finfo(np.float64).tiny), found / max(int(again.sum()), 1))


def sinks(view: View) -> np.ndarray:
    """How much attention the first token gets from each query that may look at it, on average: (h) (Attention-Sink)"""
    return np.asarray(view.received)[..., 0] / view.n_q


def sink_share(trace: Trace) -> float:
    """The share of heads that are sink heads: those whose first token gets more than 0.3 (Attention-Sink, sail-sg)."""
    scores = np.concatenate([np.ravel(sinks(view)) for view in trace])
    return float((scores > SINK).mean())


def _table(rows: list[np.ndarray]) -> np.ndarray:
    table = np.full((len(rows), max((len(row) for row in rows), default=0)), np.nan)
    for number, row in enumerate(rows):
        table[number, : len(row)] = row
    return table
