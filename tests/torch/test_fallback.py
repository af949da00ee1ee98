"""Attention in torch's own operations, for tensors that the kernels cannot read.

That its output and gradients are right is tested with the kernels, whose judge it is: test_gradients_table.py.
"""

from __future__ import annotations

import pytest
import torch

import clearhead.torch as cht
from clearhead import biases, masks
from clearhead.call import HeadRun
from clearhead.torch import fallback, function

from .forced import in_blocks, in_plain_torch, without_kernels
from .tensors import randn

attention = without_kernels()


def leaf(*shape: int, seed: int = 0) -> torch.Tensor:
    return randn(*shape, seed=seed).requires_grad_()


@pytest.mark.parametrize("name", "qkv")
def test_a_row_alone_is_refused_in_the_words_of_the_kernels(name, unchecked):
    tensors = dict(zip("qkv", torch.ones(3, 1, 4, 5, 6), strict=True)) | {name: torch.ones(3)}
    for call in (attention, without_kernels(cht.explain)):
        with pytest.raises(ValueError, match=rf"{name} needs at least 2 dimensions, got shape \(3,\)"):
            call(*tensors.values())


@pytest.mark.parametrize("options", [{"softcap": 3.0}, {"scale": -0.3}], ids=str)
def test_an_infinite_score_has_no_gradient(options):
    """It is a number under a softcap, or −inf where the scale is negative; either way nothing moves it."""
    q, k, v = leaf(1, 2, 3, 4), leaf(1, 2, 5, 4, seed=1), leaf(1, 2, 5, 4, seed=2)
    with torch.no_grad():
        q[..., 0] = 1
        k[..., 3, 0] = torch.inf
    in_blocks(q, k, v, **options).sum().backward()
    for x in (q, k, v):
        assert x.grad is not None
        assert torch.isfinite(x.grad).all()
    assert not k.grad[..., 3, :].any()


@pytest.mark.parametrize("call", [function.checked_attention, without_kernels(function.checked_attention)])
def test_dropout_counts_some_of_the_heads_as_all_of_them_do(call):
    q, k, v = randn(2, 5, 7, 4), randn(2, 5, 9, 4, seed=1), randn(2, 5, 9, 3, seed=2)
    options = {"bias": None, "sinks": None, "part": None, "return_lse": False, "scale": None, "softcap": None}
    options |= {"dropout": 0.5, "seed": 3}
    whole, _ = call(q, k, v, None, **options)
    some, _ = call(q[:, 2:4], k[:, 2:4], v[:, 2:4], None, among=HeadRun(2, 5), **options)
    torch.testing.assert_close(some, whole[:, 2:4], rtol=0, atol=0)


class TestTheWay:
    """Torch's own attention where it means the same, and blocks of queries and keys elsewhere."""

    def test_which(self):
        q, k = torch.zeros(2, 4, 300, 8), torch.zeros(2, 4, 500, 8)
        assert fallback.way(q, q, q) == "torch"
        assert fallback.way(q, q, q, mask=masks.causal()) == "torch"
        assert fallback.way(q, k, k, mask=masks.causal()) == "chunked", "torch counts from the first key"
        for options in ({"softcap": 2.0}, {"dropout": 0.1}, {"lse": True}, {"sinks": torch.zeros(4)}, {"bias": q}):
            assert fallback.way(q, q, q, **options) == "chunked"
        assert fallback.way(q, q, q, mask=masks.causal(), part=(3, 0, 0)) == "chunked", "torch knows of no part"

    @pytest.mark.parametrize("mask", [None, masks.causal()], ids=str)
    def test_both_say_the_same(self, mask):
        q, k, v = leaf(2, 4, 300, 8), leaf(2, 2, 300, 8, seed=1), leaf(2, 2, 300, 8, seed=2)
        fused, in_chunks = attention(q, k, v, mask=mask), attention(q, k, v, mask=mask, return_lse=True)[0]
        torch.testing.assert_close(fused, in_chunks)

    def test_explain(self):
        q = torch.zeros(2, 4, 300, 8)
        assert fallback.explain(q, q, q).path == "torch (cpu)"
        plan = fallback.explain(q, q, q, softcap=2.0)
        assert plan.path == "chunked (cpu)"
        assert plan.tasks == 1
        assert "blocks of 512 queries and 4096 keys" in plan.reason
        assert "no kernels for cpu" in plan.slow[0]

    def test_a_tensor_elsewhere_is_sent_there(self, monkeypatch):
        seen = {}

        def note(q, k, v, **options):
            seen.update(device=q.device.type, **options)
            return q, None

        monkeypatch.setattr(fallback, "attention", note)
        q = torch.zeros(2, 4, 3, 8, device="meta")
        cht.attention(q, q, q, scale=0.5)
        assert (seen["device"], seen["scale"]) == ("meta", 0.5)


class TestMemory:
    """It is that of a block, however long the text and however many heads."""

    def test_a_million_keys(self):
        """256 queries, 32 heads: with whole rows of scores it was 96 GiB."""
        q, k = torch.empty(32, 256, 128, device="meta"), torch.empty(8, 2**20, 128, device="meta")
        plan = cht.explain(q, k, k, softcap=2.0)
        assert plan.memory["scores of a block"] < 2**30
        assert plan.cut.key_parts == 512

    def test_nothing_of_the_size_of_the_scores_is_kept_for_the_way_back(self):
        inputs = leaf(2, 1000, 8), leaf(2, 1000, 8, seed=1), leaf(2, 1000, 8, seed=2), leaf(2, seed=3)
        storages: dict[int, int] = {}

        def note(x: torch.Tensor) -> torch.Tensor:
            storages[x.untyped_storage().data_ptr()] = x.untyped_storage().nbytes()
            return x

        def kept(call) -> int:
            storages.clear()
            with torch.autograd.graph.saved_tensors_hooks(note, lambda x: x):
                call(*inputs[:3], sinks=inputs[3], mask=masks.causal(), softcap=2.0, dropout=0.2, seed=5)
            return sum(storages.values())

        scores = 2 * 1000 * 1000 * 8
        assert kept(in_blocks) < scores / 10
        assert kept(in_plain_torch) > scores


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": torch.zeros(2, 5, 7)}, "keys have 7 columns but queries have 8"),
        ({"v": torch.zeros(2, 6, 8)}, "there are 5 keys but 6 values"),
        ({"k": torch.zeros(3, 5, 8), "v": torch.zeros(3, 5, 8)}, "2 query heads cannot share 3 key/value heads"),
        ({"mask": torch.ones(3, 5, dtype=torch.bool)}, r"mask of shape \(3, 5\) does not broadcast .* \(2, 5, 5\)"),
        ({"bias": torch.zeros(3, 5, 5)}, r"bias of shape \(3, 5, 5\) does not broadcast .* \(2, 5, 5\)"),
        ({"bias": biases.alibi(3)}, "the bias is for 3 heads but there are 2"),
        ({"sinks": torch.zeros(3)}, r"sinks need one number per head, shape \(2,\), got shape \(3,\)"),
        ({"softcap": 0.0}, "softcap must be greater than 0, got 0"),
        ({"dropout": 0.5}, "dropout=0.5 needs a seed"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(change, message, unchecked):
    x = torch.zeros(2, 5, 8)
    with pytest.raises(ValueError, match=message):
        attention(**{"q": x, "k": x, "v": x} | change)
