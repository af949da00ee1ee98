"""Gradients where there is nothing to see: no key left, masked NaN, no queries, no keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.autograd import grad

from clearhead import masks
from clearhead.torch import attention, biases

from .tensors import D_V, KV, N_K, N_Q, B, D, H, leaf, qkv, randn


class TestNoKeyLeft:
    """A query that sees no key: its gradient is 0, and it adds nothing to any other, whatever its own gradient is."""

    SECOND_ROW = torch.tensor([[True] * N_K, [False] * N_K, *[[True] * N_K] * 3])

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
    @pytest.mark.parametrize(
        "options",
        [
            pytest.param({"mask": SECOND_ROW}, id="tensor of flags"),
            pytest.param({"mask": masks.array(SECOND_ROW.numpy())}, id="array of flags"),
            pytest.param({"mask": masks.where(lambda b, h, i, j: i != 1)}, id="function"),
            pytest.param({"mask": torch.where(SECOND_ROW, 0.0, -torch.inf)}, id="float mask"),
            pytest.param({"bias": torch.where(SECOND_ROW, 0.0, -torch.inf)}, id="bias"),
            pytest.param({"mask": SECOND_ROW, "softcap": 0.5, "dropout": 0.2, "seed": 1}, id="softcap and dropout"),
            pytest.param({"mask": SECOND_ROW, "sinks": torch.full((H,), -torch.inf)}, id="sinks"),
        ],
    )
    def test_one_row(self, options, dtype):
        q, k, v = qkv(dtype)
        output, lse = attention(q, k, v, **options, return_lse=True)
        assert (output[:, :, 1] == 0).all()
        assert torch.isneginf(lse[:, :, 1]).all()
        gradient = randn(B, H, N_Q, D_V, dtype=dtype)
        found = []
        for strange in (1.0, torch.nan, torch.inf, 1e30):
            gradient[:, :, 1] = strange
            found.append(grad([output, lse], (q, k, v), [gradient, torch.ones_like(lse)], retain_graph=True))
        assert (found[0][0][:, :, 1] == 0).all()
        for other in found[1:]:
            assert all(torch.equal(a, b) for a, b in zip(other, found[0], strict=True))

    @pytest.mark.parametrize("mask", [masks.key_lengths([N_K, 0]), masks.causal(offset=-N_Q), masks.prefix(0)], ids=str)
    def test_many_rows(self, mask):
        q, k, v = qkv(torch.float32)
        output = attention(q, k, v, mask=mask)
        empty = (output == 0).all(dim=-1)
        assert empty.any()
        d_q, *others = grad(output.sin().sum() + output.sum(), (q, k, v))
        assert (d_q[empty] == 0).all()
        assert all(torch.isfinite(x).all() for x in others)

    def test_a_sink_gathers_what_an_empty_row_gives(self):
        """Its weight is 1 and its value nothing: no gradient but through lse, which is the sink itself."""
        sinks = leaf(H)
        output, lse = attention(*qkv(), mask=masks.prefix(0), sinks=sinks, return_lse=True)
        assert (grad(output.sum(), sinks, retain_graph=True)[0] == 0).all()
        torch.testing.assert_close(grad(lse.sum(), sinks)[0], torch.full((H,), float(B * N_Q), dtype=torch.float64))


HIDING: dict[str, dict[str, Any]] = {
    "a range": {"mask": masks.prefix(N_K - 2)},
    "causal": {"mask": masks.causal(offset=0)},
    "an array": {"mask": masks.array(np.arange(N_K) < N_K - 2)},
    "booleans": {"mask": torch.arange(N_K) < N_K - 2},
    "−inf in a mask": {"mask": torch.where(torch.arange(N_K) < N_K - 2, 0, -torch.inf)},
    "−inf in a bias": {"bias": torch.where(torch.arange(N_K) < N_K - 2, 0, -torch.inf)},
    "a rule": {"mask": masks.where(lambda b, h, i, j: j < N_K - 2)},
}


class TestMaskedNaN:
    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
    @pytest.mark.parametrize("softcap", [None, 1.0], ids=["", "softcap"])
    @pytest.mark.parametrize("dropout", [0.0, 0.3], ids=["", "dropout"])
    @pytest.mark.parametrize("hiding", HIDING)
    def test_it_changes_no_gradient(self, hiding, softcap, dropout, dtype):
        """What is masked may be anything: every gradient is that with zeros in its place."""
        options = HIDING[hiding] | {"softcap": softcap, "dropout": dropout, "seed": 1}
        found = []
        for strange in (0.0, torch.nan, torch.inf, -torch.inf):
            q, k, v = (x.detach() for x in qkv(dtype))
            k[..., N_K - 2 :, :] = v[..., N_K - 2 :, :] = strange
            tensors = [x.requires_grad_() for x in (q, k, v)]
            output, lse = attention(*tensors, **options, return_lse=True)
            found.append((output, *grad([output, lse], tensors, [torch.ones_like(output), torch.ones_like(lse)])))
        for other in found[1:]:
            assert all(torch.equal(a, b) for a, b in zip(other, found[0], strict=True))
        assert all((x[..., N_K - 2 :, :] == 0).all() for x in found[0][2:])

    @pytest.mark.parametrize("n", [5, 70, 131])
    def test_in_sight_of_some_it_reaches_only_theirs(self, n):
        """The last value is NaN, and only the last query sees it."""
        q, k, v = (randn(2, n, 5, dtype=torch.float32, seed=s) for s in range(3))
        v[..., -1, :] = torch.nan
        tensors = [x.requires_grad_() for x in (q, k, v)]
        output = attention(*tensors, mask=masks.causal())
        d_q, _, d_v = grad(output[:, :-1].sum() + 0 * output[:, -1].nan_to_num().sum(), tensors)
        assert torch.isfinite(output[:, :-1]).all()
        assert torch.isfinite(d_q[:, :-1]).all()
        assert torch.isfinite(d_v).all()


class TestNothingThere:
    @pytest.mark.parametrize(("n_q", "n_k"), [(0, N_K), (N_Q, 0), (0, 0), (1, 0), (0, 1)])
    @pytest.mark.parametrize(
        "name", ["plain", "mask causal", "mask rule", "mask array", "slopes", "T5's table", "sinks", "everything"]
    )
    def test_gradients_of_nothing_are_nothing(self, name, n_q, n_k):
        q, k, v = leaf(B, H, n_q, D), leaf(B, KV, n_k, D), leaf(B, KV, n_k, D_V)
        options: dict[str, Any] = {
            "plain": {},
            "mask causal": {"mask": masks.causal()},
            "mask rule": {"mask": masks.dilated(2)},
            "mask array": {"mask": torch.ones(n_q, n_k, dtype=torch.bool)},
            "slopes": {"bias": biases.alibi(slopes := leaf(H))},
            "T5's table": {"bias": biases.t5(table := leaf(8, H))},
            "sinks": {"sinks": (sinks := leaf(H))},
            "everything": {
                "mask": masks.dilated(2) & masks.causal(),
                "bias": (bias := leaf(H, n_q, n_k)),
                "sinks": sinks,
                "softcap": 1.0,
                "dropout": 0.1,
                "seed": 0,
            },
        }[name]
        used = {"slopes": [slopes], "T5's table": [table], "sinks": [sinks], "everything": [sinks, bias]}.get(name, [])
        output = attention(q, k, v, **options)
        assert output.shape == (B, H, n_q, D_V)
        assert (output == 0).all()
        for x, g in zip((q, k, v, *used), grad(output.sum(), (q, k, v, *used)), strict=True):
            assert g.shape == x.shape
            assert (g == 0).all()

    @pytest.mark.parametrize("shape", [(0, H), (B, 0)], ids=str)
    def test_no_batch_and_no_heads(self, shape):
        q, k, v = leaf(*shape, N_Q, D), leaf(*shape, N_K, D), leaf(*shape, N_K, D_V)
        bias, sinks = leaf(shape[1], 1, N_K), leaf(shape[1])
        for x, g in zip(
            (q, k, v, bias, sinks),
            grad(attention(q, k, v, bias=bias, sinks=sinks).sum(), (q, k, v, bias, sinks)),
            strict=True,
        ):
            assert g.shape == x.shape
            assert (g == 0).all()
