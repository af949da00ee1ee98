"""The mass on keys that have to do with the query's own token, against sums over the matrix."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead import biases, masks
from clearhead.views import look
from clearhead.views.repeats import masses, masses_on

N_Q, N_K = 47, 53


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


CALLS = {
    "plain": {},
    "causal": {"mask": masks.causal()},
    "two runs": {"mask": masks.window(7) | masks.prefix(5)},
    "lengths": {"mask": masks.key_lengths([53, 19]) & masks.causal()},
    "per head": {"mask": masks.block_sparse(draw(3, 4, 4, seed=9) > 0, 14)},
    "sinks and softcap": {"sinks": draw(3, seed=4), "softcap": 2.0, "mask": masks.window(17)},
    "array": {"mask": draw(N_Q, N_K, seed=5) > 0},
    "rule": {"mask": ~masks.dilated(2)},
    "period": {"mask": masks.dilated(2)},
    "bias": {"bias": draw(3, N_Q, N_K, seed=6), "mask": masks.causal()},
    "alibi": {"bias": biases.alibi(3), "mask": masks.causal()},
    "far": {"bias": np.full((N_Q, N_K), -1e30)},
}


def judge(view, ids):
    """The mass and the number of keys by definition, for both patterns."""
    query, key = np.arange(view.n_q)[:, None] + view.n_k - view.n_q, np.arange(view.n_k)
    ids = np.broadcast_to(ids, (*view.batch_shape, view.n_k))[..., None, :]
    of_query = ids[..., view.n_k - view.n_q :, None]
    duplicate = (of_query == ids[..., None, :]) & (key != query)
    followed = np.concatenate([np.full_like(ids[..., :1], -1), ids[..., :-1]], axis=-1)
    induction = (of_query == followed[..., None, :]) & (key < query)
    return {"duplicate_token": duplicate, "induction": induction}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("different", [2, 11, 1], ids=["two tokens", "eleven tokens", "one token"])
def test_masses(name, different):
    """Two tokens come back all the time; eleven now and then."""
    view = look(draw(2, 3, N_Q, 7), draw(2, 3, N_K, 7, seed=1), **CALLS[name])
    ids = np.random.default_rng(2).integers(0, different, (2, N_K)) * 1000
    weights = view.weights()
    options = CALLS[name]
    allowed = np.ones((2, 3, N_Q, N_K), bool)
    if isinstance(options.get("mask"), masks.Mask):
        allowed = options["mask"].array(N_Q, N_K, batch_shape=(2,), heads=3)
    elif "mask" in options:
        allowed = allowed & options["mask"]
    for pattern, keys in judge(view, ids).items():
        found = masses(view, ids)[pattern]
        np.testing.assert_allclose(found.mass, (weights * keys).sum(axis=-1), rtol=1e-11, atol=1e-14, err_msg=pattern)
        np.testing.assert_array_equal(found.keys, (keys & allowed).sum(axis=-1))


@pytest.mark.parametrize(
    "shape", [(N_K, 7), (3, N_K, 7), (2, 1, 3, N_K, 7)], ids=["no heads", "heads", "two batch axes"]
)
@pytest.mark.parametrize("kv", [None, 1], ids=["own keys", "shared keys"])
def test_any_leading_axes(shape, kv):
    keys = draw(*shape, seed=1)
    if kv is not None and len(shape) > 2:
        keys = keys[..., :kv, :, :]
    view = look(draw(*shape), keys, mask=masks.causal())
    ids = np.random.default_rng(2).integers(0, 5, N_K)
    for pattern, same in judge(view, ids).items():
        same = same if view.lead else same[0]
        found = masses(view, np.broadcast_to(ids, (*view.batch_shape, N_K)))[pattern]
        np.testing.assert_allclose(found.mass, (view.weights() * same).sum(axis=-1), rtol=1e-11)


@pytest.mark.parametrize("name", CALLS)
def test_masses_on_keys_of_several_kinds(name):
    view = look(draw(2, 3, N_Q, 7), draw(2, 3, N_K, 7, seed=1), **CALLS[name])
    kinds = {"many": draw(2, N_K, seed=7) > 0, "few": draw(2, N_K, seed=8) > 1.5, "none": np.zeros((2, N_K), bool)}
    options = CALLS[name]
    mask = options.get("mask", np.ones((N_Q, N_K), bool))
    allowed = mask.array(N_Q, N_K, batch_shape=(2,), heads=3) if isinstance(mask, masks.Mask) else mask
    for kind, found in masses_on(view, kinds).items():
        keys = kinds[kind][:, None, None]
        expected = (view.weights() * keys).sum(axis=-1)
        np.testing.assert_allclose(found.mass, expected, rtol=1e-11, atol=1e-14, err_msg=kind)
        np.testing.assert_array_equal(found.keys, np.broadcast_to(allowed & keys, view.weights().shape).sum(axis=-1))


class TestErrors:
    def test_ids_must_be_numbers(self, unchecked):
        with pytest.raises(
            TypeError, match=r"token_ids must be whole numbers, or labels as text, got float64 of shape \(5,\)"
        ):
            look(draw(5, 3), draw(5, 3)).patterns(np.ones(5))

    def test_one_for_each_key(self, unchecked):
        view = look(draw(2, 3, 5, 7), draw(2, 3, 11, 7))
        with pytest.raises(
            ValueError,
            match=r"token_ids need one id for each of the 11 keys, shape \(2, 11\) or \(11,\), got shape \(5,",
        ):
            view.patterns(np.arange(5))

    def test_more_queries_than_keys(self, unchecked):
        with pytest.raises(ValueError, match="but 7 queries cannot be the last positions of 5 keys"):
            look(draw(7, 3), draw(5, 3)).patterns(np.arange(5))
