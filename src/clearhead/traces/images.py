"""Images that a model was given: their pixels, to be looked at again, and how large its patches are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clearhead.page import Patches

MOST_SPECIAL = 8  # positions that are no patches: one for the class, or two, and registers


class Image(NamedTuple):
    """pixels (height, width, 3), or (b, height, width, 3) for a batch, and the side of a patch."""

    pixels: np.ndarray
    patch: int


def given_images(model: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Image | None:
    """The images of a call, one for each sequence, if there are any and the model says how it cuts them.

    What a model is given is normalised, and by which numbers it does not say: the darkest and the brightest number of
    an image are drawn as black and white.
    """
    config = getattr(model, "config", None)
    config = getattr(config, "vision_config", config)
    patch = getattr(config, "patch_size", None)
    values: Any = named.get("pixel_values", arguments[0] if arguments else None)
    if not isinstance(patch, int) or not hasattr(values, "detach") or not values.is_floating_point():
        return None
    if values.ndim != 4 or values.shape[1] not in (1, 3):
        return None
    numbers = values.detach().float().cpu().numpy().transpose(0, 2, 3, 1)
    low, high = (x(axis=(1, 2, 3), keepdims=True) for x in (numbers.min, numbers.max))
    share = (numbers - low) / np.maximum(high - low, 1e-12)
    pixels = np.nan_to_num(share * 255).round().astype(np.uint8)
    return Image(np.ascontiguousarray(np.broadcast_to(pixels, (*pixels.shape[:3], 3))), patch)


def patches_of(image: Image | None, n_k: int) -> Patches | None:
    """The image as keys see it, if they are its patches, after a few positions that are not."""
    if image is None:
        return None
    rows, columns = (n // image.patch for n in image.pixels.shape[:2])
    special = n_k - rows * columns
    if not rows * columns or not 0 <= special <= MOST_SPECIAL:
        return None
    return Patches(image.pixels, rows, columns, special)
