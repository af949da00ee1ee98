"""Writing a page: layers of attention into one file that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from clearhead import checks
from clearhead.files import write_whole
from clearhead.page.bundle import script, style
from clearhead.page.content import Layers, gathered
from clearhead.page.document import document
from clearhead.page.fitting import fitted
from clearhead.page.packing import Chunk, packed

MEGABYTES = 10.0


def write(
    path: str | Path,
    layers: Layers,
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
    content = gathered(
        layers, tokens=tokens, key_tokens=key_tokens, title=title, language=language, batch=batch, traces=traces
    )
    most = checks.number("megabytes", megabytes, above=0.0) * 1e6
    labels = Chunk([], packed(json.dumps(content.tables, ensure_ascii=False).encode()))
    own = len(script().encode()) + len(style().encode()) + 2_000 + 900 * sum(x.heads for x in content.layers)
    own += sum(len(part.text) for part in (labels, *content.images.values()))
    found = fitted(content.layers, int(most - own))
    header = content.about | {
        "dress": "file",
        "layers": [entry | more for entry, more in zip(found.layers, content.entries, strict=True)],
        "keys": found.detail.keys,
        "megabytes": megabytes,
    }
    place = Path(path)
    write_whole(place, document(header, {"tokens": labels, **content.images, **found.chunks}).encode())
    return place
