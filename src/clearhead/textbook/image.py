"""Attention over an image: cut it into patches, and a picture is a sequence like any other.

Patches are counted as one reads, left to right and then down: patch row · columns + column. The same order is used
inside a patch, so nothing is lost and `join_patches` gives the image back. Drawing is left to the figures.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Shaped

from clearhead import checks
from clearhead.textbook.attention import self_attention
from clearhead.textbook.linear_map import linear


def cut_patches(
    image: Shaped[np.ndarray, " *shape"], patch_size: int | tuple[int, int], *, channels: bool = False
) -> Shaped[np.ndarray, "... n patch"]:
    """Cut an image into patches, each flattened to a row.

    image (…, H, W), or (…, H, W, C) with channels=True → patches (…, n, p · p) or (…, n, p · p · C)

    A patch is `patch_size` pixels wide and high, or (height, width). Any type of number will do.
    """
    image = checks.as_array("image", image)
    least = 3 if channels else 2
    if image.ndim < least:
        axes = "(…, H, W, C)" if channels else "(…, H, W)"
        raise ValueError(f"image needs at least {least} dimensions, {axes}, got shape {image.shape}")
    pixels = image if channels else image[..., None]
    *leading, height, width, colours = pixels.shape
    patch_height, patch_width = _patch_size(patch_size)
    rows, columns = patch_grid((height, width), patch_size)
    grid = pixels.reshape(*leading, rows, patch_height, columns, patch_width, colours)
    patches = grid.swapaxes(-4, -3)  # (…, rows, columns, p, p, C)
    return patches.reshape(*leading, rows * columns, patch_height * patch_width * colours)


def join_patches(
    patches: Shaped[np.ndarray, "... n patch"],
    image_size: tuple[int, int],
    patch_size: int | tuple[int, int],
    *,
    channels: bool = False,
) -> Shaped[np.ndarray, " *shape"]:
    """Put patches back where `cut_patches` took them from.

    patches (…, n, p · p) or (…, n, p · p · C)  image_size (H, W) → image (…, H, W), or (…, H, W, C) with channels=True
    """
    patches = checks.as_array("patches", patches)
    patch_height, patch_width = _patch_size(patch_size)
    rows, columns = patch_grid(image_size, patch_size)
    height, width = rows * patch_height, columns * patch_width
    area = patch_height * patch_width
    if patches.ndim < 2 or patches.shape[-2] != rows * columns:
        raise ValueError(
            f"an image of {height} × {width} pixels has {rows} × {columns} = {rows * columns} patches of "
            f"{patch_height} × {patch_width}, so patches must have shape (…, {rows * columns}, …), got {patches.shape}"
        )
    if patches.shape[-1] % area or (patches.shape[-1] != area and not channels):
        expected = f"a multiple of {area}" if channels else f"{area} (with colours, say channels=True)"
        raise ValueError(
            f"a patch of {patch_height} × {patch_width} pixels has {area} numbers per channel, so the last axis of "
            f"patches must be {expected}, got {patches.shape[-1]}"
        )
    *leading, _, numbers = patches.shape
    grid = patches.reshape(*leading, rows, columns, patch_height, patch_width, numbers // area)
    image = grid.swapaxes(-4, -3).reshape(*leading, height, width, numbers // area)
    return image if channels else image[..., 0]


def embed_patches(
    patches: Float[np.ndarray, "... n patch"],
    W: Float[np.ndarray, "patch d_model"],
    b: Float[np.ndarray, " d_model"] | None = None,
    *,
    positions: Float[np.ndarray, "n d_model"] | None = None,
) -> Float[np.ndarray, "... n d_model"]:
    """Map each patch to a vector, and add to it where the patch was, which its pixels do not say.

    patches (…, n, patch)  W (patch, d_model)  b (d_model,)  positions (n, d_model) → (…, n, d_model)
    """
    patches = checks.as_array("patches", patches)
    if patches.dtype.kind in "iu":
        raise TypeError(
            f"patches must be floats to be embedded, got {patches.dtype.name} "
            "(image.astype(np.float32) / 255 brings pixels into [0, 1])"
        )
    patches = checks.float_array("patches", patches, ndim=2)
    embedded = linear(patches, W, b)
    if positions is None:
        return embedded
    positions = checks.float_array("positions", positions)
    if positions.shape != embedded.shape[-2:]:
        raise ValueError(
            f"positions must have shape {embedded.shape[-2:]}, one row per patch and d_model wide, "
            f"got {positions.shape}"
        )
    kind = checks.compute_type(embedded.dtype, positions.dtype)
    placed: np.ndarray = embedded.astype(kind) + positions.astype(kind)
    return placed.astype(embedded.dtype)


def image_attention(
    image: Float[np.ndarray, " *shape"],
    patch_size: int | tuple[int, int],
    W: Float[np.ndarray, "patch d_model"],
    W_Q: Float[np.ndarray, "d_model d"],
    W_K: Float[np.ndarray, "d_model d"],
    W_V: Float[np.ndarray, "d_model d_v"],
    *,
    b: Float[np.ndarray, " d_model"] | None = None,
    positions: Float[np.ndarray, "n d_model"] | None = None,
    channels: bool = False,
) -> tuple[Float[np.ndarray, "... n d_v"], Float[np.ndarray, "... n n"]]:
    """Let every patch of an image look at every other.

    image (…, H, W), or (…, H, W, C) with channels=True → output (…, n, d_v), weights (…, n, n)
    """
    patches = cut_patches(image, patch_size, channels=channels)
    return self_attention(embed_patches(patches, W, b, positions=positions), W_Q, W_K, W_V)


def attention_map(
    weights: Float[np.ndarray, "... n n"], patch: int, grid: tuple[int, int]
) -> Float[np.ndarray, "... rows columns"]:
    """Where one patch looks, laid out as the patches lie in the image.

    weights (…, n, n) → (…, rows, columns), n = rows · columns; `patch_grid` gives the grid of an image
    """
    weights = checks.float_array("weights", weights, ndim=2)
    rows, columns = _pair("grid", grid, "rows", "columns")
    if weights.shape[-1] != rows * columns:
        raise ValueError(
            f"a grid of {rows} × {columns} has {rows * columns} patches, but the weights are over "
            f"{weights.shape[-1]} keys (a class token is no patch: leave its row and column out)"
        )
    patch = checks.count("patch", patch, least=0)
    if patch >= weights.shape[-2]:
        raise ValueError(f"patch must be less than {weights.shape[-2]}, the number of queries, got {patch}")
    return weights[..., patch, :].reshape(*weights.shape[:-2], rows, columns)


def patch_grid(image_size: tuple[int, int], patch_size: int | tuple[int, int]) -> tuple[int, int]:
    """How many patches lie below and beside each other: (H, W) → (rows, columns)."""
    height, width = _pair("image_size", image_size, "height", "width")
    patch_height, patch_width = _patch_size(patch_size)
    for name, size, step in (("height", height, patch_height), ("width", width, patch_width)):
        if size % step:
            fits = " or ".join(str(multiple) for multiple in (size - size % step, size + -size % step) if multiple)
            raise ValueError(
                f"the image's {name} of {size} pixels cannot be cut into patches of {step}; crop or pad it to {fits}, "
                f"or choose a patch size that divides {size}"
            )
    return height // patch_height, width // patch_width


def _patch_size(patch_size: object) -> tuple[int, int]:
    """(height, width) of a patch, given as such or as one number for both."""
    if isinstance(patch_size, (tuple, list)):
        return _pair("patch_size", patch_size, "height", "width")
    size = checks.count("patch_size", patch_size)
    return size, size


def _pair(name: str, value: object, first: str, second: str) -> tuple[int, int]:
    """Two whole numbers that belong together."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ValueError(f"{name} must be ({first}, {second}), got {value!r}")
    return checks.count(f"the {first} in {name}", value[0]), checks.count(f"the {second} in {name}", value[1])
