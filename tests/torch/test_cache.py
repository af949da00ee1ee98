from __future__ import annotations

import copy

import pytest
import torch

from clearhead.torch.cache import LEAST_ROOM, KeyValueCache

B, H, D, D_V = 2, 3, 5, 7


def step(n, seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(B, H, n, d, generator=generator, dtype=dtype) for d in (D, D_V))


def filled(lengths):
    """A cache after some steps, and what it should hold."""
    cache, steps = KeyValueCache(), [step(n, seed) for seed, n in enumerate(lengths)]
    for keys, values in steps:
        cache.joined(keys, values)
        cache.keep(keys.shape[-2])
    return cache, tuple(torch.cat(x, dim=-2) for x in zip(*steps, strict=True))


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
@pytest.mark.parametrize("lengths", [[5], [4, 1, 1, 3], [1] * (2 * LEAST_ROOM)])
def test_it_holds_what_was_kept_in_order(mode, lengths):
    with mode():
        cache, (keys, values) = filled(lengths)
        assert cache.length == sum(lengths)
        assert torch.equal(cache.K, keys)
        assert torch.equal(cache.V, values)
        more = step(2, seed=99)
        joined = cache.joined(*more)
        assert torch.equal(joined[0], torch.cat([keys, more[0]], dim=-2))
        assert torch.equal(joined[1], torch.cat([values, more[1]], dim=-2))


def test_what_is_joined_and_not_kept_is_forgotten():
    with torch.no_grad():
        cache, (keys, values) = filled([4, 1])
        cache.joined(*step(3, seed=98))
        assert cache.length == 5
        assert torch.equal(cache.K, keys)
        other = step(1, seed=97)
        assert torch.equal(cache.joined(*other)[1], torch.cat([values, other[1]], dim=-2))
        empty = KeyValueCache()
        empty.joined(*step(3))
        assert empty.K is empty.V is None


def test_old_keys_are_not_copied_at_every_step():
    with torch.no_grad():
        cache, _ = filled([100, 1])
        places = set()
        for _ in range(LEAST_ROOM // 2):
            cache.joined(*step(1))
            cache.keep(1)
            places.add(cache.K.data_ptr())
    assert len(places) == 1


def test_with_gradients_every_step_keeps_its_own():
    steps = [tuple(x.requires_grad_() for x in step(2, seed)) for seed in range(3)]
    cache, loss = KeyValueCache(), 0
    for keys, values in steps:
        k, v = cache.joined(keys, values)
        cache.keep(2)
        loss = loss + k.square().sum() + v.sum()
    loss.backward()  # would fail if a later step had written into an earlier one
    for seen, (keys, values) in zip((3, 2, 1), steps, strict=True):
        torch.testing.assert_close(keys.grad, 2 * seen * keys.detach())
        assert torch.equal(values.grad, torch.full_like(values, seen))


def test_a_cache_from_inference_mode_goes_on_outside():
    with torch.inference_mode():
        cache, (keys, _) = filled([4, 1])
    more = step(1, seed=96)
    with torch.no_grad():
        assert torch.equal(cache.joined(*more)[0], torch.cat([keys, more[0]], dim=-2))


def test_selected_sentences_go_on_by_themselves():
    with torch.no_grad():
        cache, (keys, values) = filled([4, 1])
        chosen = cache.select(torch.tensor([1, 1, 0]))
        assert torch.equal(chosen.K, keys[[1, 1, 0]])
        assert torch.equal(chosen.V, values[[1, 1, 0]])
        chosen.joined(*(torch.zeros(3, H, 1, d) for d in (D, D_V)))
        chosen.keep(1)
        assert (chosen.length, cache.length) == (6, 5)
        assert torch.equal(cache.K, keys)
    assert KeyValueCache().select(torch.tensor([0])).K is None


def test_copies_go_on_by_themselves():
    """One prompt, continued in several ways."""
    with torch.no_grad():
        cache, (keys, values) = filled([4, 1])
        copies = [copy.copy(cache) for _ in range(2)]
        for seed, each in enumerate((*copies, cache)):
            each.joined(*step(2, seed=50 + seed))
            each.keep(2)
        for seed, each in enumerate((*copies, cache)):
            more = step(2, seed=50 + seed)
            assert (each.length, each.holds) == (7, "self")
            assert torch.equal(each.K, torch.cat([keys, more[0]], dim=-2))
            assert torch.equal(each.V, torch.cat([values, more[1]], dim=-2))
    assert copy.copy(KeyValueCache()).K is None
    memory = KeyValueCache()
    memory.keep_memory(*step(5))
    assert torch.equal(copy.copy(memory).recalled(torch.zeros(B, 5, 11))[0], step(5)[0])


def test_a_memory_is_recalled_as_it_was():
    cache, (keys, values) = KeyValueCache(), step(5)
    cache.keep_memory(keys, values)
    recalled = cache.recalled(torch.zeros(B, 5, 11))
    assert recalled[0] is keys
    assert recalled[1] is values


def test_errors(unchecked):
    cache, _ = filled([4])
    with pytest.raises(
        ValueError, match=r"holds keys of shape \(2, 3, 4, 5\).*new ones have shape \(2, 1, 4, 5\).*anot"
    ):
        cache.joined(*(x[:, :1] for x in step(4)))
    with pytest.raises(ValueError, match=r"holds values of shape \(2, 3, 4, 7\).*\(2, 3, 1, 6\)"):
        cache.joined(step(1)[0], step(1)[1][..., :6])
    with pytest.raises(ValueError, match=r"in torch.float32 and the new ones have.*in torch.float64"):
        cache.joined(*step(1, dtype=torch.float64))
    with pytest.raises(ValueError, match="holds the keys of self-attention and cannot be used with a memory"):
        cache.check_use("memory")
    memory = KeyValueCache()
    memory.keep_memory(*step(5))
    with pytest.raises(ValueError, match=r"holds the keys of a memory .* cannot be used for self-attention"):
        memory.joined(*step(1))
    with pytest.raises(ValueError, match=r"a memory of 5 positions with leading dimensions \(2,\), got one of shape"):
        memory.recalled(torch.zeros(B, 6, 11))
    single = KeyValueCache()
    single.joined(*(x[0] for x in step(4)))
    single.keep(4)
    with pytest.raises(ValueError, match=r"no batch axis to select from, their shape is \(3, 4, 5\)"):
        single.select(torch.tensor([0]))
