"""Masses, mixtures and what keys receive are sums over the weights."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead import masks
from clearhead.views import look

H, N_Q, N_K, D = 3, 37, 53, 7


def draw(*shape: int, seed: int = 0, dtype: str = "float64") -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.fixture
def arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return draw(2, H, N_Q, D), draw(2, H, N_K, D, seed=1), draw(2, H, N_K, 11, seed=2)


class TestMass:
    @pytest.mark.parametrize(
        "further",
        [
            pytest.param(masks.causal(offset=3), id="causal"),
            pytest.param(masks.window(5, 2), id="window"),
            pytest.param(~masks.dilated(3), id="rule"),
            pytest.param(masks.dilated(3), id="period"),
            pytest.param(masks.prefix(0), id="nothing"),
            pytest.param(np.arange(N_K) % 5 == 2, id="array"),
            pytest.param(~masks.prefix(9), id="not"),
        ],
    )
    @pytest.mark.parametrize(
        "mask", [None, masks.causal(), draw(N_Q, N_K, seed=7) > 0, draw(N_Q, N_K, seed=8)],
        ids=["no mask", "causal", "boolean", "float"],
    )  # fmt: skip
    def test_is_the_sum_of_the_weights_there(self, arrays, further, mask):
        view = look(*arrays, mask=mask, sinks=draw(H, seed=5), softcap=3.0)
        kept = further if isinstance(further, np.ndarray) else further.array(N_Q, N_K)
        np.testing.assert_allclose(view.mass(further), (view.weights() * kept).sum(axis=-1), rtol=1e-12, atol=1e-15)

    def test_of_everything_is_what_sinks_leave(self, arrays):
        view = look(*arrays, sinks=draw(H, seed=5))
        np.testing.assert_allclose(view.mass(), view.weights().sum(axis=-1), rtol=1e-12)
        assert look(*arrays, mask=masks.prefix(0)).mass().max() == 0

    def test_mix_and_received_from(self, arrays):
        view = look(*arrays, mask=masks.causal(), sinks=draw(H, seed=5), bias=draw(H, 1, N_K, seed=6))
        np.testing.assert_allclose(view.mix(arrays[2]), view.output, rtol=1e-12)
        column = draw(N_K, 1, seed=8)
        np.testing.assert_allclose(view.mix(column), view.weights() @ column, rtol=1e-12, atol=1e-14)
        shares = draw(2, 1, N_Q, seed=9)
        expected = (view.weights() * shares[..., None]).sum(axis=-2)
        np.testing.assert_allclose(view.received_from(shares), expected, rtol=1e-12, atol=1e-14)

    def test_other_values_are_not_rounded_to_half_precision(self):
        q, k = draw(2, 5, 3, dtype="float16"), draw(2, 7, 3, seed=1, dtype="float16")
        view = look(q, k)
        mixed = view.mix(np.eye(7, dtype=np.float32))
        assert mixed.dtype == np.float32
        np.testing.assert_allclose(mixed, view.weights(), rtol=1e-6)


class TestErrors:
    def test_of_masses(self, arrays, unchecked):
        with pytest.raises(TypeError, match=r"mask must be a mask from clearhead.masks or boolean .* got float64"):
            look(*arrays).mass(np.ones((N_Q, N_K)))
        with pytest.raises(ValueError, match=r"mask of shape \(5, 5\) does not broadcast"):
            look(*arrays).mass(np.ones((5, 5), bool))

    def test_of_values_and_shares(self, arrays, unchecked):
        with pytest.raises(ValueError, match=r"values need a row for each of the 53 keys, got shape \(5, 2\)"):
            look(*arrays).mix(np.ones((5, 2)))
        with pytest.raises(ValueError, match=r"shares of shape \(5,\) do not broadcast to \(2, 3, 37\)"):
            look(*arrays).received_from(np.ones(5))
