"""What a page is given: layers of attention, with what else is known of each.

A name and a matrix are enough. Which stack a layer is of, how many of its positions were given rather than generated,
the image its keys are patches of, and numbers that were measured elsewhere are what more of the views draw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import UInt8

from clearhead import checks
from clearhead.matrices import is_matrix, pool
from clearhead.page.packing import Chunk, chunk

STACKS = ("", "encoder", "decoder", "cross")
LONGEST = 768  # pixels along a side of an image; larger ones are made smaller


class Patches(NamedTuple):
    """An image, and how it was cut: rows × columns patches, after so many positions that are none."""

    pixels: UInt8[np.ndarray, "height width 3"]
    rows: int
    columns: int
    special: int = 0


@dataclass(frozen=True)
class Shown:
    """One layer of a page.

    name, matrix: what it is called, and a `View`, or what else answers `clearhead.matrices.AttentionMatrix`.

    stack: "encoder", "decoder" or "cross", by which layers are grouped; "" where there is one stack.
    trace: the number of the trace that the layer is of, where a page shows several.
    prompt: how many positions were given, where the rest were generated one by one; 0 where every query was.
    image: the image whose patches the keys are.
    statistics: more numbers of each head, (h,) each, by name, such as {"effect": …}.
    """

    name: str
    matrix: Any
    _: KW_ONLY
    stack: str = ""
    trace: int = 0
    prompt: int | None = None
    image: Patches | None = None
    statistics: Mapping[str, Any] | None = None


def as_shown(number: int, layer: object) -> Shown:
    """A layer as it was given, checked.

    Raises:
        TypeError: it is neither a Shown nor a name and a matrix.
        ValueError: what it says of itself does not go with its matrix.
    """
    shown = Shown(*layer) if isinstance(layer, tuple) and len(layer) == 2 else layer
    if not (isinstance(shown, Shown) and isinstance(shown.name, str) and is_matrix(shown.matrix)):
        raise TypeError(
            f"layer {number} must be a name and a View, such as ('layer 0', view), or a page.Shown, "
            f"got {type(layer).__name__}"
        )
    name, matrix = shown.name, shown.matrix
    if 0 in (matrix.n_q, matrix.n_k):
        raise ValueError(f"{name} has {matrix.n_q} queries and {matrix.n_k} keys; there must be one of each to be seen")
    checks.choice("stack", shown.stack, STACKS)
    checks.count("trace", shown.trace, least=0)
    if shown.prompt is not None and not 0 <= checks.count("prompt", shown.prompt, least=0) <= matrix.n_q:
        raise ValueError(f"prompt of {name} must be at most its {matrix.n_q} queries, got {shown.prompt}")
    if shown.image is not None:
        _check_image(name, shown.image, matrix.n_k)
    for title, values in (shown.statistics or {}).items():
        if np.shape(values) != (matrix.heads,):
            raise ValueError(
                f"statistics[{title!r}] of {name} must be one number for each of its {matrix.heads} heads, "
                f"got shape {np.shape(values)}"
            )
    return shown


def _check_image(name: str, image: Patches, n_k: int) -> None:
    pixels = np.asarray(image.pixels)
    if pixels.ndim != 3 or pixels.shape[-1] != 3 or pixels.dtype != np.uint8 or not pixels.size:
        raise ValueError(
            f"the image of {name} must be (height, width, 3) in uint8, got {pixels.shape} in {pixels.dtype}"
        )
    rows, columns, special = image.rows, image.columns, image.special
    if min(rows, columns) < 1 or special < 0 or special + rows * columns > n_k:
        raise ValueError(
            f"{rows} × {columns} patches after {special} positions do not fit the {n_k} keys of {name}; "
            "rows · columns + special must be at most that"
        )


def trace_names(layers: Sequence[Shown], traces: Sequence[str] | None) -> list[str]:
    """The names of the traces that the layers are of: those given, or none where there is one."""
    count = 1 + max((layer.trace for layer in layers), default=0)
    names = [""] if traces is None and count == 1 else list(traces or map(str, range(count)))
    if len(names) < count:
        raise ValueError(f"traces must name all {count} traces that the layers are of, got {len(names)} names")
    return names


def images_of(layers: Sequence[Shown]) -> tuple[list[dict[str, Any]], dict[str, Chunk], list[int | None]]:
    """Every image once: how each was cut, its pixels as a chunk, and which of them each layer looks at."""
    known: list[Patches] = []
    places: list[int | None] = []
    for layer in layers:
        image = layer.image
        if image is None:
            places.append(None)
            continue
        same = (i for i, other in enumerate(known) if _alike(image, other))
        number = next(same, len(known))
        if number == len(known):
            known.append(image)
        places.append(number)
    chunks = {f"image.{i}": chunk({"pixels": _smaller(np.asarray(image.pixels))}) for i, image in enumerate(known)}
    described = [{"rows": x.rows, "columns": x.columns, "special": x.special} for x in known]
    return described, chunks, places


def _alike(image: Patches, other: Patches) -> bool:
    return image[1:] == other[1:] and (image.pixels is other.pixels or np.array_equal(image.pixels, other.pixels))


def _smaller(pixels: UInt8[np.ndarray, "height width 3"]) -> UInt8[np.ndarray, "lower narrower 3"]:
    """An image at most LONGEST pixels a side: means of squares."""
    by = -(-max(pixels.shape[:2]) // LONGEST)
    if by == 1:
        return pixels
    channels = [pool(pixels[..., i].astype(np.float32), by, by) for i in range(3)]
    return np.stack(channels, axis=-1).round().astype(np.uint8)
