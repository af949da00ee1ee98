"""What a page shows, checked and put in order, whatever its dress: layers, labels and images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from clearhead import checks
from clearhead.languages import spoken
from clearhead.page.packing import Chunk
from clearhead.page.reading import Layer
from clearhead.page.shown import Shown, as_shown, images_of, trace_names
from clearhead.text.labels import visible

VERSION = 1
Tables = list[list[str]]
Layers = Sequence[tuple[str, Any] | Shown]


class Content(NamedTuple):
    """A page before it is written, served or put into a notebook.

    layers: what is read off each; tables: every list of labels; images: the pixels of each, by name
    entries: what the header says of each layer beside its maps; about: what it says of the page
    """

    layers: list[Layer]
    tables: Tables
    images: dict[str, Chunk]
    entries: list[dict[str, Any]]
    about: dict[str, Any]


def gathered(
    layers: Layers,
    *,
    tokens: Sequence[object] | None = None,
    key_tokens: Sequence[object] | None = None,
    title: str | None = None,
    language: str | None = None,
    batch: int | tuple[int, ...] | None = None,
    traces: Sequence[str] | None = None,
) -> Content:
    """Layers and options as `clearhead.page.write` takes them, checked."""
    shown = [as_shown(number, layer) for number, layer in enumerate(layers)]
    read = [_layer(layer, batch) for layer in shown]
    if not read:
        raise ValueError("there are no layers to show; give at least one, such as [('layer 0', view)]")
    tables, places = _tables(read, tokens, key_tokens)
    images, pictures, pictured = images_of(shown)
    entries = [
        {
            "stack": layer.stack, "trace": layer.trace, "prompt": layer.prompt, "image": image,
            "tokens": [queries, keys],
        }
        for layer, (queries, keys), image in zip(shown, places, pictured, strict=True)
    ]  # fmt: skip
    about: dict[str, Any] = {
        "version": VERSION,
        "title": visible(title or "clearhead"),
        "language": spoken(language),
        "traces": [name and visible(name) for name in trace_names(shown, traces)],
        "images": images,
    }
    return Content(read, tables, pictures, entries, about)


def _layer(shown: Shown, batch: int | tuple[int, ...] | None) -> Layer:
    """One layer at its place of the batch, checked."""
    name, matrix = shown.name, shown.matrix
    shape = matrix.batch_shape
    places = () if batch is None else batch if isinstance(batch, tuple) else (batch,)
    if batch is None and all(size == 1 for size in shape):
        places = (0,) * len(shape)
    if len(places) != len(shape):
        raise ValueError(
            f"{name} has batch axes {shape}, of which a page shows one place; batch= must have {len(shape)} "
            f"numbers, got {batch}"
        )
    for place, size in zip(places, shape, strict=True):
        if not 0 <= place < size:
            raise ValueError(f"batch {place} is out of range; there are {size}: 0 … {size - 1}")
    return Layer(visible(name), matrix, places, extra=shown.statistics)


def _tables(
    layers: Sequence[Layer], tokens: Sequence[object] | None, key_tokens: Sequence[object] | None
) -> tuple[list[list[str]], list[tuple[int | None, int | None]]]:
    """Every list of labels once, and which of them name the queries and the keys of each layer."""
    tables: list[list[str]] = []

    def number_of(labels: Sequence[object] | None, at: tuple[int, ...]) -> int | None:
        if labels is None:
            return None
        chosen = np.asarray(labels, object)[at] if at and np.ndim(np.asarray(labels, object)) > 1 else labels
        texts = [visible(str(label)) for label in chosen]
        if texts not in tables:
            tables.append(texts)
        return tables.index(texts)

    places = []
    for layer in layers:
        if tokens is not None or key_tokens is not None:
            queries, keys = checks.axis_tokens(tokens, key_tokens, layer.n_q, layer.n_k)
        else:
            queries, keys = layer.matrix.tokens or (None, None)
        places.append((number_of(queries, layer.batch), number_of(keys, layer.batch)))
    return tables, places
