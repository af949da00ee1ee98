"""Attention as its definition reads, in loops over plain Python numbers: a judge that shares no code with clearhead."""

from __future__ import annotations

import math

import numpy as np


def attention_by_loops(Q, K, V, mask=None, *, bias=None, scale=None, softcap=None, sinks=None):
    """Q (…, h, n_q, d)  K (…, h_kv, n_k, d)  V (…, h_kv, n_k, d_v) → output (…, h, n_q, d_v), weights (…, h, n_q, n_k)

    The same leading dimensions everywhere but for the number of heads. A mask may be boolean or additive.
    """
    shape = (*Q.shape[:-1], K.shape[-2])
    mask = np.broadcast_to(True if mask is None else mask, shape)
    bias = np.broadcast_to(0.0 if bias is None else bias, shape)
    output, weights = np.zeros((*Q.shape[:-1], V.shape[-1])), np.zeros(shape)
    for place in np.ndindex(*Q.shape[:-1]):
        batch = kv = place[:-1]
        if batch:
            kv = (*batch[:-1], batch[-1] // (Q.shape[-3] // K.shape[-3]))
        sink = None if sinks is None else float(sinks[batch[-1]])
        row = _weights_of(Q[place], K[kv], mask[place], bias[place], scale, softcap, sink)
        for j, weight in row.items():
            weights[(*place, j)] = weight
        for column in range(V.shape[-1]):
            output[(*place, column)] = math.fsum(weight * float(V[(*kv, j, column)]) for j, weight in row.items())
    return output, weights


def _weights_of(query, keys, mask, bias, scale, softcap, sink):
    """The weight of every key this query may attend to, by its index."""
    scores = {}
    for j in range(len(keys)):
        added = float(bias[j]) + (0.0 if mask.dtype == bool else float(mask[j]))
        if (mask.dtype == bool and not mask[j]) or added == -math.inf:
            continue
        score = math.fsum(float(q) * float(k) for q, k in zip(query, keys[j], strict=True))
        score *= 1 / math.sqrt(len(query) or 1) if scale is None else scale
        if softcap is not None:
            score = softcap * math.tanh(score / softcap)
        scores[j] = score + added
    everything = [*scores.values()] + ([] if sink is None or sink == -math.inf else [sink])
    if not scores:
        return {}
    top = max(everything)
    total = math.fsum(math.exp(score - top) for score in everything)
    return {j: math.exp(score - top) / total for j, score in scores.items()}
