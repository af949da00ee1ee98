"""What may be drawn over an image: pixels, a grid of patches that fits them, and one weight for each patch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from clearhead import checks
from clearhead.figures.source import checked_head, source
from clearhead.matrices import as_floats, check_weights
from clearhead.textbook.image import patch_grid

CLASS_TOKEN = "class"


class PatchGrid(NamedTuple):
    """rows × columns of patches, each height × width pixels, numbered row by row."""

    rows: int
    columns: int
    height: int
    width: int

    @property
    def size(self) -> int:
        return self.rows * self.columns


class PatchAttention(NamedTuple):
    """What one query gives each patch; its place in the grid, if it has one; what it gives the class token."""

    weights: Float[np.ndarray, "rows columns"]
    place: tuple[int, int] | None
    on_class: float | None


def checked_image(image: ArrayLike) -> Float[np.ndarray, "height width 3"]:
    """The image as red, green and blue from 0 to 1.

    image (H, W) or (H, W, 3), uint8 or floats from 0 to 1 → (H, W, 3) in float32
    """
    tensor: Any = image
    array = np.asarray(tensor.detach().cpu() if hasattr(tensor, "detach") else tensor)
    if array.dtype != np.uint8 and array.dtype.name not in checks.FLOAT_TYPES:
        raise TypeError(
            f"image must be uint8 or floats from 0 to 1, got {array.dtype.name} "
            "(image.astype(np.uint8) if its values run from 0 to 255)"
        )
    if array.ndim not in (2, 3) or array.shape[2:] not in ((), (3,)) or array.size == 0:
        hint = ""
        if array.ndim == 3 and array.shape[0] == 3:
            hint = " (image.transpose(1, 2, 0) puts the colours last)"
        elif array.ndim == 3 and array.shape[2] == 4:
            hint = " (image[..., :3] leaves out the opacity)"
        elif array.ndim == 4 or array.shape[2:] == (1,):
            hint = " (take one image: image[0] of a batch, image[..., 0] of a single channel)"
        raise ValueError(f"image must be (H, W) or (H, W, 3), got shape {array.shape}{hint}")
    if array.dtype == np.uint8:
        pixels = array.astype(np.float32) / 255
    else:
        pixels = array.astype(np.float32)
        if not (pixels.min() >= 0 and pixels.max() <= 1):  # NaN fails too
            raise ValueError(
                f"an image of floats must run from 0 to 1, got {pixels.min():g} to {pixels.max():g} "
                "(divide by 255, or undo the normalisation the model was fed with)"
            )
    return np.repeat(pixels[..., None], 3, axis=-1) if pixels.ndim == 2 else pixels


def image_grid(height: int, width: int, patch_size: int | tuple[int, int]) -> PatchGrid:
    """The patches of an image of height × width pixels."""
    rows, columns = patch_grid((height, width), patch_size)
    return PatchGrid(rows, columns, height // rows, width // columns)


def patch_attention(weights: ArrayLike, patch: int | tuple[int, int] | str, grid: PatchGrid) -> PatchAttention:
    """The weights of one query over the patches.

    weights (n, n), (n), (n + 1, n + 1) or (n + 1), where n is the number of patches and one more is a class token
    """
    table, has_class = _weight_table(weights, grid)
    check_weights(table)
    place = None if patch == CLASS_TOKEN else _place(patch, grid)
    if place is None and not has_class:
        raise ValueError(f"patch='class' needs weights for a class token and {grid.size} patches, got {grid.size} only")
    query = 0 if place is None else place[0] * grid.columns + place[1] + has_class
    row = table[query if len(table) > 1 else 0]
    on_class = float(row[0]) if has_class else None
    return PatchAttention(row[int(has_class) :].reshape(grid.rows, grid.columns), place, on_class)


def view_row(
    view: Any, patch: int | tuple[int, int] | str, grid: PatchGrid, *, head: int | None, batch: Any
) -> Float[np.ndarray, " n"]:
    """The weights of one patch on all of them, asked of a view: one head's, or the mean of all."""
    drawn = source(view, batch=batch)
    if drawn.n_q != drawn.n_k or drawn.n_k not in (grid.size, grid.size + 1):
        raise ValueError(
            f"an image of {grid.rows} × {grid.columns} patches needs a view of {grid.size} × {grid.size} positions, or "
            f"one more with a class token, got {drawn.n_q} × {drawn.n_k}"
        )
    has_class = drawn.n_k - grid.size
    place = None if patch == CLASS_TOKEN else _place(patch, grid)
    query = 0 if place is None else place[0] * grid.columns + place[1] + has_class
    where, number = drawn.one(checked_head(head, drawn.heads))
    return where.window(number, slice(query, query + 1), slice(0, drawn.n_k))[0]


def _weight_table(weights: ArrayLike, grid: PatchGrid) -> tuple[Float[np.ndarray, "n_q n_k"], bool]:
    """One row for each query, or just one; and whether a class token stands before the patches."""
    array = as_floats("weights", weights)
    while array.ndim > 2 and len(array) == 1:
        array = array[0]
    table = array[None] if array.ndim == 1 else array
    n = grid.size
    if table.ndim != 2 or table.shape[1] not in (n, n + 1) or table.shape[0] not in (1, table.shape[1]):
        hint = "; pick a head, weights[0] say, or average them, weights.mean(0)" if array.ndim > 2 else ""
        raise ValueError(
            f"an image of {grid.rows} × {grid.columns} patches needs weights of shape ({n}, {n}) or ({n},), "
            f"or with a class token ({n + 1}, {n + 1}) or ({n + 1},), got shape {array.shape}{hint}"
        )
    return table.astype(checks.compute_type(table.dtype)), table.shape[1] == n + 1


def _place(patch: int | tuple[int, int] | str, grid: PatchGrid) -> tuple[int, int]:
    """Row and column of a patch."""
    if isinstance(patch, str):
        raise ValueError(f"patch must be a number, a (row, column) or 'class', got {patch!r}")
    if isinstance(patch, tuple):
        if len(patch) != 2:
            raise ValueError(f"patch must be a number, a (row, column) or 'class', got {patch!r}")
        row, column = (checks.count("patch", index, least=0) for index in patch)
    else:
        row, column = divmod(checks.count("patch", patch, least=0), grid.columns)
    if row >= grid.rows or column >= grid.columns:
        raise ValueError(
            f"patch {patch} lies outside the image, which has {grid.rows} rows of {grid.columns} patches "
            f"(0 … {grid.size - 1})"
        )
    return row, column
