"""How much of each map fits."""

from __future__ import annotations

import base64
import zlib

import numpy as np
import pytest
from tests.page.conftest import seen

from clearhead.page.fitting import fitted
from clearhead.page.packing import Chunk
from clearhead.page.reading import Layer

TYPES = {"u1": np.uint8, "u2": "<u2", "u4": "<u4", "f4": "<f4"}


def opened(chunk: Chunk) -> dict[str, np.ndarray]:
    raw, at, arrays = zlib.decompress(base64.b64decode(chunk.text)), 0, {}
    for name, kind, shape in chunk.arrays:
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(raw, TYPES[kind], count, at).reshape(shape)
        at += count * int(kind[1])
    assert at == len(raw)
    return arrays


def test_what_fits_is_exact():
    view = seen(23)
    packed = fitted([Layer("a", view)], 10**6)
    assert packed.layers[0]["exact"]
    weights = opened(packed.chunks["0.1"])["weights"]
    np.testing.assert_array_equal(np.maximum(weights, 0), view.weights(head=1))


def test_what_does_not_fit_is_coarser_with_the_strongest_keys_exact():
    view = seen(401, map_size=512)
    sizes = []
    for most in (400_000, 120_000):
        packed = fitted([Layer("a", view)], most)
        entry, arrays = packed.layers[0], opened(packed.chunks["0.2"])
        assert not entry["exact"]
        assert sum(len(chunk.text) for chunk in packed.chunks.values()) <= most
        keys = packed.detail.keys
        np.testing.assert_array_equal(arrays["top_weights"], view.top_k.weights[2][:, :keys])
        expected = np.where(view.top_k.indices[2] < 0, 0xFFFF, view.top_k.indices[2])[:, :keys]
        np.testing.assert_array_equal(arrays["top_indices"], expected)
        assert arrays["cells"].shape == (-(-401 // entry["by_q"]), -(-401 // entry["by_k"]))
        sizes.append(arrays["cells"].size)
    assert sizes[0] > sizes[1]


def test_cells_say_the_mean_of_their_weights():
    view = seen(130, causal=False)
    packed = fitted([Layer("a", view)], 45_000)
    entry, arrays = packed.layers[0], opened(packed.chunks["0.0"])
    by = entry["by_q"]
    assert by > 1
    head = entry["heads"][0]
    values = head["low"] * (head["high"] / head["low"]) ** ((arrays["cells"].astype(float) - 2) / 252)
    np.testing.assert_allclose(values, view.tile(0, size=-(-130 // by)), rtol=0.03)


def test_what_never_fits_is_refused():
    with pytest.raises(ValueError, match=r"3 heads of 2,003 queries do not fit into 0.01 MB, even with 64 × 64 cells"):
        fitted([Layer("a", seen(2003))], 10_000)
