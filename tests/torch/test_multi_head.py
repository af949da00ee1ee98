"""torch.nn.MultiheadAttention beside the stand-in with its state_dict: outputs, weights, gradients, and errors."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from clearhead import masks
from clearhead.torch.function import attention
from clearhead.torch.multi_head import MultiheadAttention, attention_weights, multi_head_attention_forward

D, HEADS, B, N_Q, N_K = 21, 3, 2, 5, 11
TOLERANCE = {torch.float64: {"rtol": 1e-10, "atol": 1e-11}, torch.float32: {"rtol": 2e-5, "atol": 2e-6}}
CONSTRUCTED = {
    "packed": {},
    "without bias": {"bias": False},
    "other widths": {"kdim": 13, "vdim": 17},
    "one other width": {"vdim": 17, "bias": False},
    "one more key": {"add_bias_kv": True},
    "a zero key": {"add_zero_attn": True},
    "two more keys": {"add_bias_kv": True, "add_zero_attn": True, "kdim": 13},
}


def drawn(module, dtype=torch.float64):
    """Every parameter drawn, biases too, so that each does something."""
    generator = torch.Generator().manual_seed(0)
    module = module.to(dtype)
    with torch.no_grad():
        for parameter in module.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.copy_(noise / parameter.shape[-1] ** 0.5)
    return module


def pair(dtype=torch.float64, **options):
    """torch's module, and ours with its checkpoint."""
    theirs = drawn(nn.MultiheadAttention(D, HEADS, **options), dtype)
    ours = MultiheadAttention(D, HEADS, **options, dtype=dtype)
    ours.load_state_dict(theirs.state_dict())
    return theirs, ours


def randn(*shape, dtype=torch.float64, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed + sum(shape)), dtype=dtype)


def inputs(module, *, cross=True, batched=True, dtype=torch.float64):
    """query, key and value for a module, as it wants them."""
    n_k = N_K if cross else N_Q

    def laid_out(x):
        return x[0] if not batched else x if module.batch_first else x.transpose(0, 1)

    q = laid_out(randn(B, N_Q, D, dtype=dtype)).requires_grad_()
    if not cross:
        return q, q, q
    key, value = (laid_out(randn(B, n_k, width, dtype=dtype, seed=2)) for width in (module.kdim, module.vdim))
    return q, key.requires_grad_(), value.requires_grad_()


def some_masks(kind, n_k=N_K):
    """torch's masks, True = masked out, in which every query keeps a key: torch answers NaN otherwise."""
    out = randn(N_Q, n_k, seed=3) > 0.4
    out[:, 0] = False
    padding = torch.arange(n_k) >= torch.tensor([n_k, n_k - 2])[:, None]
    per_head = randn(B * HEADS, N_Q, n_k, seed=4) > 0.4
    per_head[..., 0] = False
    added = randn(N_Q, n_k, seed=5)
    added[:, 1] = -torch.inf
    return {
        "none": {},
        "boolean": {"attn_mask": out},
        "additive": {"attn_mask": added},
        "boolean per head": {"attn_mask": per_head},
        "additive per head": {"attn_mask": randn(B * HEADS, N_Q, n_k, seed=6)},
        "padding at the end": {"key_padding_mask": padding},
        "padding at the start": {"key_padding_mask": padding.flip(-1)},
        "added to keys": {"key_padding_mask": randn(B, n_k, seed=7)},
        "both boolean": {"attn_mask": out, "key_padding_mask": padding},
        "both additive": {"attn_mask": added, "key_padding_mask": randn(B, n_k, seed=7)},
        "zeros and -inf": {
            "attn_mask": torch.zeros(N_Q, n_k, dtype=torch.float64).masked_fill(out, -torch.inf),
            "key_padding_mask": torch.zeros(B, n_k, dtype=torch.float64).masked_fill(padding, -torch.inf),
        },
    }[kind]


KINDS = [
    "none",
    "boolean",
    "additive",
    "boolean per head",
    "additive per head",
    "padding at the end",
    "padding at the start",
    "added to keys",
    "both boolean",
    "both additive",
    "zeros and -inf",
]


def gradients(module, answer, tensors):
    """Of everything that went in, from a loss that every number of the output and the weights takes part in."""
    loss = sum((x * randn(*x.shape, dtype=x.dtype, seed=8)).sum() for x in answer if x is not None)
    return torch.autograd.grad(loss, [*module.parameters(), *tensors])


def check_agreement(theirs, ours, tensors, dtype=torch.float64, **options):
    candidates = {id(x): x for x in (*tensors, options.get("attn_mask")) if x is not None}
    distinct = [x for x in candidates.values() if x.requires_grad]
    expected, got = theirs(*tensors, **options), ours(*tensors, **options)
    close(got[0], expected[0], dtype)
    assert (got[1] is None) == (expected[1] is None)
    if got[1] is not None:
        close(got[1], expected[1], dtype)
    for a, b in zip(gradients(ours, got, distinct), gradients(theirs, expected, distinct), strict=True):
        close(a, b, dtype)


def close(got, expected, dtype):
    assert got.shape == expected.shape
    torch.testing.assert_close(got, expected, **TOLERANCE[dtype])


@pytest.mark.parametrize("built", CONSTRUCTED)
@pytest.mark.parametrize("kind", KINDS)
def test_outputs_weights_and_gradients_agree(built, kind):
    theirs, ours = pair(**CONSTRUCTED[built], batch_first=True)
    tensors = inputs(ours)
    for need_weights in (False, True):
        check_agreement(theirs, ours, tensors, need_weights=need_weights, **some_masks(kind))


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("cross", [True, False], ids=["cross", "self"])
def test_layouts(batch_first, average, cross):
    theirs, ours = pair(batch_first=batch_first)
    tensors = inputs(ours, cross=cross)
    options = some_masks("both boolean", N_K if cross else N_Q)
    check_agreement(theirs, ours, tensors, average_attn_weights=average, **options)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("kind", ["none", "boolean", "per head", "padding"])
def test_without_a_batch(batch_first, kind):
    theirs, ours = pair(batch_first=batch_first, add_bias_kv=True)
    tensors = inputs(ours, batched=False)
    options = {
        "none": {},
        "boolean": {"attn_mask": some_masks("boolean")["attn_mask"]},
        "per head": {"attn_mask": some_masks("boolean per head")["attn_mask"][:HEADS]},
        "padding": {"key_padding_mask": torch.arange(N_K) > 7},
    }[kind]
    for average in (True, False):
        check_agreement(theirs, ours, tensors, average_attn_weights=average, **options)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("built", ["packed", "two more keys"])
def test_the_hint_that_a_mask_is_causal(padded, built):
    theirs, ours = pair(**CONSTRUCTED[built], batch_first=True)
    tensors = inputs(ours)
    causal = torch.arange(N_K) > torch.arange(N_Q)[:, None]
    options = {"attn_mask": causal}
    if padded:
        options["key_padding_mask"] = torch.arange(N_K) > torch.tensor([[3], [2]])
    expected = theirs(*tensors, **options)  # without the hint: torch hides the added keys when it believes it
    for need_weights in (False, True):
        got = ours(*tensors, **options, is_causal=True, need_weights=need_weights)
        close(got[0], expected[0], torch.float64)
    close(got[1], expected[1], torch.float64)


@pytest.mark.parametrize("kind", ["none", "boolean per head", "additive", "both boolean"])
def test_float32(kind):
    theirs, ours = pair(torch.float32)
    masks_ = {name: x.float() if x.is_floating_point() else x for name, x in some_masks(kind).items()}
    check_agreement(theirs, ours, inputs(ours, dtype=torch.float32), torch.float32, **masks_)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types_are_rounded_from_float32(dtype):
    _, ours = pair(dtype)
    wide = copy.deepcopy(ours).double()
    tensors = inputs(ours, dtype=dtype)
    output, weights = ours(*tensors)
    expected, expected_weights = wide(*(x.double() for x in tensors))
    assert output.dtype == weights.dtype == dtype
    rounding = 3e-3 if dtype == torch.float16 else 2.5e-2
    torch.testing.assert_close(output.double(), expected, rtol=0, atol=rounding * 2)
    torch.testing.assert_close(weights.double(), expected_weights, rtol=0, atol=rounding)


def test_a_learned_mask_gets_its_gradient():
    theirs, ours = pair(batch_first=True)
    learned = randn(N_Q, N_K, seed=5).requires_grad_()
    for need_weights in (False, True):
        check_agreement(theirs, ours, inputs(ours), attn_mask=learned, need_weights=need_weights)
    zeros = torch.zeros(N_Q, N_K, dtype=torch.float64, requires_grad=True)  # zeros, but still learned
    check_agreement(theirs, ours, inputs(ours), attn_mask=zeros, need_weights=False)


@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize("built", CONSTRUCTED)
def test_asking_for_weights_does_not_change_a_bit_of_the_output(built, dropout):
    _, ours = pair(torch.float32, **CONSTRUCTED[built], dropout=dropout)
    tensors = inputs(ours, dtype=torch.float32)
    for kind in KINDS:
        found = []
        for options in ({"need_weights": False}, {}, {"average_attn_weights": False}):
            torch.manual_seed(7)
            found.append(ours(*tensors, **options, **some_masks(kind))[0])
        assert torch.equal(found[0], found[1])
        assert torch.equal(found[0], found[2])


def test_without_weights_it_is_the_kernels_answer_to_the_bit():
    _, ours = pair(torch.float32, batch_first=True)
    x = randn(B, N_Q, D, dtype=torch.float32)
    q, k, v = (
        p.unflatten(-1, (HEADS, -1)).transpose(1, 2)
        for p in functional.linear(x, ours.in_proj_weight, ours.in_proj_bias).chunk(3, dim=-1)
    )
    mixed = attention(q, k, v, mask=masks.causal()).transpose(1, 2).flatten(-2)
    causal = torch.ones(N_Q, N_Q, dtype=torch.bool).triu(1)
    got = ours(x, x, x, attn_mask=causal, is_causal=True, need_weights=False)[0]
    assert torch.equal(got, ours.out_proj(mixed))


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("how", ["padding", "boolean", "-inf"])
def test_a_query_with_no_key_left_gives_zero_where_torch_says_nan(need_weights, how):
    theirs, ours = pair(batch_first=True)
    tensors = inputs(ours)
    options = {
        "padding": {"key_padding_mask": torch.tensor([[True], [False]]).expand(B, N_K)},
        "boolean": {"attn_mask": torch.arange(N_Q)[:, None].eq(2).expand(N_Q, N_K)},
        "-inf": {"attn_mask": torch.zeros(N_Q, N_K).double().masked_fill(torch.arange(N_Q)[:, None] == 2, -torch.inf)},
    }[how]
    empty = torch.zeros(B, N_Q, dtype=torch.bool)
    empty[0 if how == "padding" else slice(None), slice(None) if how == "padding" else 2] = True
    expected = theirs(*tensors, **options)
    got = ours(*tensors, **options, need_weights=need_weights)
    close(got[0][empty], ours.out_proj.bias.expand_as(got[0][empty]), torch.float64)  # W_O 0 + b_O
    close(got[0][~empty], expected[0][~empty], torch.float64)
    if need_weights:
        assert torch.isnan(expected[1][empty]).all(), "torch has learned better: say so in the docs"
        assert torch.equal(got[1][empty], torch.zeros_like(got[1][empty]))
        close(got[1][~empty], expected[1][~empty], torch.float64)
    for gradient in gradients(ours, got, tensors):
        assert torch.isfinite(gradient).all()
    (of_query,) = torch.autograd.grad(ours(*tensors, **options)[0].square().sum(), [tensors[0]])
    assert torch.equal(of_query[empty], torch.zeros_like(of_query[empty]))


def test_masked_keys_and_values_may_hold_anything():
    _, ours = pair(batch_first=True)
    q, k, v = (x.detach() for x in inputs(ours))
    padding = torch.arange(N_K).ge(8).expand(B, N_K)
    expected = ours(q, k, v, key_padding_mask=padding)
    k[:, 8:], v[:, 8:] = torch.nan, torch.inf
    got = ours(q, k, v, key_padding_mask=padding)
    assert torch.equal(got[0], expected[0])
    assert torch.equal(got[1], expected[1])


# Dropout


def test_the_weights_are_those_that_made_the_output():
    _, ours = pair(dropout=0.4, batch_first=True)
    q, k, v = (x.detach() for x in inputs(ours))
    output, weights = ours(q, k, v, average_attn_weights=False)
    w_v, b_v = ours.in_proj_weight.chunk(3)[2], ours.in_proj_bias.chunk(3)[2]
    values = functional.linear(v, w_v, b_v).unflatten(-1, (HEADS, -1)).transpose(1, 2)
    close(output, ours.out_proj((weights @ values).transpose(1, 2).flatten(-2)), torch.float64)
    plain = ours.eval()(q, k, v, average_attn_weights=False)[1]
    kept = weights != 0
    assert 0.45 < kept.double().mean() < 0.75
    close(weights[kept], plain[kept] / 0.6, torch.float64)


def test_dropout_follows_torchs_seed_and_ends_with_training():
    _, ours = pair(dropout=0.4)
    tensors = inputs(ours)

    def run(seed):
        torch.manual_seed(seed)
        return ours(*tensors, need_weights=False)[0]

    assert torch.equal(run(3), run(3))
    assert not torch.equal(run(3), run(4))
    ours.eval()
    assert torch.equal(run(3), run(4))


def test_with_all_weights_dropped_only_the_bias_is_left():
    _, ours = pair(dropout=1.0)
    output, weights = ours(*inputs(ours))
    assert torch.equal(output, ours.out_proj.bias.expand_as(output))
    assert torch.equal(weights, torch.zeros_like(weights))


# As torch's


def test_it_is_one_of_torchs_and_has_its_checkpoint():
    for options in CONSTRUCTED.values():
        theirs, ours = nn.MultiheadAttention(D, HEADS, **options), MultiheadAttention(D, HEADS, **options)
        assert isinstance(ours, nn.MultiheadAttention)
        assert list(ours.state_dict()) == list(theirs.state_dict())
        theirs.load_state_dict(ours.state_dict())
    torch.manual_seed(5)
    theirs = nn.MultiheadAttention(D, HEADS)
    torch.manual_seed(5)
    ours = MultiheadAttention(D, HEADS)
    assert all(torch.equal(a, b) for a, b in zip(ours.parameters(), theirs.parameters(), strict=True))


def test_it_takes_the_place_of_torchs_in_torchs_own_layers():
    theirs = drawn(nn.TransformerEncoderLayer(D, HEADS, 13, dropout=0.0, batch_first=True))
    ours = copy.deepcopy(theirs)
    ours.self_attn = MultiheadAttention(D, HEADS, batch_first=True, dtype=torch.float64)
    ours.self_attn.load_state_dict(theirs.self_attn.state_dict())
    x = randn(B, N_Q, D)
    padding = torch.arange(N_Q) >= torch.tensor([[5], [3]])
    causal = nn.Transformer.generate_square_subsequent_mask(N_Q, dtype=torch.float64)
    for options in ({}, {"src_key_padding_mask": padding}, {"src_mask": causal, "is_causal": True}):
        close(ours(x, **options), theirs(x, **options), torch.float64)


def test_the_function_with_keys_and_values_from_before():
    theirs, _ = pair()
    query, key, value = inputs(theirs)
    static = randn(B * HEADS, N_K, D // HEADS, seed=9), randn(B * HEADS, N_K, D // HEADS, seed=10)
    arguments = (
        query, key, value, D, HEADS, theirs.in_proj_weight, theirs.in_proj_bias, None, None, False, 0.0,
        theirs.out_proj.weight, theirs.out_proj.bias,
    )  # fmt: skip
    options = {"static_k": static[0], "static_v": static[1]}
    expected = functional.multi_head_attention_forward(*arguments, **options)
    got = multi_head_attention_forward(*arguments, **options)
    close(got[0], expected[0], torch.float64)
    close(got[1], expected[1], torch.float64)


def test_weights_alone():
    q, k = randn(B, HEADS, N_Q, 7), randn(B, HEADS, N_K, 7)
    got = attention_weights(q, k, mask=masks.causal(), bias=randn(N_Q, N_K))
    scores = q @ k.mT / 7**0.5 + randn(N_Q, N_K)
    scores[..., torch.from_numpy(~masks.causal().array(N_Q, N_K))] = -torch.inf
    torch.testing.assert_close(got, scores.softmax(-1), rtol=1e-12, atol=1e-14)


def test_under_autocast():
    _, ours = pair(torch.float32, batch_first=True)
    tensors = inputs(ours, dtype=torch.float32)
    expected = ours(*tensors)
    with torch.autocast("cpu", torch.bfloat16):
        output, weights = ours(*tensors)
    assert output.dtype == torch.bfloat16
    torch.testing.assert_close(output.float(), expected[0], rtol=0, atol=6e-2)
    torch.testing.assert_close(weights.float(), expected[1], rtol=0, atol=3e-2)


# Errors

X = torch.zeros(B, N_Q, D)
WRONG = {
    "dimensions": ((X[0, 0], X[0, 0], X[0, 0]), {}, ValueError, r"all have 3 dimensions.*or all 2.*got 1, 1 and 1"),
    "mixed dimensions": ((X, X[0], X[0]), {}, ValueError, "got 3, 2 and 2"),
    "width": ((X[..., :5], X, X), {}, ValueError, r"query must be embed_dim = 21 wide, got shape \(2, 5, 5\)"),
    "width of keys": ((X, X[..., :5], X[..., :5]), {}, ValueError, r"key must be 21 wide.*\(kdim=5 in the constructor"),
    "width of values": ((X, X, X[..., :5]), {}, ValueError, r"value must be 21 wide.*\(vdim=5 in the constructor"),
    "lengths": ((X, X, X[:, :3]), {}, ValueError, r"each key needs one value.* \(2, 5, 21\) and value \(2, 3, 21\)"),
    "sentences": ((X, X[:1], X[:1]), {}, ValueError, "as many sentences, got a batch of 2 and of 1"),
    "hint": ((X, X, X), {"is_causal": True}, RuntimeError, "is_causal is a hint about attn_mask, which is missing"),
    "mask's size": (
        (X, X, X), {"attn_mask": torch.zeros(5, 4, dtype=torch.bool)}, RuntimeError,
        r"attn_mask must have shape \(5, 5\) or \(6, 5, 5\), one for each of batch · heads, got \(5, 4\)",
    ),
    "mask per sentence": (
        (X, X, X), {"attn_mask": torch.zeros(2, 5, 5, dtype=torch.bool)}, RuntimeError, r"got \(2, 5, 5\)",
    ),
    "mask of one head": (
        (X[0], X[0], X[0]), {"attn_mask": torch.zeros(2, 5, 5, dtype=torch.bool)}, RuntimeError,
        r"or \(3, 5, 5\), one for each head, got \(2, 5, 5\)",
    ),
    "mask's type": (
        (X, X, X), {"attn_mask": torch.zeros(5, 5, dtype=torch.int64)}, TypeError,
        r"attn_mask must be boolean \(True = masked out\) or float.*got torch.int64",
    ),
    "padding's type": (
        (X, X, X), {"key_padding_mask": torch.zeros(2, 5, dtype=torch.int64)}, TypeError,
        "key_padding_mask must be boolean",
    ),
    "padding's size": (
        (X, X, X), {"key_padding_mask": torch.zeros(2, 4, dtype=torch.bool)}, RuntimeError,
        r"key_padding_mask must have shape \(2, 5\), one entry per key, got \(2, 4\)",
    ),
    "padding without a batch": (
        (X[0], X[0], X[0]), {"key_padding_mask": torch.zeros(1, 5, dtype=torch.bool)}, RuntimeError,
        r"must have shape \(5,\), one entry per key, got \(1, 5\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_use_is_refused_in_words_where_torch_refuses_too(name, unchecked):
    tensors, options, kind, message = WRONG[name]
    with pytest.raises(kind, match=message):
        MultiheadAttention(D, HEADS, batch_first=True)(*tensors, **options)
    with pytest.raises((AssertionError, RuntimeError)):
        nn.MultiheadAttention(D, HEADS, batch_first=True)(*tensors, **options)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested_tensors_are_refused(unchecked):
    nested = torch.nested.nested_tensor([torch.zeros(3, D), torch.zeros(5, D)])
    with pytest.raises(TypeError, match=r"query is a nested tensor; pad it .* and pass key_padding_mask"):
        MultiheadAttention(D, HEADS, batch_first=True)(nested, nested, nested)


def test_the_function_checks_the_number_of_heads(unchecked):
    with pytest.raises(ValueError, match="embed_dim = 21 cannot be divided among 2 heads evenly"):
        multi_head_attention_forward(X, X, X, D, 2, None, None, None, None, False, 0.0, X, None)


def test_the_constructor_refuses_what_torchs_refuses():
    with pytest.raises(ValueError, match="greater than 0"):
        MultiheadAttention(0, 1)
    with pytest.raises(AssertionError, match="divisible"):
        MultiheadAttention(5, 2)


class TestMasks:
    """Beside torch's tensors: masks from clearhead.masks, and floats that were meant to be booleans."""

    @pytest.mark.parametrize("name", ["packed", "two more keys"])
    @pytest.mark.parametrize("batched", [True, False])
    def test_a_mask_means_its_array(self, name, batched):
        _, ours = pair(batch_first=True, **CONSTRUCTED[name])
        tensors = inputs(ours, batched=batched)
        mask, real = masks.causal() | masks.prefix(2), masks.key_lengths([9, 4] if batched else [9])
        written = ~torch.from_numpy(mask.array(N_Q, N_K))
        padding = ~torch.from_numpy(real.array(1, N_K, batch_shape=(B if batched else 1,))[:, 0])
        padding = padding if batched else padding[0]
        expected = ours(*tensors, key_padding_mask=padding, attn_mask=written)
        for given in ({"attn_mask": mask, "key_padding_mask": real}, {"attn_mask": mask & real}):
            for got, wanted in zip(ours(*tensors, **given), expected, strict=True):
                torch.testing.assert_close(got, wanted, rtol=0, atol=1e-14)

    @pytest.mark.parametrize("name", ["attn_mask", "key_padding_mask"])
    def test_an_array_is_refused_with_the_cure(self, name, unchecked):
        with pytest.raises(
            TypeError, match=f"{name} must be a torch tensor or a mask from clearhead.masks, got ndarray"
        ):
            MultiheadAttention(D, HEADS, batch_first=True)(X, X, X, **{name: np.zeros((5, 5), bool)})

    @pytest.mark.parametrize("name", ["attn_mask", "key_padding_mask"])
    def test_zeros_and_ones_are_named(self, name):
        flags = {"attn_mask": torch.ones(5, 5).tril(), "key_padding_mask": torch.eye(2, 5)}[name]
        layer = MultiheadAttention(D, HEADS, batch_first=True)
        with pytest.warns(masks.MaskWarning, match=f"{name} holds floats that are all 0 or 1.*{name} == 0 masks out"):
            layer(X, X, X, **{name: flags})
        layer(X, X, X, **{name: flags == 0})

    def test_a_square_where_padding_is_expected(self, unchecked):
        with pytest.raises(RuntimeError, match=r"key_padding_mask must .* got \(5, 5\) \(did you mean attn_mask=\?\)"):
            MultiheadAttention(D, HEADS, batch_first=True)(X, X, X, torch.ones(5, 5, dtype=torch.bool).triu(1))
