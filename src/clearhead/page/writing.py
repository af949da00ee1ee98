"""Writing a page: layers of attention into one file that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clearhead import checks
from clearhead.files import write_whole
from clearhead.languages import spoken
from clearhead.page.bundle import script, style
from clearhead.page.document import document
from clearhead.page.fitting import fitted
from clearhead.page.packing import Chunk, packed
from clearhead.page.reading import Layer
from clearhead.page.shown import Shown, as_shown, images_of, trace_names
from clearhead.text.labels import visible

VERSION = 1
MEGABYTES = 10.0


def write(
    path: str | Path,
    layers: Sequence[tuple[str, Any] | Shown],
    *,
    tokens: Sequence[object] | None = None,
    key_tokens: Sequence[object] | None = None,
    title: str | None = None,
    language: str | None = None,
    megabytes: float | int = MEGABYTES,
    batch: int | tuple[int, ...] | None = None,
    traces: Sequence[str] | None = None,
) -> Path:
    """Write a page that shows some layers: one HTML file, which needs no network and opens in any browser.

    layers: each a name and a `View`, or what else answers `clearhead.matrices.AttentionMatrix`; or a `Shown`, which
    says more of it → the path

    Args:
        tokens, key_tokens: labels of the queries and the keys of every layer, as in `look`. Those of each layer's own
            unless given.
        language: "en" or "ko", in which the page first speaks; whoever reads it can change that.
        megabytes: how large the file may be. Maps are made coarser until it is not larger; the page says how coarse.
        batch: the place along the batch axes, a number or one for each axis, where there are any.
        traces: names of the traces that the layers are of, where there are several.

    Raises:
        TypeError: a layer is neither a name and a matrix nor a Shown.
        ValueError: there are no layers; there are not as many labels as positions; there is a batch and none of it is
            chosen; or the file would be larger even at its coarsest.
    """
    shown = [as_shown(number, layer) for number, layer in enumerate(layers)]
    read = [_layer(layer, batch) for layer in shown]
    if not read:
        raise ValueError("there are no layers to show; give at least one, such as [('layer 0', view)]")
    most = checks.number("megabytes", megabytes, above=0.0) * 1e6
    tables, places = _tables(read, tokens, key_tokens)
    labels = Chunk([], packed(json.dumps(tables, ensure_ascii=False).encode()))
    images, pictures, pictured = images_of(shown)
    own = len(script().encode()) + len(style().encode()) + 2_000 + 900 * sum(x.heads for x in read)
    own += sum(len(part.text) for part in (labels, *pictures.values()))
    found = fitted(read, int(most - own))
    for entry, layer, (queries, keys), image in zip(found.layers, shown, places, pictured, strict=True):
        entry |= {"stack": layer.stack, "trace": layer.trace, "prompt": layer.prompt, "image": image}
        entry["tokens"] = [queries, keys]
    header: dict[str, Any] = {
        "version": VERSION,
        "dress": "file",
        "title": title or "clearhead",
        "language": spoken(language),
        "traces": trace_names(shown, traces),
        "images": images,
        "layers": found.layers,
        "keys": found.detail.keys,
        "megabytes": megabytes,
    }
    place = Path(path)
    write_whole(place, document(header, {"tokens": labels, **pictures, **found.chunks}).encode())
    return place


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
    return Layer(name, matrix, places, extra=shown.statistics)


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
