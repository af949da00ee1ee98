"""torch's scaled_dot_product_attention judges the stand-in for it: values, gradients and refusals."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention as theirs

from clearhead import masks
from clearhead.torch import scaled_dot_product_attention as ours


def draw(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(*shape, dtype=dtype, requires_grad=True)


@pytest.fixture(autouse=True)
def steady():
    torch.manual_seed(20_000)


def agree(q, k, v, **options):
    a, b = ours(q, k, v, **options), theirs(q, k, v, **options)
    torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-12)
    way = torch.randn_like(a)
    for x, y in zip(torch.autograd.grad(a, (q, k, v), way), torch.autograd.grad(b, (q, k, v), way), strict=True):
        torch.testing.assert_close(x, y, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    "shape", [(5, 7, 3, 3), (7, 5, 3, 3), (1, 70, 16, 16), (70, 1, 16, 16), (67, 131, 17, 17), (11, 13, 5, 2)], ids=str
)
class TestValuesAndGradients:
    @pytest.fixture
    def qkv(self, shape):
        n_q, n_k, d, d_v = shape
        return draw(2, 3, n_q, d), draw(2, 3, n_k, d), draw(2, 3, n_k, d_v)

    def test_plain(self, qkv):
        agree(*qkv)

    def test_causal_from_the_first_query_and_the_first_key(self, qkv):
        agree(*qkv, is_causal=True)

    @pytest.mark.parametrize("scale", [0.0, 0.3, -0.2])
    def test_scale(self, qkv, scale):
        agree(*qkv, scale=scale)

    @pytest.mark.parametrize("lead", [(), (3,), (2, 1), (1, 3), (2, 3)], ids=str)
    @pytest.mark.parametrize("kind", [torch.bool, torch.float64], ids=str)
    def test_masks(self, qkv, lead, kind):
        mask = torch.randn(*lead, qkv[0].shape[-2], qkv[1].shape[-2], dtype=torch.float64)
        agree(*qkv, attn_mask=mask > -0.5 if kind == torch.bool else mask)

    @pytest.mark.parametrize("kind", [torch.bool, torch.float64], ids=str)
    def test_a_mask_and_causal_both_hold(self, qkv, kind):
        mask = torch.randn(qkv[0].shape[-2], qkv[1].shape[-2], dtype=torch.float64)
        if qkv[1].shape[-1] != qkv[2].shape[-1]:
            with pytest.raises(RuntimeError):
                theirs(*qkv, attn_mask=mask, is_causal=True)  # torch's slow path refuses it
            return
        agree(*qkv, attn_mask=mask > -1 if kind == torch.bool else mask, is_causal=True)

    def test_shared_heads(self, qkv):
        q, k, v = qkv
        agree(torch.cat([q, q], dim=1).detach().requires_grad_(), k, v, enable_gqa=True, is_causal=True)

    def test_without_batch_or_heads(self, qkv):
        agree(*(x[0].detach().requires_grad_() for x in qkv))
        agree(*(x[0, 0].detach().requires_grad_() for x in qkv), is_causal=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_other_types(dtype):
    q, k, v = (draw(2, 3, 37, 16, dtype=dtype) for _ in range(3))
    output = ours(q, k, v, is_causal=True)
    assert output.dtype == dtype
    exact = theirs(*(x.double() for x in (q, k, v)), is_causal=True)
    torch.testing.assert_close(output.double(), exact, rtol=4 * torch.finfo(dtype).eps, atol=4 * torch.finfo(dtype).eps)


def test_a_row_with_every_key_masked_is_zero_and_a_masked_nan_stays_masked():
    q, k, v = (draw(1, 2, 5, 3) for _ in range(3))
    mask = torch.ones(5, 5, dtype=torch.bool)
    mask[2], mask[:, 4] = False, False
    with torch.no_grad():
        v[..., 4, :] = torch.nan
    output = ours(q, k, v, attn_mask=mask)
    assert (output[..., 2, :] == 0).all()
    assert torch.isfinite(output).all()


class TestDropout:
    def test_manual_seed_repeats_it(self):
        q, k, v = (draw(2, 3, 37, 16) for _ in range(3))
        torch.manual_seed(7)
        first = ours(q, k, v, dropout_p=0.5)
        second = ours(q, k, v, dropout_p=0.5)
        torch.manual_seed(7)
        assert torch.equal(ours(q, k, v, dropout_p=0.5), first)
        assert not torch.equal(first, second)

    def test_it_drops_the_share_it_says_and_keeps_the_mean(self):
        q, k, v = torch.zeros(1, 1, 400, 8), torch.zeros(1, 1, 500, 8), torch.ones(1, 1, 500, 1)
        output = ours(q, k, v, dropout_p=0.25)
        assert abs(output.mean().item() - 1) < 0.01
        share = output.var().item() * 500
        assert abs(share - 0.25 / 0.75) < 0.05

    def test_all_of_it(self):
        q, k, v = (draw(2, 3, 5, 4) for _ in range(3))
        output = ours(q, k, v, dropout_p=1.0)
        assert output.shape == (2, 3, 5, 4)
        assert (output == 0).all()


class TestRefusals:
    """Where torch raises, so does the stand-in, and says what to do."""

    @pytest.mark.parametrize(
        ("change", "options", "message"),
        [
            ({}, {"dropout_p": 1.5}, "dropout_p must be between 0 and 1"),
            ({"query": torch.zeros(3)}, {}, "at least 2 dimensions"),
            ({"key": torch.zeros(2, 3, 5, 4, dtype=torch.float64)}, {}, "must have one dtype"),
            ({"query": torch.zeros(2, 6, 5, 4)}, {}, "pass enable_gqa=True"),
            ({"key": torch.zeros(2, 3, 5, 7)}, {}, "keys have 7 columns but queries have 4"),
            ({}, {"attn_mask": torch.ones(4, 4, dtype=torch.bool)}, "does not broadcast to the scores' shape"),
        ],
    )  # fmt: skip
    def test_both_raise(self, change, options, message, unchecked):
        arguments = {name: torch.zeros(2, 3, 5, 4) for name in ("query", "key", "value")} | change
        with pytest.raises((RuntimeError, ValueError), match=message):
            ours(**arguments, **options)
        with pytest.raises((RuntimeError, ValueError, IndexError)):
            theirs(**arguments, **options)

    def test_a_value_too_many_which_torch_lets_pass(self, unchecked):
        q = torch.zeros(2, 3, 5, 4)
        with pytest.raises(ValueError, match="5 keys but 6 values"):
            ours(q, q, torch.zeros(2, 3, 6, 4))


class TestMasks:
    """Beside torch's tensors: masks from clearhead.masks, and floats that were meant to be booleans."""

    @pytest.mark.parametrize(
        "mask",
        [masks.causal(), masks.window(3) | masks.prefix(1), masks.key_lengths([5, 2]), masks.array(np.eye(5, 7) == 0)],
        ids=str,
    )
    @pytest.mark.parametrize("is_causal", [False, True])
    def test_a_mask_means_its_array(self, mask, is_causal):
        q, k, v = draw(2, 3, 5, 4), draw(2, 3, 7, 4), draw(2, 3, 7, 4)
        written = torch.from_numpy(mask.array(5, 7, batch_shape=(2,), heads=3))
        expected = ours(q, k, v, attn_mask=written, is_causal=is_causal)
        torch.testing.assert_close(ours(q, k, v, attn_mask=mask, is_causal=is_causal), expected, rtol=0, atol=1e-15)

    def test_an_array_is_refused_with_the_cure(self, unchecked):
        q = torch.zeros(2, 3, 5, 4)
        with pytest.raises(
            TypeError, match=r"attn_mask must be .* a mask from clearhead.masks, got ndarray \(torch.as"
        ):
            ours(q, q, q, attn_mask=np.eye(5) == 1)

    @pytest.mark.parametrize("is_causal", [False, True])
    def test_zeros_and_ones_are_named(self, is_causal):
        q = torch.zeros(2, 3, 5, 4)
        with pytest.warns(
            masks.MaskWarning, match=r"attn_mask holds floats that are all 0 or 1.*attn_mask.bool\(\)"
        ) as told:
            ours(q, q, q, attn_mask=torch.ones(5, 5).tril(), is_causal=is_causal)
        assert len(told) == 1
        ours(q, q, q, attn_mask=torch.ones(5, 5).tril().bool(), is_causal=is_causal)
        ours(q, q, q, attn_mask=torch.ones(5, 5).tril().requires_grad_(), is_causal=is_causal)  # learned
