"""Joining what was computed from parts of the keys, in the order of the parts, so the bits never vary."""

from __future__ import annotations

import math

import numpy as np

from clearhead.kernels.compiler import kernel


@kernel
def join(outputs, sums, output, lse):
    """outputs (parts, rows, d_v)  sums (parts, rows): each part's log Σ exp → output (rows, d_v), lse (rows,)."""
    parts, rows, d_v = outputs.shape
    for i in range(rows):
        top = -np.inf
        for p in range(parts):
            if sums[p, i] > top or math.isnan(sums[p, i]):
                top = float(sums[p, i])
        total = 0.0
        for x in range(d_v):
            output[i, x] = 0
        if top != -np.inf:
            for p in range(parts):
                total += math.exp(sums[p, i] - top)
            for p in range(parts):
                share = math.exp(sums[p, i] - top) / total
                if sums[p, i] != -np.inf:
                    for x in range(d_v):
                        output[i, x] += share * outputs[p, i, x]
        lse[i] = top + math.log(total) if total != 0 else -np.inf
