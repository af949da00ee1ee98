"""Weights that are computed again are those the call had: exact, and the same to the bit in any window."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead import biases, masks
from clearhead.call import prepare
from clearhead.dispatch import attention
from clearhead.kernels import recompute
from clearhead.kernels.gradients import gradients
from clearhead.kernels.launch import compute_with_sums, sums_of
from clearhead.kernels.observation import observe
from clearhead.textbook.attention import scaled_dot_product_attention
from clearhead.textbook.validate import validate_attention
from clearhead.views import look
from clearhead.views.allowed import allowed

N_Q, N_K = 131, 403
SPREADS = [1, 5, 30, 300]


def draw(*shape: int, seed: int = 0, kind: type = np.float32) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(kind)


def in_four_orders(function, q, k, *others):
    """What a function of the textbook gives in float32, with the width of q and k in several orders."""
    for n in range(4):
        order = np.random.default_rng(n).permutation(q.shape[-1])
        yield function(q[..., order], k[..., order], *others), order


def root_mean_square(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(x, dtype=np.float64))))


@pytest.mark.parametrize("spread", SPREADS)
def test_weights_are_as_exact_as_the_textbooks(spread):
    """However large the scores are: an lse rounded to float32 made five to ten times the textbook's error."""
    q, k, v = (draw(2, 3, 200, 32, seed=n) for n in range(3))
    q = q * np.float32(spread)
    exact = scaled_dot_product_attention(*(x.astype(np.float64) for x in (q, k, v)))[1]
    view = look(q, k, v)
    found = view.weights()
    plain = [weights for (_, weights), _ in in_four_orders(scaled_dot_product_attention, q, k, v)]
    largest = np.abs(q @ k.swapaxes(-1, -2)).max() / np.sqrt(32)
    unit = np.finfo(np.float32).eps * max(1, largest / 4)  # the floors are the judge's
    for size, floor in ((lambda x: np.abs(x).max(), 2 * unit), (root_mean_square, unit / 4)):
        assert size(found - exact) <= max(floor, *(size(x - exact) for x in plain))
    assert np.abs(found.sum(axis=-1, dtype=np.float64) - 1).max() < 1e-6
    validate_attention(found)
    np.testing.assert_array_equal(view.max_weight, found.max(axis=-1))
    best = np.take_along_axis(found, view.top_k.indices, axis=-1)
    np.testing.assert_array_equal(view.top_k.weights, best)


@pytest.mark.parametrize("spread", SPREADS)
def test_gradients_are_as_exact_as_the_textbooks(spread):
    q, k, v, gradient = (draw(2, 3, 200, 32, seed=n) for n in range(4))
    q = q * np.float32(spread)

    def plain(q, k, v, gradient):
        output, weights = scaled_dot_product_attention(q, k, v)
        slopes = weights * (gradient @ v.swapaxes(-1, -2) - (gradient * output).sum(axis=-1, keepdims=True))
        scale = q.dtype.type(1 / np.sqrt(q.shape[-1]))
        return slopes @ k * scale, slopes.swapaxes(-1, -2) @ q * scale, weights.swapaxes(-1, -2) @ gradient

    exact = plain(*(x.astype(np.float64) for x in (q, k, v, gradient)))
    usual = []
    for (d_q, d_k, d_v), order in in_four_orders(plain, q, k, v, gradient):
        back = np.argsort(order)
        usual.append((d_q[..., back], d_k[..., back], d_v))
    call = prepare(q, k, v, lse=True)
    output, lse, sums = compute_with_sums(call)
    found = gradients(call, output, lse, gradient, shapes=(q.shape, k.shape, v.shape), sums=sums)
    for n, (got, true) in enumerate(zip(found[:3], exact, strict=True)):
        bound = max(root_mean_square(x[n] - true) for x in usual)
        assert root_mean_square(got - true) <= 1.1 * bound, "qkv"[n]  # four orders do not make the worst of all


CALLS = {
    "plain": {},
    "causal": {"mask": masks.causal()},
    "two runs": {"mask": masks.window(29) | masks.prefix(7)},
    "array": {"mask": draw(2, 1, N_Q, N_K, seed=5) > 0},
    "rule": {"mask": masks.where(lambda b, h, i, j: (b + h + i + j) % 3 > 0)},
    "rule and runs": {"mask": masks.where(lambda b, h, i, j: (b + h + i * j) % 5 > 0) & masks.causal()},
    "period": {"mask": masks.dilated(3)},
    "period and runs": {"mask": masks.dilated(7) & masks.window(90), "bias": biases.alibi(6)},
    "bias": {"bias": np.where(draw(6, 1, N_K, seed=6) > -1, draw(6, N_Q, N_K, seed=7), -np.inf)},
    "alibi": {"bias": biases.alibi(6), "mask": masks.causal()},
    "sinks and softcap": {"sinks": draw(6, seed=8), "softcap": 3.0, "mask": masks.causal()},
    "no key left": {"mask": masks.key_lengths([0, 300])},
}
SOME = np.array([5, 130, 3, 3])
WINDOWS = [
    (slice(10, 77), slice(3, 399)),
    (slice(100, 101), slice(None)),
    (slice(None), slice(200, 201)),
    (slice(3, 120, 7), slice(300, None)),
    (SOME, np.array([7, 402, 0, 7, 200])),
    (slice(64, 131), np.arange(N_K)[::-3]),
    (slice(5, 5), slice(None)),
]


@pytest.fixture(params=CALLS)
def call(request):
    q, k = draw(2, 6, N_Q, 24) * np.float32(3), draw(2, 2, N_K, 24, seed=1)
    return prepare(q, k, k, lse=True, **CALLS[request.param])


def test_any_window_has_the_bits_of_the_whole(call):
    sums = observe(call, output=False).sums
    whole = recompute.weights(call, sums)
    assert whole.shape == (2, 6, N_Q, N_K)
    for rows, cols in WINDOWS:
        np.testing.assert_array_equal(recompute.weights(call, sums, rows, cols), whole[..., rows, :][..., cols])
        alone = recompute.weights(*recompute.of_head(call, sums, (1,), 4), rows, cols)
        np.testing.assert_array_equal(alone[0], whole[1, 4][rows][:, cols])
        entry = recompute.weights(*recompute.of_entry(call, sums, (1,)), rows, cols)
        np.testing.assert_array_equal(entry, whole[1][:, rows][:, :, cols])


def test_the_weights_give_the_output_and_the_statistics(call):
    watched = observe(call)
    weights = recompute.weights(call, watched.sums).astype(np.float64)
    values = np.repeat(call.v, 3, axis=-3)
    np.testing.assert_allclose(weights @ values, watched.output, atol=3e-6)
    np.testing.assert_allclose(weights.sum(axis=-2), watched.observation.received, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(weights.max(axis=-1), watched.observation.max_weight)


@pytest.mark.parametrize("bits", [(0, 0), (3, 4), (6, 5), (7, 9), (2, 0)])
def test_pooled_is_the_weights_in_cells(call, bits):
    sums = observe(call, output=False).sums
    rows, cols = slice(3, 130), slice(10, 400)
    weights = recompute.weights(call, sums, rows, cols).astype(np.float64)
    there = np.ones(weights.shape, bool)
    if call.period > 1 or any(x is not None for x in (call.ranges, call.allowed, call.rule, call.bias, call.table)):
        there = np.stack([[_allowed(call, batch, head)[rows, cols] for head in range(6)] for batch in range(2)])
    found = recompute.pooled(call, sums, rows, cols, *bits)
    tall, wide = (1 << b for b in bits)

    def cells(x: np.ndarray) -> np.ndarray:
        x = np.pad(x, ((0, 0), (0, 0), (0, -127 % tall), (0, -390 % wide)))
        return x.reshape(2, 6, -(-127 // tall), tall, -(-390 // wide), wide)

    np.testing.assert_allclose(found.total, cells(weights).sum(axis=(3, 5)), rtol=2e-6, atol=1e-12)
    np.testing.assert_array_equal(found.peak, cells(weights).max(axis=(3, 5)))
    np.testing.assert_array_equal(found.unmasked, cells(there).sum(axis=(3, 5)))


def _allowed(call, batch, head):
    return allowed(call, (batch,), head, np.arange(N_Q)[:, None], np.arange(N_K))


@pytest.mark.parametrize("kind", [np.float16, np.float64])
def test_in_other_types(kind):
    q, k = draw(3, 37, 17, kind=kind), draw(3, 211, 17, seed=1, kind=kind)
    call = prepare(q, k, k, lse=True, mask=masks.causal())
    found = recompute.weights(call, observe(call).sums)
    exact = scaled_dot_product_attention(*(x.astype(np.float64) for x in (q, k, k)), masks.causal().array(37, 211))[1]
    assert found.dtype == (np.float64 if kind == np.float64 else np.float32)
    np.testing.assert_allclose(found, exact, rtol=1e-12 if kind == np.float64 else 1e-5, atol=1e-30)


def test_the_shares_of_parts_add_up():
    """Also where every score is so low that nothing of the sums is left in an lse."""
    q, k = draw(3, 7, 16), draw(3, 900, 16, seed=1)
    for bias in (None, np.full((1, 900), -1e30, np.float32)):
        whole = sums_of(prepare(q, k, k, bias=bias))
        parts = [sums_of(prepare(q, k, k, bias=bias, mask=m)) for m in (masks.prefix(400), ~masks.prefix(400))]
        shares = [part.share_in(whole) for part in parts]
        np.testing.assert_allclose(shares[0] + shares[1], 1, rtol=1e-6)
        if bias is not None:
            np.testing.assert_allclose(shares[0], 400 / 900, rtol=1e-6)


def test_looking_gives_the_bits_of_attention_where_the_last_strip_is_short():
    """A strip of one query goes the way of few queries, watched or not."""
    q, k, v = draw(3, 257, 32), draw(3, 191, 32, seed=1), draw(3, 191, 32, seed=2)
    flags = np.random.default_rng(3).random((257, 191)) > 0.5
    mask = (masks.causal() & masks.array(flags)) | masks.prefix(84)
    expected, lse = attention(q, k, v, mask=mask, return_lse=True)
    view = look(q, k, v, mask=mask)
    np.testing.assert_array_equal(view.output, expected)
    np.testing.assert_array_equal(view.lse, lse)
