"""Images as models are given them, made visible again."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import torch

from clearhead.traces.images import Image, given_images, patches_of

MODEL = SimpleNamespace(config=SimpleNamespace(patch_size=4))


def test_the_darkest_number_is_black_and_the_brightest_white():
    values = torch.linspace(-2, 3, 2 * 3 * 8 * 4).reshape(2, 3, 8, 4)
    image = given_images(MODEL, (), {"pixel_values": values})
    assert image.pixels.shape == (2, 8, 4, 3)
    assert [(x.min(), x.max()) for x in image.pixels] == [(0, 255), (0, 255)]
    assert np.array_equal(image.pixels[1].transpose(2, 0, 1).ravel(), np.sort(image.pixels[1].ravel()))


def test_what_is_no_image_is_none():
    pixels = torch.zeros(1, 3, 8, 8)
    text = SimpleNamespace(config=SimpleNamespace())
    assert given_images(text, (), {"pixel_values": pixels}) is None
    assert given_images(MODEL, (torch.zeros(1, 8, dtype=torch.int64),), {}) is None
    assert given_images(MODEL, (), {"pixel_values": pixels[0]}) is None
    assert given_images(MODEL, (), {"pixel_values": torch.zeros(1, 5, 8, 8)}) is None
    vision = SimpleNamespace(config=SimpleNamespace(vision_config=SimpleNamespace(patch_size=2)))
    grey = given_images(vision, (pixels[:, :1],), {})
    assert (grey.patch, grey.pixels.shape) == (2, (1, 8, 8, 3))


def test_keys_are_patches_if_there_are_as_many():
    image = Image(np.zeros((8, 12, 3), np.uint8), 4)
    assert patches_of(image, 6)[1:] == (2, 3, 0)
    assert patches_of(image, 7)[1:] == (2, 3, 1)
    assert patches_of(image, 5) is None
    assert patches_of(image, 60) is None
    assert patches_of(None, 7) is None
