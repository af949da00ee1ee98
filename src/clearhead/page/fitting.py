"""How much of each map a file can carry: exact weights where they fit, else cells that grow until they do.

    exact   every weight in float32
    cells   a byte for each cell of 2^l × 2^m places, and each query's strongest keys, exact

What was left out is in the header, so that the page can say what a pixel is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import UInt8

from clearhead.matrices import cell_length, pool
from clearhead.page.packing import Chunk, chunk, coded
from clearhead.page.reading import Layer, shrunk

STAMP = 48  # cells along a side of the small maps
FINEST = 1024  # cells along a side
COARSEST = 64
DEFLATED = 0.12  # of a byte's size, at the least: what is hopeless is not tried
NOBODY = {np.dtype(np.uint16): 0xFFFF, np.dtype(np.uint32): 0xFFFFFFFF}


class Detail(NamedTuple):
    """How finely maps are told: exactly, or in so many cells a side with so many keys of each query."""

    exact: bool
    cells: int
    keys: int


class Packed(NamedTuple):
    """What a file carries: one entry of the header for each layer, and the chunks by name."""

    layers: list[dict[str, Any]]
    chunks: dict[str, Chunk]
    detail: Detail


def fitted(layers: Sequence[Layer], most: int) -> Packed:
    """The finest detail whose chunks are at most so many bytes.

    Raises:
        ValueError: not even the coarsest is.
    """
    for detail in _details(layers):
        if _least_size(layers, detail) > most:
            continue
        packed = _pack(layers, detail, most)
        if packed is not None:
            return packed
    heads, longest = sum(layer.heads for layer in layers), max(layer.n_q for layer in layers)
    raise ValueError(
        f"{heads} heads of {longest:,} queries do not fit into {most / 1e6:.3g} MB, even with {COARSEST} × {COARSEST} "
        "cells and one key for each query; give a larger megabytes=, or fewer layers"
    )


def _details(layers: Sequence[Layer]) -> Iterator[Detail]:
    """From fine to coarse."""
    longest = max((max(layer.n_q, layer.n_k) for layer in layers), default=1)
    keys = max((layer.strongest.indices.shape[-1] for layer in layers if layer.n_q > FINEST), default=8)
    yield Detail(True, longest, 0)
    cells = FINEST if longest <= FINEST else FINEST // 2
    while cells >= COARSEST:
        if cells < 2 * longest:  # two sizes that are both enough are one
            yield Detail(False, cells, keys)
        cells //= 2
    while keys > 1:
        keys //= 2
        yield Detail(False, COARSEST, keys)


def _least_size(layers: Sequence[Layer], detail: Detail) -> float:
    """A bound from below on what the chunks take, known before anything is computed."""
    total = 0.0
    for layer in layers:
        if detail.exact:
            total += layer.heads * layer.n_q * layer.n_k * 4 * 0.5
        else:
            rows, columns = (-(-n // cell_length(n, detail.cells)) for n in (layer.n_q, layer.n_k))
            total += layer.heads * (rows * columns * DEFLATED + layer.n_q * detail.keys * 3)
    return total


def _pack(layers: Sequence[Layer], detail: Detail, most: int) -> Packed | None:
    """Everything at one detail; None as soon as it is too much."""
    entries: list[dict[str, Any]] = []
    chunks: dict[str, Chunk] = {}
    size = 0
    for number, layer in enumerate(layers):
        entry, of_layer = _pack_layer(number, layer, detail)
        entries.append(entry)
        chunks |= of_layer
        size += sum(len(part.text) for part in of_layer.values())
        if size > most:
            return None
    return Packed(entries, chunks, detail)


def _pack_layer(number: int, layer: Layer, detail: Detail) -> tuple[dict[str, Any], dict[str, Chunk]]:
    chunks = {f"{number}.{head}": chunk(head_arrays(layer, head, detail)) for head in range(layer.heads)}
    entry, stamps = layer_entry(layer, detail)
    return entry, {**chunks, f"{number}.stamps": chunk({"stamps": stamps})}


def layer_entry(layer: Layer, detail: Detail) -> tuple[dict[str, Any], UInt8[np.ndarray, "h rows columns"]]:
    """What a header says of a layer and its heads, and the small maps of those."""
    by_q, by_k = _cell(layer, detail)
    names, scores, closest, all_scores = layer.patterns
    heads, stamps = [], []
    for head in range(layer.heads):
        cells = _map(layer, head, detail)
        low, high = coded(cells)[1:]
        small = coded(shrunk(cells, STAMP))
        stamps.append(small.codes)
        heads.append({
            "low": low, "high": high, "stamp": [small.low, small.high],
            "pattern": names[head], "score": _number(scores[head]), "closest": list(closest[head]),
            "telling": _number(layer.telling[head]),
            "statistics": {name: _number(x[head]) for name, x in layer.statistics.items()},
            "scores": {name: _number(x[head]) for name, x in all_scores.items()},
        })  # fmt: skip
    entry = {
        "name": layer.name, "n_q": layer.n_q, "n_k": layer.n_k, "by_q": by_q, "by_k": by_k,
        "exact": detail.exact, "stamped": list(stamps[0].shape), "heads": heads,
    }  # fmt: skip
    return entry, np.stack(stamps)


def head_arrays(layer: Layer, head: int, detail: Detail) -> dict[str, np.ndarray]:
    """What a head is drawn from: its map, its strongest keys where that is not exact, and its strips."""
    cells = _map(layer, head, detail)
    arrays = {"weights": cells} if detail.exact else {"cells": coded(cells).codes, **_keys(layer, head, detail.keys)}
    by_q, by_k = _cell(layer, detail)
    arrays["entropy"] = _pooled(layer.by_query["entropy"][head], by_q)
    arrays["received"] = _pooled(layer.received[head], by_k)
    return arrays


def _map(layer: Layer, head: int, detail: Detail) -> np.ndarray:
    return layer.exact(head) if detail.exact else layer.cells(head, (detail.cells, detail.cells))


def _cell(layer: Layer, detail: Detail) -> tuple[int, int]:
    """How many queries and keys make a cell."""
    if detail.exact:
        return 1, 1
    return cell_length(layer.n_q, detail.cells), cell_length(layer.n_k, detail.cells)


def _keys(layer: Layer, head: int, most: int) -> dict[str, np.ndarray]:
    """The strongest keys of each query and their weights; the largest number stands for none."""
    indices, weights = (x[head][:, :most] for x in layer.strongest)
    kind = np.uint16 if layer.n_k < 0xFFFF else np.uint32
    return {
        "top_indices": np.where(indices < 0, NOBODY[np.dtype(kind)], indices).astype(kind),
        "top_weights": weights.astype(np.float32),
    }


def _pooled(values: np.ndarray, by: int) -> np.ndarray:
    return pool(values[None].astype(np.float32), 1, by)[0].astype(np.float32)


def _number(value: Any) -> float | None:
    """For JSON, which has no NaN; six digits are more than a screen shows."""
    return float(f"{value:.6g}") if np.isfinite(value) else None
