from __future__ import annotations

import functools

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st

from clearhead import masks
from clearhead.textbook.masks import create_causal_mask, create_padding_mask
from clearhead.textbook.multi_head import KeyValueCache, MultiHeadAttention, merge_heads, split_heads
from clearhead.textbook.rope import rope

TYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
LEADING = [(), (2,), (2, 3)]
HEADS = [(3, None), (5, 1), (6, 2), (1, None)]


def layer(num_heads=3, *, d_k=7, seed=1, **settings):
    """A layer whose biases are not zero."""
    made = MultiHeadAttention(num_heads * d_k, num_heads, seed=seed, **settings)
    rng = np.random.default_rng(seed)
    for name, array in made.parameters().items():
        if name.startswith("b_"):
            setattr(made, name, rng.normal(size=array.shape).astype(array.dtype))
    return made


def by_loops(attention, Q, K, V, allowed):
    """One query, one head and one key at a time: Q (n_q, d_model), K, V (n_k, d_model), allowed (n_q, n_k)."""
    h, group = attention.num_heads, attention.num_heads // attention.num_kv_heads
    d_k = attention.d_model // h
    q, k, v = (
        x @ getattr(attention, f"W_{name}") + getattr(attention, f"b_{name}")
        for name, x in (("Q", Q), ("K", K), ("V", V))
    )
    weights, concat = np.zeros((h, len(Q), len(K))), np.zeros((len(Q), h * d_k))
    for head in range(h):
        own = slice(head * d_k, (head + 1) * d_k)
        shared = slice(head // group * d_k, (head // group + 1) * d_k)
        for i in range(len(Q)):
            for j in range(len(K)):
                if allowed[i, j]:
                    weights[head, i, j] = np.exp(q[i, own] @ k[j, shared] / np.sqrt(d_k))
            weights[head, i] /= weights[head, i].sum()
            concat[i, own] = sum(weights[head, i, j] * v[j, shared] for j in range(len(K)))
    return concat @ attention.W_O + attention.b_O, weights


def test_worked_example_of_two_heads():
    attention = MultiHeadAttention(2, 2, bias=False)
    for name in ("W_Q", "W_K", "W_V"):
        setattr(attention, name, np.array([[0.5, 0.3], [0.5, 0.3]]))
    attention.W_O = np.eye(2)
    output, weights = attention(np.array([[1.0, 2.0]]))
    np.testing.assert_allclose(output, [[1.5, 0.9]], rtol=1e-15)
    np.testing.assert_array_equal(weights, np.ones((2, 1, 1)))


def test_worked_example_of_eight_heads(rng):
    attention = MultiHeadAttention(512, 8)
    assert attention.num_parameters == 4 * (512**2 + 512) == 1_050_624
    assert attention.W_Q.shape == (512, 8 * 64)
    output, weights = attention(rng.normal(size=(2, 16, 512)))
    assert output.shape == (2, 16, 512)
    assert weights.shape == (2, 8, 16, 16)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-12)


@pytest.mark.parametrize(("num_heads", "num_kv_heads"), HEADS)
def test_self_attention_by_loops(rng, num_heads, num_kv_heads):
    attention = layer(num_heads, num_kv_heads=num_kv_heads)
    X = rng.normal(size=(11, attention.d_model))
    mask = create_causal_mask(11)
    output, weights = attention(X, mask=mask)
    expected, expected_weights = by_loops(attention, X, X, X, mask)
    np.testing.assert_allclose(weights, expected_weights, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(output, expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("num_heads", "num_kv_heads"), HEADS)
@pytest.mark.parametrize("leading", LEADING)
def test_cross_attention_by_loops_with_any_leading_dimensions(rng, num_heads, num_kv_heads, leading):
    attention = layer(num_heads, num_kv_heads=num_kv_heads)
    Q = rng.normal(size=(*leading, 5, attention.d_model))
    K, V = rng.normal(size=(2, *leading, 11, attention.d_model))
    allowed = rng.random((*leading, 5, 11)) < 0.7
    output, weights = attention.forward(Q, K, V, allowed[..., None, :, :])
    for index in np.ndindex(*leading):
        expected, expected_weights = by_loops(attention, Q[index], K[index], V[index], allowed[index])
        np.testing.assert_allclose(weights[index], expected_weights, rtol=1e-11, atol=1e-14)
        np.testing.assert_allclose(output[index], expected, rtol=1e-11, atol=1e-13)


def test_values_are_the_keys_unless_given(rng):
    attention = layer()
    Q, K = rng.normal(size=(5, 21)), rng.normal(size=(11, 21))
    np.testing.assert_array_equal(attention(Q, K)[0], attention(Q, K, K)[0])
    np.testing.assert_array_equal(attention(Q)[0], attention(Q, Q, Q)[0])


def test_one_memory_for_a_whole_batch(rng):
    attention = layer(6, num_kv_heads=2)
    Q, memory = rng.normal(size=(3, 5, 42)), rng.normal(size=(11, 42))
    repeated = np.broadcast_to(memory, (3, 11, 42))
    np.testing.assert_allclose(attention(Q, memory)[0], attention(Q, repeated)[0], rtol=1e-13)


@pytest.mark.parametrize("dtype", TYPES)
def test_the_input_type_comes_back(rng, dtype):
    attention = layer(dtype=dtype)
    X = rng.normal(size=(2, 11, 21)).astype(dtype)
    output, weights = attention(X)
    assert output.dtype == weights.dtype == dtype
    exact = MultiHeadAttention(21, 3)
    exact.load_parameters(attention.parameters())
    expected, expected_weights = exact(X.astype(np.float64))
    eps = float(ml_dtypes.finfo(dtype).eps)
    assert np.abs(output.astype(float) - expected).max() < 8 * eps
    assert np.abs(weights.astype(float) - expected_weights).max() < 4 * eps


@given(seed=st.integers(0, 2**32), n=st.integers(2, 13), cut=st.integers(0, 11))
def test_changing_what_comes_later_changes_no_bit_before(seed, n, cut):
    rng = np.random.default_rng(seed)
    cut = min(cut, n - 1)
    attention = layer(seed=seed)
    X = rng.normal(size=(n, 21))
    before, weights = attention(X, mask=create_causal_mask(n))
    X[cut:] = rng.normal(size=(n - cut, 21))
    after, new_weights = attention(X, mask=create_causal_mask(n))
    np.testing.assert_array_equal(before[:cut], after[:cut])
    np.testing.assert_array_equal(weights[:, :cut], new_weights[:, :cut])


@given(seed=st.integers(0, 2**32), n_k=st.integers(1, 13))
def test_the_order_of_keys_does_not_matter(seed, n_k):
    rng = np.random.default_rng(seed)
    attention = layer(6, num_kv_heads=2, d_k=5, seed=seed)
    Q, K, V = rng.normal(size=(7, 30)), rng.normal(size=(n_k, 30)), rng.normal(size=(n_k, 30))
    order = rng.permutation(n_k)
    output, weights = attention(Q, K, V)
    shuffled, shuffled_weights = attention(Q, K[order], V[order])
    np.testing.assert_allclose(shuffled, output, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(shuffled_weights, weights[..., order], rtol=1e-10, atol=1e-14)


def test_masks_broadcast_to_the_weights_as_numpy_does(rng):
    attention = layer(3)
    X = rng.normal(size=(2, 11, 21))
    for shape in [
        (11,),
        (11, 11),
        (3, 1, 11),
        (3, 11, 11),
        (2, 1, 11, 11),
        (2, 1, 1, 11),
        (1, 3, 11, 1),
        (2, 3, 11, 11),
    ]:
        mask = rng.random(shape) < 0.7
        full = np.broadcast_to(mask, (2, 3, 11, 11))
        output, weights = attention(X, mask=mask)
        np.testing.assert_array_equal(output, attention(X, mask=full)[0])
        assert (weights[~full] == 0).all()
        assert (weights[full] > 0).all()


def test_three_axes_of_a_mask_mean_heads_even_when_the_batch_is_as_large(rng):
    attention = layer(3)
    X = rng.normal(size=(3, 5, 21))
    mask = np.ones((3, 5, 5), bool)
    mask[1, :, 2] = False  # head 1 of every sentence, not every head of sentence 1
    weights = attention(X, mask=mask)[1]
    assert (weights[:, 1, :, 2] == 0).all()
    assert (weights[1, [0, 2], :, 2] > 0).all()


def test_a_mask_per_sentence_without_a_head_axis_is_refused(rng, unchecked):
    attention, X = layer(3), rng.normal(size=(2, 5, 21))
    with pytest.raises(
        ValueError, match=r"mask of shape \(2, 5, 5\) has 2 where the 3 heads belong; a mask per sentence"
    ):
        attention(X, mask=np.ones((2, 5, 5), bool))


@pytest.mark.parametrize("leading", LEADING)
def test_padding_mask(rng, leading):
    attention = layer(3)
    ids = rng.integers(1, 5, (*leading, 11))
    ids[..., 7:] = 0
    X = rng.normal(size=(*leading, 11, 21))
    output, weights = attention(X, mask=create_padding_mask(ids))
    assert (weights[..., 7:] == 0).all()
    np.testing.assert_allclose(output[..., :7, :], attention(X[..., :7, :])[0], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("mask", [create_causal_mask(5), masks.causal(), create_causal_mask(5).astype(float)], ids=str)
@pytest.mark.parametrize("name", ["K", "V"])
def test_a_mask_in_the_place_of_keys_is_told_its_name(rng, mask, name, unchecked):
    x = rng.standard_normal((2, 5, 12))
    given = {"K": x, "V": x} | {name: mask}
    with pytest.raises((TypeError, ValueError), match=rf"{name} must be .*pass it by its name, mask="):
        MultiHeadAttention(12, 3)(x, **given)


def test_additive_mask(rng):
    attention, X = layer(3), rng.normal(size=(5, 21))
    allowed = create_causal_mask(5)
    np.testing.assert_array_equal(attention(X, mask=np.where(allowed, 0, -np.inf))[0], attention(X, mask=allowed)[0])
    raised = attention(X, mask=np.array([[0, 0, 40.0, 0, 0]]))[1]
    np.testing.assert_allclose(raised[..., 2], 1, atol=1e-12)


def test_a_query_with_no_key_left_gives_the_output_bias(rng):
    attention, X = layer(3), rng.normal(size=(5, 21))
    mask = np.ones((5, 5), bool)
    mask[3] = False
    output, weights = attention(X, mask=mask)
    assert (weights[:, 3] == 0).all()
    np.testing.assert_array_equal(output[3], attention.b_O)


def test_masked_nan_stays_where_it_is(rng):
    attention, X = layer(3), rng.normal(size=(5, 21))
    mask = create_padding_mask(np.array([1, 1, 1, 1, 0]))
    expected = attention(X, mask=mask)[0]
    X[4] = np.nan
    np.testing.assert_array_equal(attention(X, mask=mask)[0][:4], expected[:4])


def test_no_keys_at_all(rng):
    attention = layer(3)
    output, weights = attention(rng.normal(size=(2, 5, 21)), np.zeros((2, 0, 21)))
    assert weights.shape == (2, 3, 5, 0)
    np.testing.assert_array_equal(output, np.broadcast_to(attention.b_O, (2, 5, 21)))


def test_rope_turns_queries_and_keys(rng):
    attention = layer(3, d_k=8, rope=functools.partial(rope, base=500.0))
    Q, K = rng.normal(size=(2, 5, 24)), rng.normal(size=(2, 11, 24))
    q = rope(split_heads(Q @ attention.W_Q + attention.b_Q, 3), np.arange(5), base=500.0)
    k = rope(split_heads(K @ attention.W_K + attention.b_K, 3), np.arange(11), base=500.0)
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(8)
    expected = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(attention(Q, K)[1], expected, rtol=1e-11)
    np.testing.assert_array_equal(attention(Q)[0], attention(Q, Q, Q)[0])


def test_with_rope_only_distance_counts(rng):
    attention = layer(3, d_k=8, rope=rope)
    X = rng.normal(size=(5, 24))
    shifted = layer(3, d_k=8, rope=lambda x, positions: rope(x, positions + 1000))
    np.testing.assert_allclose(shifted(X)[0], attention(X)[0], rtol=1e-9, atol=1e-11)
    assert np.abs(attention(X[::-1])[0][::-1] - attention(X)[0]).max() > 1e-3


@pytest.mark.parametrize(("num_heads", "num_kv_heads"), HEADS)
@pytest.mark.parametrize("turned", [None, rope], ids=["plain", "rope"])
@pytest.mark.parametrize("steps", [[1] * 11, [4, 1, 6], [11]], ids=str)
@pytest.mark.parametrize("leading", LEADING)
def test_step_by_step_is_the_whole_pass(rng, num_heads, num_kv_heads, turned, steps, leading):
    attention = layer(num_heads, d_k=4, num_kv_heads=num_kv_heads, rope=turned)
    X = rng.normal(size=(*leading, 11, attention.d_model))
    whole, whole_weights = attention(X, mask=create_causal_mask(11))
    cache, start = KeyValueCache(), 0
    for n in steps:
        end = start + n
        output, weights = attention(X[..., start:end, :], mask=cache.causal_mask(n), cache=cache)
        np.testing.assert_allclose(output, whole[..., start:end, :], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(weights, whole_weights[..., start:end, :end], rtol=1e-12, atol=1e-13)
        start = end
        assert cache.length == end
    assert cache.K.shape == (*leading, attention.num_kv_heads, 11, 4)
    assert not [name for name, value in vars(attention).items() if isinstance(value, KeyValueCache)]


@pytest.mark.parametrize("turned", [None, rope], ids=["plain", "rope"])
def test_memory_is_projected_once(rng, turned):
    attention = layer(6, d_k=4, num_kv_heads=2, rope=turned)
    Q, memory = rng.normal(size=(2, 5, 24)), rng.normal(size=(2, 11, 24))
    whole, whole_weights = attention(Q, memory)
    cache = KeyValueCache()
    for i in range(5):
        output, weights = attention(Q[:, i : i + 1], memory, cache=cache)
        np.testing.assert_allclose(output, whole[:, i : i + 1], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(weights, whole_weights[:, :, i : i + 1], rtol=1e-12)
        attention.W_K, attention.W_V = np.full((24, 8), np.nan), np.full((24, 8), np.nan)  # no longer looked at
    assert cache.length == 11


def test_select_reorders_and_repeats(rng):
    attention = layer()
    X = rng.normal(size=(3, 7, 21))
    cache = KeyValueCache()
    attention(X[:, :6], cache=cache)
    order = [2, 0, 2, 2]
    chosen = cache.select(np.array(order))
    output, _ = attention(X[order, 6:], cache=chosen)
    np.testing.assert_allclose(output, attention(X)[0][order, 6:], rtol=1e-12)
    assert (cache.length, chosen.length) == (6, 7)  # the old cache stays as it was
    assert chosen.num_queries == 7
    assert KeyValueCache().select([0, 1]).length == 0


def test_a_failed_call_leaves_the_cache_as_it_was(rng, unchecked):
    attention, cache = layer(), KeyValueCache()
    attention(rng.normal(size=(2, 3, 21)), cache=cache)
    with pytest.raises(ValueError, match="does not broadcast"):
        attention(rng.normal(size=(2, 1, 21)), mask=np.ones((5, 5), bool), cache=cache)
    assert (cache.length, cache.num_queries) == (3, 3)


def test_cache_errors(rng, unchecked):
    attention, X = layer(), rng.normal(size=(2, 3, 21))
    grown, memory = KeyValueCache(), KeyValueCache()
    attention(X, cache=grown)
    attention(X, X, cache=memory)
    with pytest.raises(
        ValueError, match="this cache holds the keys of self-attention and cannot be used with K; give ea"
    ):
        attention(X, X, cache=grown)
    with pytest.raises(
        ValueError, match=r"holds the keys of a memory \(cross-attention\) and cannot be used for self-at"
    ):
        attention(X, cache=memory)
    for K in (X[:, :2], X[:1], X[0]):
        with pytest.raises(
            ValueError, match=r"the cache holds a memory of 3 positions with leading dimensions \(2,\), g"
        ):
            attention(X, K, cache=memory)
    with pytest.raises(
        ValueError, match=r"holds keys of shape \(2, 3, 3, 7\) and the new ones have shape \(1, 3, 3, 7"
    ):
        attention(X[:1], cache=grown)
    with pytest.raises(TypeError, match=r"indices must be integers \(b,\), got float64 of shape \(1,\)"):
        grown.select([0.5])
    with pytest.raises(TypeError, match=r"indices must be integers \(b,\), got int64 of shape \(\)"):
        grown.select(1)
    for index in (2, -1):
        with pytest.raises(ValueError, match=rf"indices must be in \[0, 1\], the cached sentences, got \[0, {index}\]"):
            grown.select([0, index])
    alone = KeyValueCache()
    attention(X[0], cache=alone)
    with pytest.raises(
        ValueError, match=r"the cached keys have no batch axis to select from, their shape is \(3, 3, 7\)"
    ):
        alone.select([0])


@pytest.mark.parametrize("leading", LEADING)
def test_split_and_merge(rng, leading):
    x = rng.normal(size=(*leading, 5, 21))
    split = split_heads(x, 3)
    np.testing.assert_array_equal(split[..., 1, 4, :], x[..., 4, 7:14])
    np.testing.assert_array_equal(merge_heads(split), x)


def test_weights_come_from_the_seed():
    first, second, other = (MultiHeadAttention(21, 3, seed=seed) for seed in (4, 4, 5))
    for name, array in first.parameters().items():
        np.testing.assert_array_equal(array, second.parameters()[name])
    assert (first.W_O != other.W_O).all()
    assert len({array.tobytes() for name, array in first.parameters().items() if name.startswith("W")}) == 4
    rng = np.random.default_rng(4)
    np.testing.assert_array_equal(MultiHeadAttention(21, 3, seed=rng).W_V, first.W_V)
    assert (MultiHeadAttention(21, 3, seed=rng).W_V != first.W_V).all()


@pytest.mark.parametrize(
    ("settings", "count"),
    [
        ({}, 4 * (30 * 30 + 30)),
        ({"bias": False}, 4 * 30 * 30),
        ({"num_kv_heads": 2}, 2 * (30 * 30 + 30) + 2 * (30 * 10 + 10)),
    ],
)
def test_num_parameters(settings, count):
    assert MultiHeadAttention(30, 6, **settings).num_parameters == count


def test_a_rope_is_asked_for_when_loading(tmp_path, rng):
    attention = layer(3, d_k=8, rope=rope)
    attention.save(tmp_path / "attention")
    X = rng.normal(size=(5, 24))
    np.testing.assert_array_equal(MultiHeadAttention.load(tmp_path / "attention", rope=rope)(X)[0], attention(X)[0])


def test_constructor_errors(unchecked):
    with pytest.raises(
        ValueError, match=r"d_model = 10 cannot be divided among num_heads = 3 heads evenly; d_model must"
    ):
        MultiHeadAttention(10, 3)
    with pytest.raises(ValueError, match=r"must be a multiple of num_heads \(d_model=12 is\)"):
        MultiHeadAttention(10, 3)
    with pytest.raises(ValueError, match="6 query heads cannot share 4 key/value heads evenly"):
        MultiHeadAttention(30, 6, num_kv_heads=4)
    with pytest.raises(ValueError, match="num_heads must be at least 1, got 0"):
        MultiHeadAttention(10, 0)
    with pytest.raises(ValueError, match="d_model must be at least 1, got -8"):
        MultiHeadAttention(-8, 2)
    with pytest.raises(ValueError, match="num_kv_heads must be at least 1, got 0"):
        MultiHeadAttention(10, 2, num_kv_heads=0)
    with pytest.raises(TypeError, match=r"num_heads must be a whole number, got 2\.0 of type float"):
        MultiHeadAttention(10, 2.0)
    with pytest.raises(TypeError, match=r"rope must be a function \(x, positions\) → x or None, got 10000"):
        MultiHeadAttention(10, 2, rope=10000)
    with pytest.raises(TypeError, match="dtype must be one of float16"):
        MultiHeadAttention(10, 2, dtype=int)


def test_forward_errors(rng, unchecked):
    attention, X = layer(), rng.normal(size=(2, 5, 21))
    with pytest.raises(TypeError, match="Q must be float16, bfloat16, float32 or float64, got int64"):
        attention(np.ones((5, 21), int))
    with pytest.raises(ValueError, match=r"Q must be d_model = 21 wide, shape \(…, n, 21\), got shape \(21, 5\)"):
        attention(np.ones((21, 5)))
    with pytest.raises(ValueError, match="K must be d_model = 21 wide"):
        attention(X, np.ones((5, 7)))
    with pytest.raises(ValueError, match="V must be d_model = 21 wide"):
        attention(X, X, np.ones((5, 7)))
    with pytest.raises(ValueError, match="V was given without K; pass K as well"):
        attention(X, V=X)
    with pytest.raises(ValueError, match="there are 5 keys but 4 values; each key needs one value"):
        attention(X, X, X[:, :4])
    with pytest.raises(ValueError, match=r"the leading dimensions of Q \(2, 3, 5, 7\).* K \(4, 3, 5, 7\).* do not fit"):
        attention(X, np.ones((4, 5, 21)))
    with pytest.raises(
        ValueError, match=r"mask of shape \(4, 5\) does not broadcast to the scores' shape \(2, 3, 5, 5\)"
    ):
        attention(X, mask=np.ones((4, 5), bool))
    with pytest.raises(TypeError, match=r"mask must be boolean \(True = may attend\) or float"):
        attention(X, mask=np.ones((5, 5), int))
    with pytest.raises(ValueError, match="mask contains NaN"):
        attention(X, mask=np.full((5, 5), np.nan))
    for name in ("W_Q", "W_K", "W_V", "W_O"):
        broken = layer()
        setattr(broken, name, np.ones((20, 21)))
        with pytest.raises(ValueError, match=rf"{name} must have shape \(d_in, d_out\) with d_in = 21"):
            broken(X)
    for name in ("b_Q", "b_K", "b_V", "b_O"):
        broken = layer()
        setattr(broken, name, np.ones(1))
        with pytest.raises(ValueError, match=rf"{name} must have shape \(21,\), one number per column of W_{name[-1]}"):
            broken(X)
    attention.W_V, attention.b_V = np.ones((21, 20)), None
    with pytest.raises(ValueError, match=r"20 columns cannot be split into 3 heads evenly, x has shape \(2, 5, 20\)"):
        attention(X)
    short = layer(3, rope=lambda x, positions: x[..., :3])
    with pytest.raises(
        ValueError, match=r"rope must return the shape it was given, \(2, 3, 5, 7\), got \(2, 3, 5, 3\)"
    ):
        short(X)
