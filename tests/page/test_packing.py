"""Numbers as a page carries them."""

from __future__ import annotations

import base64
import zlib

import numpy as np

from clearhead.page.packing import HIDDEN, MASKED, NOT_A_NUMBER, ZERO, chunk, coded


def decoded(codes: np.ndarray, low: float, high: float) -> np.ndarray:
    return low * (high / low) ** ((codes.astype(np.float64) - 2) / 252)


def test_a_weight_is_off_by_less_than_three_percent(rng):
    weights = np.exp(rng.uniform(np.log(1e-6), 0, 5000)).astype(np.float32)
    weights[:2] = 1, 1e-6
    codes, low, high = coded(weights)
    np.testing.assert_allclose(decoded(codes, low, high), weights, rtol=0.028)


def test_what_is_no_weight_has_codes_of_its_own():
    codes, low, high = coded(np.array([HIDDEN, 0, np.nan, 0.5, 1e-9, 0.25], np.float32))
    assert codes.tolist() == [MASKED, ZERO, NOT_A_NUMBER, 254, ZERO, codes[5]]
    assert 2 < codes[5] < 254
    assert (low, high) == (np.float32(0.5e-6), 0.5)


def test_maps_without_a_range_have_one():
    for weights in (np.zeros((3, 2), np.float32), np.full((2, 2), 0.5, np.float32), np.full(3, np.nan, np.float32)):
        _, low, high = coded(weights)
        assert 0 < low < high


def test_arrays_lie_little_endian_one_after_the_other():
    made = chunk({"a": np.array([[1, 2, 3]], np.uint16), "b": np.array([0.5], np.float32)})
    assert made.arrays == [("a", "u2", [1, 3]), ("b", "f4", [1])]
    assert zlib.decompress(base64.b64decode(made.text)) == b"\x01\0\x02\0\x03\0" + b"\0\0\0\x3f"
