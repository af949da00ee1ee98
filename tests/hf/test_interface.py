"""Models of transformers on our kernels give what their own eager attention gives."""

from __future__ import annotations

import contextlib

import pytest
import torch
import transformers as t

import clearhead.hf
from clearhead import masks
from clearhead.hf import borrowed, interface_attention, interface_mask

from .models import ALL, BOTH, DECODERS, ENCODERS, SIZES, inputs, made, padded, tokens

NOISE = 2e-5  # of the largest number: what float32 makes of the same sum in another order, over two layers


@contextlib.contextmanager
def named(model):
    """As a user says it."""
    model.set_attn_implementation("clearhead")
    try:
        yield
    finally:
        model.set_attn_implementation("eager")


def last(output):
    return output.logits if "logits" in output else output.last_hidden_state


def close(got, expected):
    torch.testing.assert_close(got, expected, rtol=0, atol=NOISE * max(float(expected.abs().max()), 1.0))


def compare(name, given, real=None):
    model = made(name)
    with torch.no_grad():
        expected = last(model(**given))
        with named(model):
            got = last(model(**given))
    if real is not None:
        expected, got = expected[real.bool()], got[real.bool()]
    close(got, expected)
    return expected


@pytest.mark.parametrize("name", ALL)
def test_the_same_numbers_as_eager(name):
    compare(name, inputs(name))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", [*DECODERS, *ENCODERS, *BOTH])
def test_padded_batches(name, side):
    given = inputs(name, side)
    compare(name, given, None if name in BOTH else given["attention_mask"])


def test_padding_matters():
    """The test above would fail if padding were ignored."""
    given = inputs("llama", "left")
    with torch.no_grad():
        without = made("llama")(given["input_ids"]).logits
    real = given["attention_mask"].bool()
    assert (compare("llama", given, real) - without[real]).abs().max() > 0.1


@pytest.mark.parametrize(
    "name", ["llama", "gpt2", "gemma2", "gemma3", "gpt_oss", "t5", "bert", "vit", "deepseek_v3", "bart"]
)
def test_gradients(name):
    model, given = made(name), inputs(name, None if name == "vit" else "right")
    parameters = [p for p in model.parameters() if p.requires_grad]

    def gradients():
        output = last(model(**given))
        real = given.get("attention_mask")
        chosen = output if real is None or name in BOTH else output[real.bool()]
        return torch.autograd.grad(chosen.sin().sum(), parameters, allow_unused=True)

    expected = gradients()
    with named(model):
        got = gradients()
    largest = max(g.abs().max() for g in expected if g is not None)
    for a, b in zip(got, expected, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            torch.testing.assert_close(a, b, rtol=2e-3, atol=float(largest) * 2e-5)


@pytest.mark.parametrize("cache", ["dynamic", "static"])
@pytest.mark.parametrize("name", [*DECODERS, *BOTH, "whisper"])
def test_generation_token_for_token(name, cache):
    if cache == "static" and name == "deepseek_v4":
        pytest.skip("its cache compresses, and has no static form")
    model = made(name)
    given = inputs(name, "left" if name in DECODERS else None)
    given.pop("decoder_input_ids", None)
    options = {
        "max_new_tokens": 7, "min_new_tokens": 7, "do_sample": False, "pad_token_id": 0, "cache_implementation": cache,
        "output_logits": True, "return_dict_in_generate": True, "disable_compile": True,
    }  # fmt: skip
    expected = model.generate(**given, **options)
    with named(model):
        got = model.generate(**given, **options)
    assert torch.equal(got.sequences, expected.sequences)
    for a, b in zip(got.logits, expected.logits, strict=True):
        close(a, b)


def test_beam_search_and_no_cache():
    model, given = made("llama"), inputs("llama", "left")
    for options in (
        {"num_beams": 3},
        {"use_cache": False},
        {"num_beams": 2, "cache_implementation": "static", "disable_compile": True},
    ):
        options |= {"max_new_tokens": 5, "do_sample": False, "pad_token_id": 0}
        expected = model.generate(**given, **options)
        with named(model):
            assert torch.equal(model.generate(**given, **options), expected)


def test_a_prompt_in_pieces():
    """A cache that is continued with several tokens at once: n_q ≠ n_k, in windows too."""
    for name in ("llama", "mistral", "gemma3", "llama4"):
        model, ids = made(name), tokens(2, 17)

        def pieces(model=model, ids=ids):
            cache = t.DynamicCache(config=model.config)
            return torch.cat([model(x, past_key_values=cache).logits for x in ids.split([6, 1, 7, 3], -1)], 1)

        with torch.no_grad():
            whole = model(ids).logits
            with named(model):
                close(pieces(), whole)


def test_packed_sequences():
    """Several sequences in one row, told apart by their positions alone."""
    ids = tokens(1, 13)
    positions = torch.cat([torch.arange(n) for n in (4, 6, 3)])[None]
    for name in ("llama", "gemma2"):
        compare(name, {"input_ids": ids, "position_ids": positions, "use_cache": False})
        with torch.no_grad(), named(made(name)):
            alone = made(name)(ids[:, 4:10]).logits
            packed = made(name)(ids, position_ids=positions, use_cache=False).logits
        close(packed[:, 4:10], alone)


def test_masks_of_the_users_own():
    ids, rng = tokens(), torch.Generator().manual_seed(1)
    allowed = torch.rand(3, 1, 11, 11, generator=rng) < 0.6
    allowed |= torch.eye(11, dtype=torch.bool)
    lowest = torch.finfo(torch.float32).min
    added = torch.where(allowed, 0.0, lowest)
    model = made("llama")
    with torch.no_grad():
        expected = model(ids, attention_mask=added).logits
        with named(model):
            for mask in (added, allowed, added + 0.5 * torch.rand(3, 1, 11, 11, generator=rng) * 0):
                close(model(ids, attention_mask=mask).logits, expected)


def test_decoders_that_read_both_ways():
    model = t.LlamaModel(t.LlamaConfig(**SIZES, is_causal=False, attn_implementation="eager")).eval()
    ids = tokens()
    given = {"input_ids": ids, "attention_mask": padded(ids, "left")}
    with torch.no_grad():
        expected = model(**given).last_hidden_state
        with borrowed(model):
            got = model(**given).last_hidden_state
    real = given["attention_mask"].bool()
    close(got[real], expected[real])


def test_half_precision():
    for kind in (torch.bfloat16, torch.float16):
        ids = tokens()
        kept = made("llama").state_dict()
        model = t.LlamaForCausalLM(made("llama").config).to(kind).eval()
        model.load_state_dict(kept)
        with torch.no_grad():
            exact = made("llama")(ids).logits
            eager = model(ids).logits.float()
            with borrowed(model):
                ours = model(ids).logits
        assert ours.dtype == kind
        assert (ours.float() - exact).abs().max() < 1.5 * (eager - exact).abs().max()


def test_dropout_is_the_modules_and_only_in_training():
    model = t.GPT2Model(
        t.GPT2Config(vocab_size=97, n_embd=32, n_layer=1, n_head=4, attn_pdrop=0.5, resid_pdrop=0.0, embd_pdrop=0.0)
    )
    ids = tokens()
    with borrowed(model), torch.no_grad():
        model.eval()
        assert torch.equal(model(ids)[0], model(ids)[0])
        model.train()
        torch.manual_seed(1)
        one = model(ids)[0]
        assert not torch.equal(one, model(ids)[0])
        torch.manual_seed(1)
        assert torch.equal(one, model(ids)[0])


class Module(torch.nn.Module):
    """An attention module, as far as the interface is concerned."""

    def __init__(self, **attributes):
        super().__init__()
        for name, value in attributes.items():
            setattr(self, name, value)


class TestArguments:
    def given(self, n_q=5, n_k=7):
        generator = torch.Generator().manual_seed(0)
        return [torch.randn(2, h, n, 8, generator=generator) for h, n in ((4, n_q), (2, n_k), (2, n_k))]

    def truth(self, q, k, v, allowed=None, **options):
        out = clearhead.torch.attention(q, k, v, mask=allowed, **options)
        return out.transpose(1, 2)

    @pytest.mark.parametrize("attribute", [None, True, False])
    @pytest.mark.parametrize("argument", [None, True, False])
    def test_without_a_mask_causality_is_the_arguments_else_the_modules(self, attribute, argument):
        module = Module(**({} if attribute is None else {"is_causal": attribute})).eval()
        q, k, v = self.given()
        causal = argument if argument is not None else attribute if attribute is not None else True
        got, weights = interface_attention(module, q, k, v, None, is_causal=argument)
        assert weights is None
        assert got.is_contiguous()
        torch.testing.assert_close(got, self.truth(q, k, v, masks.causal(offset=0) if causal else None))

    def test_one_query_without_a_mask_sees_everything(self):
        q, k, v = self.given(n_q=1)
        torch.testing.assert_close(interface_attention(Module().eval(), q, k, v, None)[0], self.truth(q, k, v))

    def test_a_window_without_a_mask(self):
        q, k, v = self.given(7, 7)
        got, _ = interface_attention(Module().eval(), q, k, v, None, sliding_window=3)
        torch.testing.assert_close(got, self.truth(q, k, v, masks.window(3)))

    def test_scaling_softcap_sinks_and_bias_together(self):
        q, k, v = self.given()
        bias, sinks = torch.randn(1, 4, 5, 7), torch.randn(4)
        got, _ = interface_attention(
            Module().eval(), q, k, v, None, is_causal=False, scaling=0.3, softcap=2.0, s_aux=sinks, position_bias=bias
        )
        scores = torch.tanh(q @ k.repeat_interleave(2, 1).mT * 0.3 / 2) * 2 + bias
        weights = torch.cat([scores, sinks.view(1, 4, 1, 1).expand(2, -1, 5, 1)], -1).softmax(-1)[..., :-1]
        torch.testing.assert_close(got, (weights @ v.repeat_interleave(2, 1)).transpose(1, 2))

    @pytest.mark.parametrize("name", ["block_indices", "head_mask", "something_new"])
    def test_an_argument_that_is_not_known_is_refused_by_name(self, name):
        q, k, v = self.given()
        with pytest.raises(
            NotImplementedError, match=rf"Module passes {name}= .*;.*set_attn_implementation\('eager'\)"
        ):
            interface_attention(Module().eval(), q, k, v, None, **{name: torch.zeros(1)})
        interface_attention(Module().eval(), q, k, v, None, **{name: None})

    @pytest.mark.parametrize("given_as", [None, "booleans", "floats", "structure"])
    def test_only_the_chosen_keys_are_seen(self, given_as):
        q, k, v = self.given()
        indices = torch.stack([torch.randperm(7)[:3] for _ in range(10)]).view(2, 5, 3)
        chosen = torch.zeros(2, 5, 7, dtype=torch.bool).scatter(-1, indices, True)[:, None]
        allowed = torch.ones(5, 7, dtype=torch.bool).tril(4) if given_as else torch.ones(5, 7, dtype=torch.bool)
        mask = {
            None: None, "booleans": allowed, "floats": torch.zeros(5, 7).masked_fill(~allowed, -torch.inf),
            "structure": interface_mask(2, 5, 7, 4),
        }[given_as]  # fmt: skip
        got, _ = interface_attention(Module().eval(), q, k, v, mask, is_causal=False, indices=indices)
        expected, _ = interface_attention(Module().eval(), q, k, v, chosen & allowed)
        torch.testing.assert_close(got, expected)

    def test_sparse_attention_is_the_models_own(self):
        from .architectures import run

        outcome = run("deepseek_v32")
        assert outcome.what == "passed", outcome
        assert outcome.calls
