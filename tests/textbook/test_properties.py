"""What must hold of attention whatever the shapes, the mask and the path: drawn, not chosen.

Every way the textbook has to compute attention is a row of PATHS and is held to the same loop-by-loop judge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from clearhead.textbook.attention import causal_self_attention, scaled_dot_product_attention
from clearhead.textbook.flash import flash_attention
from clearhead.textbook.masks import create_causal_mask
from clearhead.textbook.memory_efficient import memory_efficient_attention

from .loops import attention_by_loops

PATHS = {
    "whole": lambda Q, K, V, mask, tile, **options: scaled_dot_product_attention(Q, K, V, mask, **options)[0],
    "chunked": lambda Q, K, V, mask, tile, **options: memory_efficient_attention(Q, K, V, tile, mask, **options),
    "flash": lambda Q, K, V, mask, tile, **options: flash_attention(Q, K, V, mask, block_size=tile, **options),
}
CLOSE = {"rtol": 0, "atol": 1e-12}
few = settings(max_examples=40)  # of each property for each path


@dataclass(frozen=True)
class Drawn:
    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    mask: np.ndarray | None
    scale: float | None
    tile: int

    def by(self, path: str, **changed: np.ndarray) -> np.ndarray:
        arrays = {name: changed.get(name, getattr(self, name)) for name in ("Q", "K", "V", "mask")}
        return PATHS[path](**arrays, tile=self.tile, scale=self.scale)

    @property
    def scores_shape(self) -> tuple[int, ...]:
        return (*self.Q.shape[:-1], self.K.shape[-2])


@st.composite
def problems(draw: st.DrawFn) -> Drawn:
    """Queries, keys and values of any shape, with any kind of mask; grouped heads, empty axes and empty rows too."""
    n_q, n_k = draw(st.integers(0, 9)), draw(st.integers(0, 9))
    d, d_v = draw(st.integers(0, 5)), draw(st.integers(1, 5))
    batch = tuple(draw(st.lists(st.integers(1, 3), max_size=1)))
    kv_heads, group = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    heads, kv = ((kv_heads * group,), (kv_heads,)) if batch or draw(st.booleans()) else ((), ())
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = draw(st.sampled_from([0.1, 1.0, 30.0]))  # 30 makes rows with one winner
    Q, K = size * rng.standard_normal((*batch, *heads, n_q, d)), rng.standard_normal((*batch, *kv, n_k, d))
    V = rng.standard_normal((*batch, *kv, n_k, d_v))
    leading = tuple(draw(st.sampled_from([1, axis])) for axis in (*batch, *heads))
    mask = {
        "none": lambda: None,
        "boolean": lambda: rng.random((*leading, n_q, n_k)) < draw(st.sampled_from([0.1, 0.5, 0.9])),
        "additive": lambda: np.where(rng.random((*leading, n_q, n_k)) < 0.7, rng.normal(size=(n_q, n_k)), -np.inf),
        "causal": lambda: create_causal_mask(n_q, n_k),
        "keys": lambda: rng.random(n_k) < 0.5,
        "one row": lambda: np.arange(n_q)[:, None] != draw(st.integers(0, 9)),
    }[draw(st.sampled_from(["none", "boolean", "additive", "causal", "keys", "one row"]))]()
    scale = draw(st.sampled_from([None, 0.0, -0.5, 2.0]))
    return Drawn(Q, K, V, mask, scale, draw(st.integers(1, 10)))


@pytest.mark.parametrize("path", PATHS)
@given(problem=problems())
def test_every_path_is_the_definition(path, problem):
    expected, _ = attention_by_loops(problem.Q, problem.K, problem.V, problem.mask, scale=problem.scale)
    np.testing.assert_allclose(problem.by(path), expected, **CLOSE)


@given(problem=problems(), softcap=st.none() | st.floats(0.5, 50), sinks=st.booleans(), seed=st.integers(0, 2**32))
def test_every_option_is_the_definition(problem, softcap, sinks, seed):
    rng = np.random.default_rng(seed)
    shape = problem.scores_shape
    extra = np.where(rng.random(shape[-3:-2]) < 0.8, rng.standard_normal(shape[-3:-2]), -np.inf)
    options = {
        "bias": rng.standard_normal(shape[-2:]),
        "scale": problem.scale,
        "softcap": softcap,
        "sinks": extra if sinks and len(shape) > 2 else None,
    }
    expected = attention_by_loops(problem.Q, problem.K, problem.V, problem.mask, **options)
    got = scaled_dot_product_attention(problem.Q, problem.K, problem.V, problem.mask, **options)
    for x, y in zip(got, expected, strict=True):
        np.testing.assert_allclose(x, y, **CLOSE)


@given(problem=problems())
def test_rows_sum_to_1_or_0(problem):
    weights = scaled_dot_product_attention(problem.Q, problem.K, problem.V, problem.mask, scale=problem.scale)[1]
    mask = np.asarray(True if problem.mask is None else problem.mask)
    allowed = np.broadcast_to(mask if mask.dtype == bool else ~np.isneginf(mask), problem.scores_shape)
    assert ((weights >= 0) & (weights <= 1)).all()
    assert not weights[~allowed].any()
    np.testing.assert_allclose(weights.sum(axis=-1), allowed.any(axis=-1).astype(float), **CLOSE)


@pytest.mark.parametrize("path", PATHS)
@few
@given(problem=problems(), seed=st.integers(0, 2**32))
def test_permuting_keys_with_their_values_changes_nothing(path, problem, seed):
    order = np.random.default_rng(seed).permutation(problem.K.shape[-2])
    mask = problem.mask
    if mask is not None and mask.shape[-1] == len(order):
        mask = mask[..., order]
    moved = problem.by(path, K=problem.K[..., order, :], V=problem.V[..., order, :], mask=mask)
    np.testing.assert_allclose(moved, problem.by(path), **CLOSE)


@pytest.mark.parametrize("path", PATHS)
@few
@given(problem=problems(), seed=st.integers(0, 2**32))
def test_permuting_queries_permutes_the_output(path, problem, seed):
    order = np.random.default_rng(seed).permutation(problem.Q.shape[-2])
    mask = problem.mask
    if mask is not None and mask.ndim > 1:
        mask = mask[..., order, :]
    moved = problem.by(path, Q=problem.Q[..., order, :], mask=mask)
    np.testing.assert_allclose(moved, problem.by(path)[..., order, :], **CLOSE)


@pytest.mark.parametrize("path", PATHS)
@few
@given(problem=problems(), strange=st.sampled_from([np.nan, np.inf, -np.inf, 1e308]))
def test_what_no_query_may_attend_to_is_as_good_as_absent(path, problem, strange):
    shape = problem.scores_shape
    mask = np.asarray(True if problem.mask is None else problem.mask)
    allowed = np.broadcast_to(mask if mask.dtype == bool else ~np.isneginf(mask), shape)
    hidden = ~allowed.reshape(-1, shape[-1]).any(axis=0) if allowed.size else np.ones(shape[-1], dtype=bool)
    K, V = problem.K.copy(), problem.V.copy()
    K[..., hidden, :], V[..., hidden, :] = strange, strange
    np.testing.assert_array_equal(problem.by(path, K=K, V=V), problem.by(path))


@pytest.mark.parametrize("path", PATHS)
@few
@given(problem=problems(), strange=st.sampled_from([0.0, -7.5, 1e30, np.nan, np.inf]), data=st.data())
def test_causality_bit_for_bit(path, problem, strange, data):
    n_q, n_k = problem.scores_shape[-2:]
    mask = create_causal_mask(n_q, n_k)
    first = data.draw(st.integers(0, n_k))  # keys from here on are in the future of queries before it
    K, V = problem.K.copy(), problem.V.copy()
    K[..., first:, :], V[..., first:, :] = strange, strange
    past = slice(0, max(0, first - (n_k - n_q)))
    before, after = problem.by(path, mask=mask), problem.by(path, K=K, V=V, mask=mask)
    assert before[..., past, :].tobytes() == after[..., past, :].tobytes()


@given(
    shape=st.tuples(st.integers(1, 3), st.integers(1, 9), st.integers(1, 7)),
    strange=st.sampled_from([0.0, -7.5, 1e3, np.nan]),
    seed=st.integers(0, 2**32),
    data=st.data(),
)
def test_causal_self_attention_never_looks_ahead(shape, strange, seed, data):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape)
    maps = [rng.standard_normal((shape[-1], d)) for d in (3, 3, 5)]
    first = data.draw(st.integers(0, shape[1]))
    before = causal_self_attention(X, *maps)
    X[:, first:] = strange
    for x, y in zip(before, causal_self_attention(X, *maps), strict=True):
        assert x[:, :first].tobytes() == y[:, :first].tobytes()


@pytest.mark.parametrize("path", ["chunked", "flash"])
@few
@given(problem=problems(), where=st.sampled_from(["K", "V"]), strange=st.sampled_from([np.nan, np.inf]), data=st.data())
def test_tiles_answer_what_the_whole_answers_to_strange_numbers_too(path, problem, where, strange, data):
    array = getattr(problem, where).copy()
    if array.size:
        array.flat[data.draw(st.integers(0, array.size - 1))] = strange
    np.testing.assert_allclose(
        problem.by(path, **{where: array}), problem.by("whole", **{where: array}), equal_nan=True, **CLOSE
    )
