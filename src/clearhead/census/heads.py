"""From the trace of one document to numbers of every head: whole numbers, and histograms with fixed bins.

Only layers in which the document looks at itself are counted: nobody translates it, so the decoder of an encoder and
decoder has nothing to read.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from clearhead.census.causes import Cause, UncountedError
from clearhead.census.kinds import KINDS, token_kinds
from clearhead.census.measures import BINS, DISTANCES, LABELS, MASS_STEPS, PATTERNS, distance_bin, quantised
from clearhead.text.labels import labels_of
from clearhead.text.spans import Spans, token_spans
from clearhead.textbook.token_kinds import are, is_punctuation, is_separator
from clearhead.traces.probing import sinks
from clearhead.traces.result import Trace
from clearhead.views import View
from clearhead.views.allowed import counts


class Reading(NamedTuple):
    """A document as the model reads it: its tokens, where they stand in its text, and their kinds.

    placed: whether offsets are those of the document's own text, and not of one put together from the tokens
    """

    ids: list[int]
    labels: list[str]
    spans: Spans
    kinds: Int[np.ndarray, " n"]
    placed: bool


class Seen(NamedTuple):
    """What one document shows of H heads, those of the first layer first.

    steps (H, m): by MEASURES, −1 where there is nothing to measure   labels (H): the number in LABELS of its name
    entropies (H, bins): of the queries   distances (H, distances): mass, in parts of a query's attention
    """

    layers: list[tuple[str, int]]
    steps: Int[np.ndarray, "H m"]
    labels: Int[np.ndarray, " H"]
    entropies: Int[np.ndarray, "H b"]
    distances: Int[np.ndarray, "H d"]
    views: list[View]


def read(ids: list[int], tokenizer: Any, text: str) -> Reading:
    """What ids stand for in the text that they were made from, or from whose beginning."""
    try:
        spans = token_spans(ids, tokenizer, text)
        placed = bool(getattr(tokenizer, "is_fast", False)) and spans.text.startswith(text)  # nothing put before it
    except ValueError:  # a tokenizer that makes other tokens of a text when it adds special ones
        spans, placed = token_spans(ids, tokenizer), False
    labels = labels_of(spans)
    return Reading(ids, labels, spans, token_kinds(ids, labels, spans, set(tokenizer.all_special_ids)), placed)


def seen(trace: Trace, reading: Reading, inside: str = "") -> Seen:
    """What a trace of one forward shows of every head of every layer. inside: how the layers' paths begin"""
    n = len(reading.ids)
    names = [name for name in trace.names if name.startswith(inside)]
    found = [(name, view) for name in names if (view := trace[name]).n_q == view.n_k == n]
    if not found:
        raise UncountedError(Cause.of("no_layer", names=", ".join(trace.names), count=n))
    views = [view for _, view in found]
    named = [view.patterns(np.asarray(reading.labels)) for view in views]
    missing = _missing(reading.labels)
    numbers = np.concatenate([_numbers(v, p.scores, missing, reading.kinds) for v, p in zip(views, named, strict=True)])
    called = np.concatenate([np.atleast_1d(np.asarray(p.labels)) for p in named])
    return Seen(
        [(name, view.heads) for name, view in found],
        quantised(numbers),
        np.array([LABELS.index(name) for name in called], np.int64),
        np.concatenate([_entropies(view) for view in views]),
        np.concatenate([_distances(view) for view in views]),
        views,
    )


def _missing(labels: list[str]) -> set[str]:
    """The patterns that a document cannot show: what is repeated, or a kind of token, is not in it."""
    if len(labels) < 2:  # a token that can only look at itself shows no choice
        return set(PATTERNS)
    tokens = np.asarray(labels)
    repeated = len(set(labels)) < len(labels)
    there = {
        "duplicate_token": repeated,
        "induction": repeated,
        "separator": bool(are(is_separator, tokens).any()),
        "punctuation": bool(are(is_punctuation, tokens).any()),
    }
    return {name for name, found in there.items() if not found}


def _numbers(
    view: View, scores: dict[str, Any], missing: set[str], kinds: Int[np.ndarray, " n"]
) -> Float[np.ndarray, "h m"]:
    """The measures of each head of a layer, by MEASURES; NaN where there is nothing to measure."""
    by_head = {name: np.asarray(scores[name], np.float64).reshape(view.heads) for name in PATTERNS}
    columns = [np.full(view.heads, np.nan) if name in missing else by_head[name] for name in PATTERNS]
    columns.append(np.asarray(sinks(view), np.float64).reshape(view.heads))
    relative, decides = _relative_entropy(view)
    columns.append(_mean(relative, decides))
    columns.append(_mean(_rows(view, view.distance), _rows(view, view.total) != 0))
    return np.stack([*columns, *_received(view, kinds)], axis=-1)


def _rows(view: View, values: Any) -> Float[np.ndarray, "h n"]:
    return np.asarray(values, np.float64).reshape(view.heads, -1)


def key_counts(view: View) -> Int[np.ndarray, "h n"]:
    """How many keys each query of each head may look at."""
    return view.shaped(np.array(counts(view.call))).reshape(view.heads, -1)


def _relative_entropy(view: View) -> tuple[Float[np.ndarray, "h n"], np.ndarray]:
    """The entropy of each query as a part of the most it could be, log n of n keys, and which queries have a choice."""
    keys = key_counts(view)
    decides = (keys > 1) & (_rows(view, view.total) != 0)
    most = np.log(np.maximum(keys, 2))
    return np.clip(_rows(view, view.entropy) / most, 0, 1), decides


def _mean(values: Float[np.ndarray, "h n"], at: np.ndarray) -> Float[np.ndarray, " h"]:
    """The mean of each head over some queries; NaN where there are none."""
    count = at.sum(axis=-1)
    total = np.where(at, values, 0).sum(axis=-1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _received(view: View, kinds: Int[np.ndarray, " n"]) -> list[Float[np.ndarray, " h"]]:
    """The share of a head's attention that tokens of each kind get; NaN where the document has none of a kind."""
    received = _rows(view, view.received)
    total = received.sum(axis=-1)
    shares = []
    for kind in range(len(KINDS)):
        own = received[:, kinds == kind].sum(axis=-1)
        there = bool((kinds == kind).any()) & (total > 0)
        shares.append(np.where(there, np.clip(own / np.where(total > 0, total, 1), 0, 1), np.nan))
    return shares


def _entropies(view: View) -> Int[np.ndarray, "h b"]:
    """How many queries of each head are how undecided."""
    relative, decides = _relative_entropy(view)
    bins = np.minimum((relative * BINS).astype(np.int64), BINS - 1)
    places = np.arange(view.heads)[:, None] * BINS + bins
    return np.bincount(places[decides], minlength=view.heads * BINS).reshape(view.heads, BINS)


def _distances(view: View) -> Int[np.ndarray, "h d"]:
    """How much attention of each head lies how far back, or ahead."""
    found = view.distances()
    mass = _rows(view, found.shares) * _rows(view, view.total).sum(axis=-1, keepdims=True) * MASS_STEPS
    result = np.zeros((view.heads, DISTANCES), np.int64)
    for (first, last), part in zip(found.bins.tolist(), np.rint(mass).astype(np.int64).T, strict=True):
        result[:, distance_bin(first, last)] += part
    return result
