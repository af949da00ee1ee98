from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from clearhead.textbook.recurrent_attention import RULES, recurrent_attention


def drawn(rng, rule, *, leading=(), n=7, d=5, d_v=3, per_row=True):
    """Q, K, V and what the rule needs. Keys have length 1, as the delta rules want them."""
    Q, K = rng.standard_normal((2, *leading, n, d))
    K /= np.linalg.norm(K, axis=-1, keepdims=True)
    needs = {"rule": rule}
    if "gated" in rule:
        needs["decay"] = -rng.random((*leading, n, d) if per_row else (*leading, n))
    if "delta" in rule:
        needs["beta"] = rng.random((*leading, n))
    return (Q, K, rng.standard_normal((*leading, n, d_v))), needs


def by_the_loop(Q, K, V, rule, state, scale, decay=None, beta=None):
    """One number at a time: S[a, b] is what row a of the memory holds for column b of the values."""
    S, output = state.copy(), np.zeros_like(V)
    d, d_v = S.shape
    for t in range(len(Q)):
        for a in range(d):
            for b in range(d_v):
                if decay is not None:
                    S[a, b] *= np.exp(decay[t] if decay.ndim == 1 else decay[t, a])
        written = V[t].copy()
        if beta is not None:
            for b in range(d_v):
                held = sum(S[a, b] * K[t, a] for a in range(d))
                written[b] = beta[t] * (V[t, b] - held)
        for a in range(d):
            for b in range(d_v):
                S[a, b] += K[t, a] * written[b]
        for b in range(d_v):
            output[t, b] = scale * sum(Q[t, a] * S[a, b] for a in range(d))
    return output, S


@pytest.mark.parametrize("per_row", [False, True])
@pytest.mark.parametrize("rule", RULES)
def test_it_is_the_definition(rng, rule, per_row):
    arrays, needs = drawn(rng, rule, per_row=per_row)
    state = rng.standard_normal((5, 3))
    for given, start in ((state, state), (None, np.zeros((5, 3)))):
        expected = by_the_loop(*arrays, **needs, state=start, scale=5**-0.5)
        for ours, true in zip(recurrent_attention(*arrays, **needs, state=given), expected, strict=True):
            np.testing.assert_allclose(ours, true, rtol=0, atol=1e-13)
    output, _ = recurrent_attention(*arrays, **needs, scale=0.0)
    np.testing.assert_array_equal(output, 0)


def test_linear_is_causal_attention_without_softmax(rng):
    (Q, K, V), _ = drawn(rng, "linear", leading=(2, 3))
    output, state = recurrent_attention(Q, K, V, scale=0.3)
    np.testing.assert_allclose(output, np.tril(Q @ K.swapaxes(-1, -2) * 0.3) @ V, rtol=0, atol=1e-13)
    np.testing.assert_allclose(state, K.swapaxes(-1, -2) @ V, rtol=0, atol=1e-13)


def test_gated_forgets_by_the_decay_in_between(rng):
    (Q, K, V), needs = drawn(rng, "gated", leading=(2,), per_row=False)
    passed = np.cumsum(needs["decay"], axis=-1)
    fade = np.tril(np.exp(passed[..., :, None] - passed[..., None, :]))
    output, _ = recurrent_attention(Q, K, V, **needs, scale=1.0)
    np.testing.assert_allclose(output, (Q @ K.swapaxes(-1, -2) * fade) @ V, rtol=0, atol=1e-13)


def test_delta_replaces_what_the_memory_holds_under_a_key():
    first, second = np.eye(2)
    K, V = np.stack([first, second, first]), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    _, added = recurrent_attention(K, K, V)
    _, replaced = recurrent_attention(K, K, V, rule="delta", beta=np.ones(3))
    np.testing.assert_array_equal(added, [[6, 8], [3, 4]])
    np.testing.assert_array_equal(replaced, [[5, 6], [3, 4]])


@pytest.mark.parametrize("rule", RULES)
def test_going_on_from_the_state_is_the_whole(rng, rule):
    arrays, needs = drawn(rng, rule, leading=(2, 3), n=11)
    whole, last = recurrent_attention(*arrays, **needs)
    state, parts = None, []
    for rows in (slice(0, 4), slice(4, 5), slice(5, 5), slice(5, 11)):
        cut = {name: x[:, :, rows] for name, x in needs.items() if name != "rule"}
        part, state = recurrent_attention(*(x[:, :, rows] for x in arrays), rule=rule, state=state, **cut)
        parts.append(part)
    np.testing.assert_array_equal(np.concatenate(parts, axis=-2), whole)
    np.testing.assert_array_equal(state, last)


@pytest.mark.parametrize("rule", RULES)
def test_query_heads_share_a_memory(rng, rule):
    (_, K, V), needs = drawn(rng, rule, leading=(2,))
    Q = rng.standard_normal((6, 7, 5))
    output, state = recurrent_attention(Q, K, V, **needs)
    assert state.shape == (2, 5, 3)
    for head in range(6):
        own = {name: x if name == "rule" else x[head // 3] for name, x in needs.items()}
        expected, memory = recurrent_attention(Q[head], K[head // 3], V[head // 3], **own)
        np.testing.assert_allclose(output[head], expected, rtol=0, atol=1e-14)
        np.testing.assert_allclose(state[head // 3], memory, rtol=0, atol=1e-14)


def test_one_rate_for_all_heads(rng):
    arrays, needs = drawn(rng, "gated_delta", leading=(2, 3), per_row=False)
    one = {"decay": needs["decay"][:, :1], "beta": needs["beta"][:, :1]}
    every = {name: np.repeat(x, 3, axis=1) for name, x in one.items()}
    for ours, expected in zip(
        recurrent_attention(*arrays, rule="gated_delta", **one),
        recurrent_attention(*arrays, rule="gated_delta", **every),
        strict=True,
    ):
        np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("rule", RULES)
def test_the_future_changes_nothing(rng, rule):
    arrays, needs = drawn(rng, rule)
    before, _ = recurrent_attention(*arrays, **needs)
    for x in (*arrays, *(x for name, x in needs.items() if name != "rule")):
        x[4:] = np.nan
    np.testing.assert_array_equal(recurrent_attention(*arrays, **needs)[0][:4], before[:4])


@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16, np.float32])
@pytest.mark.parametrize("rule", RULES)
def test_the_type_stays(rng, rule, kind):
    arrays, needs = drawn(rng, rule, leading=(2,))
    arrays = [x.astype(kind) for x in arrays]
    needs = {name: x if name == "rule" else x.astype(kind) for name, x in needs.items()}
    exact = recurrent_attention(
        *(x.astype(np.float64) for x in arrays),
        **{name: x if name == "rule" else x.astype(np.float64) for name, x in needs.items()},
    )
    for ours, true in zip(recurrent_attention(*arrays, **needs), exact, strict=True):
        assert ours.dtype == kind
        eps = float(ml_dtypes.finfo(kind).eps)
        np.testing.assert_allclose(ours.astype(np.float64), true, rtol=4 * eps, atol=4 * eps)
    _, state = recurrent_attention(*arrays, **needs, state=np.zeros((2, 5, 3), np.float32))
    assert state.dtype == np.float32  # a state given in a finer type is given back in it


X, PER_TOKEN = np.ones((2, 5, 7)), np.ones((2, 5))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"rule": "forget"}, ValueError, "rule must be one of 'linear', 'gated', 'delta', 'gated_delta', got 'forget'"),
        ({"rule": "gated"}, ValueError, "rule 'gated' needs decay"),
        ({"rule": "delta"}, ValueError, "rule 'delta' needs beta"),
        ({"rule": "gated_delta", "decay": PER_TOKEN}, ValueError, "rule 'gated_delta' needs beta"),
        ({"rule": "linear", "beta": PER_TOKEN}, ValueError, "rule 'linear' has no use for beta"),
        ({"rule": "delta", "beta": PER_TOKEN, "decay": PER_TOKEN}, ValueError, "rule 'delta' has no use for decay"),
        ({"rule": "delta", "beta": PER_TOKEN[:, :3]}, ValueError, r"beta must have shape \(…, n\).*got \(2, 3\)"),
        (
            {"rule": "gated", "decay": X[..., :3]},
            ValueError,
            r"decay must have shape \(…, n\) or \(…, n, d\).*\(2, 5, 3\)",
        ),
        ({"rule": "gated", "decay": PER_TOKEN.astype(int)}, TypeError, "decay must be float16"),
        ({"rule": "delta", "beta": PER_TOKEN.astype(int)}, TypeError, "beta must be float16"),
        ({"state": np.ones((7, 7))}, ValueError, r"state must have shape \(…, d, d_v\) = \(2, 7, 7\).*got \(7, 7\)"),
        ({"state": np.ones((2, 7, 7), int)}, TypeError, "state must be float16"),
        ({"scale": "x"}, TypeError, "scale must be a number, got 'x'"),
        ({"Q": X[:, :3]}, ValueError, "there are 3 queries but 5 keys; each token brings one of each"),
        ({"K": X[..., :3]}, ValueError, "keys have 3 columns but queries have 7"),
        ({"V": X[:, :3]}, ValueError, "there are 5 keys but 3 values"),
    ],
)
def test_what_is_refused(how, error, message):
    with pytest.raises(error, match=message):
        recurrent_attention(**({"Q": X, "K": X, "V": X} | how))
