"""Gradients of a call of which only the lse was kept: its sums are found again where the lse has too few digits.

That gradients are right where the sums were kept, as they are under torch, is told by the table of calls.
"""

from __future__ import annotations

import numpy as np
import pytest

from clearhead import masks
from clearhead.call import prepare
from clearhead.kernels.gradients import gradients
from clearhead.kernels.launch import compute_with_sums

LOW = -1e30  # a bias beside which nothing of the scores or of their sum is left in the lse

CALLS = {
    "plain": {},
    "causal": {"mask": masks.causal()},
    "a query with no key left": {"mask": masks.key_lengths([900, 0])},
    "sinks": {"sinks": np.array([0.5, -np.inf, 3.0, 90.0])},
    "large scores": {"scale": 40.0},
    "low for every key": {"bias": np.full((1, 900), LOW)},
    "low for most keys": {"bias": np.where(np.arange(900) == 700, 0, LOW)},
    "low for some queries": {"bias": np.where(np.arange(67)[:, None] % 3 == 1, LOW, 0.0), "mask": masks.window(400)},
    "low, by a float mask": {"mask": np.full((67, 900), LOW)},
}


@pytest.mark.parametrize("kind", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("name", CALLS)
def test_the_lse_alone_is_enough(name, kind, rng):
    """Some 900 keys of two heads are split among tasks; each must find the sum over all of them."""
    q, k, v, gradient = (
        rng.standard_normal((2, heads, n, d)).astype(kind)
        for heads, n, d in ((4, 67, 17), (2, 900, 17), (2, 900, 19), (4, 67, 19))
    )
    call = prepare(q, k, v, lse=True, **CALLS[name])
    output, lse, sums = compute_with_sums(call)
    options = {"shapes": (q.shape, k.shape, v.shape), "of_bias": True}
    expected = gradients(call, output, lse, gradient, sums=sums, **options)
    found = gradients(call, output, lse, gradient, **options)
    # the lse is rounded, which moves all weights of a query by that much
    digits = np.finfo(kind).eps * max(1, np.abs(lse[np.abs(lse) < 1e4]).max(initial=1))
    for of, (got, true) in zip(
        ("q", "k", "v", "bias", "table", "sinks"), zip(found, expected, strict=True), strict=True
    ):
        assert (got is None) == (true is None), of
        if true is not None:
            np.testing.assert_allclose(got, true, rtol=0, atol=8 * digits * max(1, np.abs(true).max()), err_msg=of)
