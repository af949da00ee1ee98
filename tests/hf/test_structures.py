"""Masks that take no memory until somebody reads them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers as t
from transformers import masking_utils as hf

import clearhead as ch
from clearhead import masks
from clearhead.hf import MaskTensor, borrowed, interface_attention, interface_mask
from clearhead.torch.watching import watched

from .models import made, tokens

REAL = torch.tensor([[0, 0, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1]]).bool()
GIVEN = {"batch_size": 2, "q_length": 7, "kv_length": 7, "attention_mask": REAL}


@pytest.fixture
def mask():
    return interface_mask(**GIVEN)


def test_it_is_a_tensor_in_shape_and_a_mask_in_memory(mask):
    assert isinstance(mask, torch.Tensor)
    assert tuple(mask.shape) == tuple(mask.size()) == (2, 1, 7, 7)
    assert mask.dtype == torch.float32
    assert (mask.ndim, mask.dim(), len(mask), mask.device.type, mask.is_floating_point()) == (4, 4, 2, "cpu", True)
    assert mask.size(-1) == 7
    assert mask._written is None, "no question about its shape writes it out"
    expected = hf.sdpa_mask(**GIVEN, allow_is_causal_skip=False)
    np.testing.assert_array_equal(mask.mask.array(7, batch_shape=(2,)), expected[:, 0].numpy())
    assert "MaskTensor(shape=(2, 1, 7, 7), mask=causal() & ~key_lengths([2, 0]))" in repr(mask)


def test_what_gives_the_same_gives_it_itself(mask):
    for same in (
        mask.to("cpu"),
        mask.to(torch.float32),
        mask.to(torch.device("cpu")),
        mask.contiguous(),
        mask.detach(),
    ):
        assert same is mask
    assert mask._written is None


READ = {
    "indexed": lambda x: x[:, 0],
    "cut": lambda x: x[:, :, :, :5],
    "joined": lambda x: torch.cat([x, x], -1),
    "added": lambda x: x + 1,
    "compared": lambda x: x == 0,
    "expanded": lambda x: x.expand(2, 4, 7, 7),
    "cast": lambda x: x.to(torch.float64),
    "in a list": lambda x: torch.stack([x, x]),
    "by name": lambda x: torch.sum(input=x, dim=-1),
}


@pytest.mark.parametrize("name", READ)
def test_who_reads_it_gets_what_eager_attention_gets(mask, name):
    expected = hf.eager_mask(**GIVEN)
    got = READ[name](mask)
    assert type(got) is torch.Tensor
    assert torch.equal(got, READ[name](expected))


def test_nothing_is_masked_where_nothing_is():
    both_ways = {"mask_function": hf.bidirectional_mask_function, "batch_size": 2, "q_length": 7, "kv_length": 7}
    assert interface_mask(**both_ways, allow_is_bidirectional_skip=True) is None
    assert interface_mask(**both_ways).mask is None
    assert interface_mask(**both_ways, attention_mask=REAL, allow_is_bidirectional_skip=True).mask is not None


def test_no_mask_is_made_for_the_last_position():
    """The one query of a step of decoding sees all keys; whatever is otherwise than that has to be told of."""
    last = {"batch_size": 2, "q_length": 1, "kv_length": 7, "q_offset": 6, "allow_is_causal_skip": True}
    all_real = torch.ones(2, 7, dtype=torch.bool)
    assert interface_mask(**last) is None
    assert interface_mask(**last, attention_mask=all_real) is None
    assert interface_mask(**{**last, "allow_is_causal_skip": False}) is not None  # transformers wants one
    assert interface_mask(**last, attention_mask=REAL).mask is not None
    assert interface_mask(**{**last, "kv_length": 9}).mask == masks.causal(offset=6)  # a static cache, not yet full
    assert interface_mask(**{**last, "kv_length": 3, "kv_offset": 4}).position.first_key == 4  # a sliding one
    assert interface_mask(**last, mask_function=hf.sliding_window_causal_mask_function(3)).mask is not None
    assert interface_mask(**{**last, "q_length": 7, "q_offset": 0}).mask == masks.causal()


PLAIN = {"batch_size": 2, "q_length": 7, "kv_length": 7}


def test_flags_without_padding_say_nothing_but_to_whoever_watches():
    """A trace joins calls, of which some may have padding: it is told of each."""
    all_real = torch.ones(2, 7, dtype=torch.bool)
    mask = interface_mask(**PLAIN, attention_mask=all_real)
    assert mask.mask == interface_mask(**PLAIN).mask == masks.causal()
    assert mask.position.real is None
    with watched(lambda *args, **options: None):
        assert interface_mask(**PLAIN, attention_mask=all_real).position.real.tolist() == all_real.tolist()


def test_every_forward_pass_gets_a_mask_of_its_own():
    mask = interface_mask(**PLAIN)
    mask[:, 0].fill_(1.0)
    again = interface_mask(**PLAIN)
    assert again._written is None
    assert torch.equal(again + 0, hf.eager_mask(**PLAIN))


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
@pytest.mark.parametrize("n_k", [7, 9])
def test_a_model_that_writes_into_its_mask_gets_what_it_wrote(mode, n_k):
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, 3, n, 16, generator=generator) for n in (7, n_k, n_k))
    sizes = {**PLAIN, "kv_length": n_k}
    module = torch.nn.Module().eval()
    with mode():
        mask, expected = interface_mask(**sizes), hf.eager_mask(**sizes)
        mask[..., 0], expected[..., 0] = -1.0, -1.0
        got, _ = interface_attention(module, q, k, v, mask)
    torch.testing.assert_close(got, torch.nn.functional.scaled_dot_product_attention(q, k, v, expected).transpose(1, 2))


def test_a_model_that_only_reads_its_mask_goes_on_with_the_structure():
    mask = interface_mask(**PLAIN)
    assert mask[0, 0].sum() < 0
    assert not mask.is_changed()
    mask.zero_()
    assert mask.is_changed()


def test_whoever_watches_is_told_where_the_last_position_lies():
    """Moonshine says of a step without a mask that it is not causal, and its steps are one text all the same."""
    settings = {"encoder_num_hidden_layers": 1, "decoder_num_hidden_layers": 1, "vocab_size": 50}
    settings |= {"encoder_num_attention_heads": 2, "decoder_num_attention_heads": 2}
    config = t.MoonshineConfig(hidden_size=32, intermediate_size=32, **settings)
    model = t.MoonshineForConditionalGeneration(config).eval()
    with ch.trace(model) as seen:
        model.generate(torch.randn(1, 4000), max_new_tokens=4, min_new_tokens=4, do_sample=False)
    assert (seen.decoder[0].n_q, seen.decoder[0].n_k) == (4, 4)


def test_padding_is_cut_to_the_keys_there_are():
    """A static cache has more keys than there are flags, a sliding one fewer."""
    for sizes in (
        {"q_length": 1, "kv_length": 12, "q_offset": 6},
        {"q_length": 1, "kv_length": 3, "q_offset": 6, "kv_offset": 4},
    ):
        given = {**GIVEN, **sizes}
        expected = hf.sdpa_mask(**given, allow_is_causal_skip=False)
        got = interface_mask(**given)
        array = (
            np.ones(expected[:, 0].shape, bool)
            if got.mask is None
            else got.mask.array(*expected.shape[-2:], batch_shape=(2,))
        )
        np.testing.assert_array_equal(array, expected[:, 0].numpy())


def test_an_offset_may_be_a_tensor():
    got = interface_mask(1, 1, 8, q_offset=torch.tensor(3), kv_offset=0)
    assert got.mask == masks.causal(offset=3)


def test_no_model_that_only_passes_it_on_writes_it_out(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("n × n booleans were written out")

    monkeypatch.setattr(hf, "sdpa_mask", refuse)
    ids = tokens()
    real = torch.ones_like(ids)
    real[0, :4] = 0
    for name in (
        "llama",
        "gpt2",
        "gemma2",
        "gemma3",
        "gpt_oss",
        "mistral",
        "qwen2",
        "deepseek_v3",
        "llama4",
        "opt",
        "bert",
        "modernbert",
    ):
        model = made(name)
        with borrowed(model), torch.no_grad():
            model(ids, attention_mask=real)


def test_a_rule_of_the_models_own_is_asked_strip_by_strip(monkeypatch):
    """Through a whole model: what `or_mask_function` says, which transformers writes out with vmap."""
    kinds = torch.tensor([0, 0, 1, 1, 1, 0, 0, 2, 2, 0, 0]).expand(3, -1)

    def same_image(batch, head, query, key):
        return (kinds[batch, query] == kinds[batch, key]) & (kinds[batch, query] > 0)

    def with_images(*args, **kwargs):
        return hf.create_causal_mask(*args, **kwargs, or_mask_function=same_image)

    model = made("llama")
    monkeypatch.setattr(t.models.llama.modeling_llama, "create_causal_mask", with_images)
    with torch.no_grad():
        expected = model(tokens()).logits
        with borrowed(model):
            got = model(tokens()).logits
        monkeypatch.undo()
        assert (expected - model(tokens()).logits).abs().max() > 0.01
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.filterwarnings("ignore")  # torch's own, while it compiles
def test_models_that_are_compiled_have_masks_of_no_memory_too(unchecked, monkeypatch):
    ids = tokens()
    real = torch.ones_like(ids)
    real[0, :4] = 0
    monkeypatch.delattr(MaskTensor, "written")
    for name in ("llama", "gemma3", "bert"):
        model = made(name)
        with torch.no_grad(), borrowed(model):
            for given in ({}, {"attention_mask": real}):
                expected = model(ids, **given)[0]
                got = torch.compile(model, backend="eager")(ids, **given)[0]
                here = real.bool() if given else ...
                torch.testing.assert_close(got[here], expected[here], rtol=1e-4, atol=1e-5)
