"""What is traced of a model is what its own eager attention writes out, and the model does not notice."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest
import torch
import transformers as t
from tests.hf.models import BOTH, DECODERS, SIZES, inputs, made, tokens
from torch import nn

import clearhead as ch
import clearhead.torch as cht
from clearhead import masks
from clearhead.hf.borrowing import _holders

NOISE = 2e-6  # of a weight
STACKS = {"encoder_attentions": "encoder", "decoder_attentions": "decoder", "cross_attentions": "cross"}


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    assert not _holders


def written_out(name, given):
    """Every layer's weights as eager attention writes them, by stack, and the model's output."""
    with torch.no_grad():
        output = made(name)(**given, output_attentions=True)
    fields = STACKS if "encoder_attentions" in output else {"attentions": None}
    return {stack: [x.numpy() for x in output[field]] for field, stack in fields.items()}, output[0]


def real_places(given, entry, n):
    real = given.get("attention_mask")
    return np.flatnonzero(real[entry]) if real is not None and real.shape[-1] == n else np.arange(n)


def check(name, side=None):
    given = inputs(name, side)
    expected, output = written_out(name, given)
    with ch.trace(made(name)) as trace, torch.no_grad():
        got = made(name)(**given)[0]
    assert len(trace.calls) == 1
    for stack, layers in expected.items():
        for number, weights in enumerate(layers):
            for entry, sequence in enumerate(trace.sequences):
                view = sequence[number] if stack is None else getattr(sequence, stack)[number]
                keys = real_places(given, entry, weights.shape[-1])
                queries = (
                    np.arange(weights.shape[-2]) if stack == "cross" else real_places(given, entry, weights.shape[-2])
                )
                np.testing.assert_allclose(view.weights(), weights[entry][:, queries][..., keys], rtol=0, atol=NOISE)
    real = given["attention_mask"].bool() if side and name not in BOTH else ...
    torch.testing.assert_close(got[real], output[real], rtol=0, atol=2e-5 * float(output.abs().max()))
    return trace


@pytest.mark.parametrize(
    "name", ["gpt2", "gemma3", "gpt_oss", "deepseek_v3", "deepseek_v4", "llama4", "modernbert", "vit", "whisper", "t5"]
)
def test_the_weights_that_eager_attention_writes_out(name):
    check(name)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", ["llama", "gpt2", "gemma2", "mistral", "bert", "bart", "t5"])
def test_a_view_for_each_sequence_without_its_padding(name, side):
    trace = check(name, side)
    lengths = [11, 8, 5]
    assert [s[s.names[0]].n_k for s in trace.sequences] == lengths
    ids = tokens()
    for entry, n in enumerate(lengths):
        own = ids[entry, -n:] if side == "left" else ids[entry, :n]
        assert trace.sequences[entry][trace.names[0]].tokens.keys == [str(i) for i in own.tolist()]


class TestGenerating:
    def generated(self, name, **options):
        given = inputs(name, "left" if name in DECODERS else None)
        given.pop("decoder_input_ids", None)
        options = {
            "max_new_tokens": 6,
            "min_new_tokens": 6,
            "do_sample": False,
            "pad_token_id": 0,
            "disable_compile": True,
            **options,
        }
        model = made(name)
        expected = model.generate(**given, **options)
        with ch.trace(model) as trace:
            assert torch.equal(model.generate(**given, **options), expected)
        return trace, given, expected

    @pytest.mark.parametrize("cache", ["dynamic", "static"])
    @pytest.mark.parametrize("name", ["llama", "gemma3", "gpt_oss", "mistral", "llama4", "deepseek_v3", "t5", "bart"])
    def test_prompt_and_steps_are_one_view(self, name, cache):
        trace, given, out = self.generated(name, cache_implementation=cache)
        assert len(trace.calls) == 1
        whole = {**given, "decoder_input_ids": out[:, :-1]} if name in BOTH else {"input_ids": out[:, :-1]}
        if name in DECODERS:
            added = torch.ones(3, 5, dtype=torch.long)
            whole["attention_mask"] = torch.cat([given["attention_mask"], added], -1)
        expected, _ = written_out(name, whole)
        for stack, layers in expected.items():
            for number, weights in enumerate(layers):
                for entry, sequence in enumerate(trace.sequences):
                    view = sequence[number] if stack is None else getattr(sequence, stack)[number]
                    keys = real_places(whole, entry, weights.shape[-1])
                    queries = np.arange(weights.shape[-2]) if name in BOTH else keys
                    np.testing.assert_allclose(
                        view.weights(), weights[entry][:, queries][..., keys], rtol=0, atol=NOISE
                    )
                    assert view.tokens.queries is not None
        if name == "llama":
            assert trace.sequences[1].ids().tolist() == out[1, 3:-1].tolist()

    def test_with_padding_positions_that_the_model_counts_itself(self):
        trace, given, out = self.generated("gpt2")
        real = torch.cat([given["attention_mask"], torch.ones(3, 5, dtype=torch.long)], -1)
        positions = (real.cumsum(-1) - 1).clamp(min=0)
        whole = {"input_ids": out[:, :-1], "attention_mask": real, "position_ids": positions}
        expected, _ = written_out("gpt2", whole)
        for entry, sequence in enumerate(trace.sequences):
            keys = real_places(whole, entry, 16)
            weights = expected[None][1][entry][:, keys][..., keys]
            np.testing.assert_allclose(sequence[1].weights(), weights, rtol=0, atol=NOISE)

    def test_without_a_cache_every_step_is_a_forward(self):
        trace, _, _ = self.generated("llama", use_cache=False)
        assert [call.sequences[0][0].n_q for call in trace.calls] == [11, 12, 13, 14, 15, 16]

    def test_guessed_steps_that_were_taken_back(self):
        """Prompt lookup feeds several guesses at once, and crops the cache where they were wrong."""
        model = made("llama")
        ids = torch.tensor([[7, 8, 9, 7, 8, 9, 7, 8]])
        options = {"max_new_tokens": 9, "do_sample": False, "pad_token_id": 0, "eos_token_id": None}
        with ch.trace(model) as trace:
            out = model.generate(ids, prompt_lookup_num_tokens=3, **options)
        assert torch.equal(out, model.generate(ids, **options))
        (call,) = trace.calls
        n = call[0].n_q
        expected, _ = written_out("llama", {"input_ids": torch.tensor([call.ids().tolist()])})
        assert call.ids()[: out.shape[1]].tolist() == out[0, : len(call.ids())].tolist()
        for number in range(2):
            np.testing.assert_allclose(call[number].weights(), expected[None][number][0], rtol=0, atol=NOISE)
        assert n >= out.shape[1] - 1

    def test_beam_search_is_refused_by_name(self):
        model = made("llama")
        with pytest.raises(NotImplementedError, match=r"as in beam search, .*num_beams=1"), ch.trace(model):
            model.generate(tokens(), num_beams=3, max_new_tokens=6, do_sample=False, pad_token_id=0)

    def test_a_trace_that_begins_in_the_middle(self):
        model, ids = made("mistral"), tokens(1, 15)
        cache = t.DynamicCache(config=model.config)
        expected, _ = written_out("mistral", {"input_ids": ids})
        with torch.no_grad():
            model(ids[:, :9], past_key_values=cache)
            with ch.trace(model) as trace:
                model(ids[:, 9:13], past_key_values=cache)
                model(ids[:, 13:], past_key_values=cache)
        for number in range(2):
            got = trace[number].weights()
            np.testing.assert_allclose(got, expected[None][number][0][:, 9:, -got.shape[-1] :], rtol=0, atol=NOISE)


class TestBlocks:
    def test_several_forwards_are_kept_apart(self):
        model = made("bart")
        one, two = inputs("bart"), {k: v[:1] for k, v in inputs("bart").items()}
        with ch.trace(model) as trace, torch.no_grad():
            for given in (one, two, one):
                model(**given)
        assert [len(call.sequences) for call in trace.calls] == [3, 1, 3]
        assert len(trace.calls[1].names) == 6
        with pytest.raises(ValueError, match=r"the model was called 3 times .* trace.calls\[0\]"):
            trace.encoder[0]

    def test_layers_that_are_called_several_times(self):
        torch.manual_seed(0)
        config = t.AlbertConfig(**{**SIZES, "num_hidden_layers": 3}, embedding_size=16, attn_implementation="eager")
        model = t.AlbertModel(config).eval()
        ids = tokens(1)
        with torch.no_grad():
            expected = model(ids, output_attentions=True).attentions
            with ch.trace(model) as trace:
                model(ids), model(ids)
        assert len(trace.calls) == 2
        for call in trace.calls:
            assert [len(stack) for stack in call.stacks.values()] == [3]
            for number in range(3):
                np.testing.assert_allclose(call[number].weights(), expected[number][0], rtol=0, atol=NOISE)

    def test_only_some_layers(self):
        model, ids = made("llama"), tokens(1)
        with ch.trace(model, layers=1) as one, torch.no_grad():
            model(ids)
        with ch.trace(model, layers=["model.layers.0"]) as other, torch.no_grad():
            model(ids)
        assert one.names == ["model.layers.1.self_attn"]
        assert one[1].n_q == 11
        assert other.names == ["model.layers.0.self_attn"]
        with pytest.raises(IndexError, match="there is no layer 0; there are 1"):
            one[0]
        with pytest.raises(TypeError, match="layers must be numbers or module paths"), ch.trace(model, layers=[1.5]):
            pass

    def test_only_cross_attention_of_a_generation(self):
        model = made("t5")
        with ch.trace(model, layers=["decoder.block.0.layer.1.EncDecAttention"]) as trace:
            model.generate(tokens(1), max_new_tokens=4, min_new_tokens=4, do_sample=False)
        assert trace.cross[0].n_q == 4

    def test_no_other_thread_and_no_other_model(self):
        model, ids = made("llama"), tokens(1)
        other = t.LlamaForCausalLM(model.config).eval()
        with torch.no_grad():
            expected = model(ids).logits
        found = []
        with ch.trace(model) as trace:
            thread = threading.Thread(target=lambda: found.append(model(ids).logits))
            thread.start()
            thread.join()
            other(ids)
            assert not trace.calls
            model(ids)
        assert len(trace.calls) == 1
        assert torch.equal(found[0], expected)

    def test_an_exception_leaves_nothing_behind(self):
        model = made("llama")

        def hooks():
            return [(*m._forward_hooks, *m._forward_pre_hooks) for m in model.modules()]

        before = hooks()
        with pytest.raises(RuntimeError), ch.trace(model):
            model(torch.full((1, 3), 10_000).float())
        assert hooks() == before
        assert model.config._attn_implementation == "eager"

    def test_blocks_may_be_nested(self):
        model, ids = made("llama"), tokens(1)
        with ch.trace(model) as outer, torch.no_grad():
            with ch.trace(model) as inner:
                model(ids)
            model(ids)
        assert (len(outer.calls), len(inner.calls)) == (2, 1)
        np.testing.assert_array_equal(outer.calls[0][1].weights(), inner[1].weights())

    def test_gradients_go_through(self):
        model, ids = made("llama"), tokens(1)
        parameter = model.model.layers[0].self_attn.q_proj.weight
        expected = torch.autograd.grad(model(ids, labels=ids).loss, parameter)[0]
        with ch.trace(model):
            got = torch.autograd.grad(model(ids, labels=ids).loss, parameter)[0]
        torch.testing.assert_close(got, expected, rtol=1e-3, atol=1e-6)

    def test_in_the_models_own_precision(self):
        model = t.LlamaForCausalLM(made("llama").config).to(torch.bfloat16).eval()
        with ch.trace(model) as trace, torch.no_grad():
            model(tokens(1))
        assert trace[0].inputs[0].dtype.name == "bfloat16"


class TestRefusals:
    def bloom(self):
        torch.manual_seed(0)
        return t.BloomForCausalLM(t.BloomConfig(vocab_size=97, hidden_size=32, n_layer=2, n_head=4)).eval()

    def test_a_model_with_attention_of_its_own(self):
        message = r"BloomForCausalLM computes its attention with code of its own, in BloomAttention: none .* slow=True"
        with pytest.raises(NotImplementedError, match=message), ch.trace(self.bloom()):
            pass

    @pytest.mark.parametrize("option", ["values", "gradients"])
    def test_slowly_there_are_no_values(self, option):
        message = f"{option}=True cannot be had here: slow=True takes the weights that BloomForCausalLM .* leave it out"
        with pytest.raises(NotImplementedError, match=message), ch.trace(self.bloom(), slow=True, **{option: True}):
            pass

    def test_slowly_its_own_weights_are_taken(self):
        model, ids = self.bloom(), tokens()
        real = torch.ones_like(ids)
        real[1, :4] = 0
        with torch.no_grad():
            expected = model(ids, attention_mask=real, output_attentions=True).attentions
            with ch.trace(model, slow=True) as trace:
                model(ids, attention_mask=real)
        assert "eager attention" in repr(trace)
        for number in range(2):
            np.testing.assert_allclose(trace.sequences[0][number].weights(), expected[number][0], rtol=0, atol=NOISE)
            own = expected[number][1][:, 4:, 4:]
            np.testing.assert_allclose(trace.sequences[1][number].weights(), own, rtol=0, atol=NOISE)
        assert trace.sequences[1][0].tokens.keys == [str(i) for i in ids[1, 4:].tolist()]
        assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())

    def test_a_model_on_the_interface_of_which_nothing_arrives(self):
        class Own(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = made("llama")
                self.attention = nn.Linear(3, 3)

            def forward(self, x):
                return self.attention(x)

        model = Own()
        with pytest.raises(NotImplementedError, match="Own computes its attention"), ch.trace(model):
            model(torch.zeros(1, 3))

    def test_a_model_that_is_not_called(self):
        with (
            pytest.raises(ValueError, match="the LlamaForCausalLM was not called in the block"),
            ch.trace(made("llama")),
        ):
            pass

    def test_what_is_no_model(self, unchecked):
        with pytest.raises(TypeError, match=r"trace takes a model of transformers, .* got str"), ch.trace("gpt2"):
            pass
        with pytest.raises(NotImplementedError, match="Linear computes"), ch.trace(nn.Linear(2, 2)):
            pass


class TestModulesOfClearheadTorch:
    def test_a_decoder_with_a_cache(self):
        torch.manual_seed(1)
        layer = cht.SelfAttention(d_model=24, num_heads=4, num_kv_heads=2, window=5)
        x, cache = torch.randn(1, 9, 24), cht.KeyValueCache()
        with ch.trace(layer) as trace, torch.no_grad():
            layer(x[:, :6], cache=cache), layer(x[:, 6:7], cache=cache), layer(x[:, 7:], cache=cache)
        with ch.trace(layer) as whole, torch.no_grad():
            layer(x)
        np.testing.assert_allclose(trace[0].weights(), whole[0].weights(), rtol=0, atol=NOISE)
        assert len(trace.calls) == 1

    def test_a_transformer_and_its_stacks(self):
        torch.manual_seed(1)
        model = cht.Transformer(source_vocab=31, target_vocab=29, d_model=24, num_heads=4, num_layers=2, d_ff=16)
        source, target = torch.randint(1, 29, (1, 7)), torch.randint(1, 29, (1, 5))
        with ch.trace(model.eval()) as trace, torch.no_grad():
            model(source, target)
        assert {"encoder", "decoder", "cross"} == {ch.traces.naming.role(path) for path in trace.stacks}
        assert (trace.encoder[1].n_q, trace.decoder[1].n_q, trace.cross[1].n_k) == (7, 5, 7)

    def test_the_stand_in_for_torchs_module(self):
        layer = cht.MultiheadAttention(24, 4, batch_first=True).eval()
        x = torch.randn(2, 7, 24)
        with ch.trace(layer) as trace, torch.no_grad():
            _, weights = layer(x, x, x, attn_mask=masks.causal(), average_attn_weights=False)
        np.testing.assert_allclose(trace.sequences[1][0].weights(), weights[1], rtol=0, atol=NOISE)

    def test_without_transformers(self):
        done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        assert done.stdout.split() == ["6", "layers", "(7,)", "(4,", "7)"]


ALONE = """
import sys
sys.modules["transformers"] = None
import torch
import clearhead as ch
import clearhead.torch as cht

torch.manual_seed(1)
model = cht.Transformer(source_vocab=31, target_vocab=29, d_model=24, num_heads=4, num_layers=2, d_ff=16).eval()
with ch.trace(model, gradients=True) as trace:
    model(torch.randint(1, 29, (1, 7)), torch.randint(1, 29, (1, 5)))[0, -1, 3].backward()
print(len(trace.names), "layers", trace.relevance().shape, trace.value_norms()[trace.names[0]].shape)
"""
