"""A call's description is packed once for each layout: the next call of that layout has its own arrays and answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clearhead import attention, biases, masks, scaled_dot_product_attention
from clearhead.kernels import description
from clearhead.kernels.remembering import Remembered
from clearhead.textbook.dropout import dropout_mask

H, N, D = 3, 21, 5

OPTIONS: dict[str, Any] = {
    "plain": lambda rng: {},
    "ranges": lambda rng: {"mask": masks.key_lengths(rng.integers(0, N, 2))},
    "flags": lambda rng: {"mask": rng.random((N, N)) < 0.6},
    "bias": lambda rng: {"bias": rng.standard_normal((H, N, N)).astype(np.float32)},
    "by distance": lambda rng: {"bias": biases.alibi(rng.random(H))},
    "sinks": lambda rng: {"sinks": rng.standard_normal(H)},
    "scale": lambda rng: {"scale": float(rng.random())},
    "softcap": lambda rng: {"softcap": 1 + float(rng.random())},
    "dropout": lambda rng: {"dropout": 0.5, "seed": int(rng.integers(100))},
    "part": lambda rng: {"dropout": 0.5, "seed": 1, "part": (int(rng.integers(9)), int(rng.integers(9)))},
    "period": lambda rng: {"mask": masks.dilated(int(rng.integers(2, 5)))},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_calls_of_one_layout_do_not_answer_for_each_other(name, rng):
    """In turn, and again from a remembered description, with numbers that are new each time."""
    for _ in range(6):
        q, k, v = rng.standard_normal((3, 2, H, N, D)).astype(np.float32)
        options = OPTIONS[name](rng)
        written = dict(options)
        if isinstance(written.get("bias"), biases.RelativeBias):
            written["bias"] = written["bias"].array(N, N)
        first, second = written.pop("part", (0, 0))
        if "dropout" in written:
            weights = scaled_dot_product_attention(q, k, v)[1]
            factors = dropout_mask(weights.shape, 0.5, options["seed"], first_query=first, first_key=second)
            expected = (weights * factors) @ v
        else:
            expected = scaled_dot_product_attention(q, k, v, **written)[0]
        np.testing.assert_allclose(attention(q, k, v, **options), expected, atol=2e-6)


def test_layouts_are_told_apart(rng):
    """The same shapes, differently strided and typed."""
    x = rng.standard_normal((H, N, D))
    expected = scaled_dot_product_attention(x, x, x)[0]
    for q in (x, np.asfortranarray(x), x[:, ::-1][:, ::-1], np.repeat(x, 2, axis=-1)[..., ::2]):
        np.testing.assert_allclose(attention(q, x, x), expected, atol=1e-12)
        np.testing.assert_allclose(attention(q.astype(np.float32), x, x), expected, atol=2e-6)


def test_no_more_than_so_many_are_remembered(monkeypatch, rng):
    packed = Remembered(3)
    monkeypatch.setattr(description, "_packed", packed)
    for n in range(1, 9):
        x = rng.standard_normal((n, D))
        np.testing.assert_allclose(attention(x, x, x), scaled_dot_product_attention(x, x, x)[0], atol=1e-12)
        assert len(packed.values) == min(n, 3)
