"""Models that know nothing of clearhead run on its kernels inside a block, and on torch's before and after it."""

from __future__ import annotations

import contextlib
import copy
import inspect
import pickle
import threading

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.functional import scaled_dot_product_attention as imported_earlier

from clearhead.torch import swap
from clearhead.torch.swap import NothingSwapped, swapped

B, N_S, N_T, D, H = 2, 11, 7, 24, 4
TORCHS = functional.scaled_dot_product_attention
BLOCKS = {"thread": lambda model: swapped(), "model": swapped}


@pytest.fixture
def calls(monkeypatch):
    """The names of the stand-ins that were called, in order."""
    found = []
    for function, stand_in in list(swap.STAND_INS.items()):

        def noted(*args, stand_in=stand_in, **kwargs):
            found.append(stand_in.__name__)
            return stand_in(*args, **kwargs)

        monkeypatch.setitem(swap.STAND_INS, function, noted)
    return found


def randn(*shape, seed=1, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@contextlib.contextmanager
def swapped_in_vain(*models):
    """A block in which nothing calls attention, which is said at its end."""
    with pytest.warns(NothingSwapped), swapped(*models):
        yield


def untouched(model):
    assert functional.scaled_dot_product_attention is TORCHS
    assert torch.backends.mha.get_fastpath_enabled()
    assert not any("forward" in vars(module) for module in model.modules())
    return True


class Attend(nn.Module):
    """The smallest model there is."""

    def forward(self, x):
        return imported_earlier(x, x, x, is_causal=True)


# Models


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_torchs_transformer(calls, block, training):
    torch.manual_seed(0)
    model = nn.Transformer(D, H, 2, 3, 13, dropout=0.0, batch_first=True, dtype=torch.float64).train(training)
    x, y = randn(B, N_S, D), randn(B, N_T, D, seed=2)
    padding = torch.arange(N_S) >= torch.tensor([[N_S], [8]])
    causal = nn.Transformer.generate_square_subsequent_mask(N_T, dtype=torch.float64)
    options = {"src_key_padding_mask": padding, "memory_key_padding_mask": padding, "tgt_mask": causal}
    with contextlib.nullcontext() if training else torch.no_grad():
        for given in ({}, options):
            calls.clear()
            expected = model(x, y, **given)
            assert calls == []
            with BLOCKS[block](model):
                got = model(x, y, **given)
            assert calls == ["multi_head_attention_forward"] * (2 + 2 * 3)
            torch.testing.assert_close(got, expected, rtol=1e-10, atol=1e-11)
    assert untouched(model)
    if training:
        parameters = list(model.parameters())
        for a, b in zip(
            torch.autograd.grad(got.square().sum(), parameters),
            torch.autograd.grad(expected.square().sum(), parameters),
            strict=True,
        ):
            torch.testing.assert_close(a, b, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_torchs_multihead_attention(calls, block, need_weights, mode):
    model = nn.MultiheadAttention(D, H, batch_first=True, dtype=torch.float64).eval()
    x = randn(B, N_S, D)
    with mode():
        expected = model(x, x, x, need_weights=need_weights)
        with BLOCKS[block](model):
            got = model(x, x, x, need_weights=need_weights)
    assert calls == ["multi_head_attention_forward"]
    torch.testing.assert_close(got, expected, rtol=1e-10, atol=1e-11)
    assert untouched(model)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_torchs_fused_encoder_steps_aside(calls, block):
    layer = nn.TransformerEncoderLayer(D, H, 13, batch_first=True, dtype=torch.float64)
    model = nn.TransformerEncoder(layer, 2).eval()  # with padding and no gradients, torch would take its fused path
    x, padding = randn(B, N_S, D), torch.arange(N_S) >= torch.tensor([[N_S], [8]])
    with torch.no_grad():
        expected = model(x, src_key_padding_mask=padding)
        with BLOCKS[block](model):
            got = model(x, src_key_padding_mask=padding)
    assert len(calls) == 2
    torch.testing.assert_close(got[~padding], expected[~padding], rtol=1e-10, atol=1e-11)


def small_models():
    import transformers as t

    sizes = {"vocab_size": 97, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    return {
        "llama": (t.LlamaForCausalLM, t.LlamaConfig(**sizes, intermediate_size=24, num_key_value_heads=2)),
        "bert": (t.BertModel, t.BertConfig(**sizes, intermediate_size=24)),
        "gpt2": (t.GPT2LMHeadModel, t.GPT2Config(vocab_size=97, n_embd=32, n_layer=2, n_head=4)),
        "bart": (
            t.BartForConditionalGeneration,
            t.BartConfig(
                vocab_size=97, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                decoder_attention_heads=4, encoder_ffn_dim=24, decoder_ffn_dim=24, pad_token_id=0, eos_token_id=1,
                bos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=None,
            ),
        ),
    }  # fmt: skip


def random_model(name):
    kind, config = small_models()[name]
    config._attn_implementation = "sdpa"
    torch.manual_seed(0)
    return kind(config).eval()


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", ["llama", "bert", "gpt2", "bart"])
def test_models_of_transformers(calls, block, name):
    model = random_model(name)
    ids = torch.randint(3, 97, (B, N_S), generator=torch.Generator().manual_seed(3))
    real = torch.ones_like(ids)
    real[0, 8:] = 0
    layers = {"bart": 2 + 2 * 2}.get(name, 2)
    for given in ({}, {"attention_mask": real}):
        calls.clear()
        with torch.no_grad():
            expected = model(ids, **given)[0]
            assert calls == []
            with BLOCKS[block](model) as swap:
                got = model(ids, **given)[0]
        assert swap.calls == layers
        assert len(calls) == (layers if block == "thread" else 0), "a model that is named calls the kernels itself"
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=2e-6)
    assert untouched(model)


@pytest.mark.parametrize("name", ["llama", "gpt2", "bart"])
def test_generation(name):
    model = random_model(name)
    ids = torch.randint(3, 97, (B, N_S), generator=torch.Generator().manual_seed(3))
    options = {"max_new_tokens": 5, "do_sample": False, "pad_token_id": 0}
    expected = model.generate(ids, **options)
    with swapped(model) as swap:
        got = model.generate(ids, **options)
    steps = got.shape[1] - (1 if name == "bart" else N_S)
    assert swap.calls == (2 + 4 * steps if name == "bart" else 2 * steps), "an encoder is called without its model"
    assert torch.equal(got, expected)


def test_gradients_of_a_model_of_transformers():
    model = random_model("llama").train()
    ids = torch.randint(3, 97, (B, N_S), generator=torch.Generator().manual_seed(3))

    def gradients():
        model.zero_grad()
        model(ids, labels=ids).loss.backward()
        return [p.grad.clone() for p in model.parameters()]

    expected = gradients()
    with swapped():
        got = gradients()
    for a, b in zip(got, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-6)


def test_recorded_in_the_block_and_differentiated_after_it(calls):
    x = randn(1, 2, N_S, 5).requires_grad_()
    with swapped():
        y = imported_earlier(x, x, x)
    (got,) = torch.autograd.grad(y.square().sum(), x)
    (expected,) = torch.autograd.grad(imported_earlier(x, x, x).square().sum(), x)
    torch.testing.assert_close(got, expected, rtol=1e-10, atol=1e-12)
    assert calls == ["scaled_dot_product_attention"]


# Beginning and end of a block


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_exception_ends_it(calls, block, error):
    model, x = nn.Sequential(Attend(), nn.Identity()), randn(1, 2, N_S, 5)

    def fail(*_):
        raise error

    handle = model[1].register_forward_hook(fail)
    with pytest.raises(error), BLOCKS[block](model):
        model(x)
    handle.remove()
    assert untouched(model)
    calls.clear()
    model(x)
    assert calls == []
    assert swap._here.swaps == ()


def test_blocks_are_nested(calls):
    model, x = nn.Sequential(Attend()), randn(1, 2, N_S, 5)
    with swapped():
        with swapped(), swapped(model):
            model(x)
            assert len(calls) == 1, "one stand-in answers, however deep"
        model(x)
    assert len(calls) == 2
    with swapped(model):
        with swapped_in_vain(model):
            pass
        model(x)
    model(x)
    assert len(calls) == 3
    assert untouched(model)


def test_calls_that_are_left_to_torch_do_not_count(calls):
    """On another device there are no kernels; the blocks around a call there do not count it, once or twice."""
    there, x = torch.empty(1, 2, N_S, 5, device="meta"), randn(1, 2, N_S, 5)
    with swapped() as outer, swapped() as inner:
        assert imported_earlier(there, there, there).shape == there.shape
        assert (outer.calls, inner.calls, calls) == (0, 0, [])
        imported_earlier(x, x, x)
        assert (outer.calls, inner.calls) == (1, 1)
        imported_earlier(there, there, there, is_causal=True)
    assert (outer.calls, inner.calls, len(calls)) == (1, 1, 1)


def test_a_model_elsewhere_is_told_where_the_kernels_are():
    model = nn.MultiheadAttention(D, H, device="meta")
    x = torch.empty(N_S, B, D, device="meta")
    message = r"this MultiheadAttention is on meta, and the kernels read tensors on the CPU; model.cpu\(\) brings it"
    with pytest.warns(NothingSwapped, match=message), swapped(model):
        model(x, x, x)


def test_only_the_models_that_are_named(calls):
    one, other, x = Attend(), Attend(), randn(1, 2, N_S, 5)
    with swapped(one):
        other(x)
        imported_earlier(x, x, x)
        assert calls == []
        one(x)
        assert len(calls) == 1
    with swapped(one, other):
        one(x), other(x)
    assert len(calls) == 3


def in_a_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def test_other_threads(calls):
    model, x = Attend(), randn(1, 2, N_S, 5)
    with swapped_in_vain():
        in_a_thread(lambda: model(x))
        assert calls == [], "a block is this thread's alone"
    with swapped(model):
        in_a_thread(lambda: model(x))
        assert len(calls) == 1, "a model is swapped for all"


def test_blocks_of_two_threads_overlap(calls):
    model, x = Attend(), randn(1, 2, N_S, 5)
    entered, leave = threading.Event(), threading.Event()

    def other():
        with swapped(model):
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with swapped_in_vain(model):
        thread.start()
        assert entered.wait(10)
    model(x)
    assert len(calls) == 1, "the other thread's block goes on"
    leave.set()
    thread.join()
    model(x)
    assert len(calls) == 1
    assert untouched(model)


def test_a_block_may_end_while_a_call_is_under_way(calls):
    inside, go_on = threading.Event(), threading.Event()

    class Slow(Attend):
        def forward(self, x):
            inside.set()
            go_on.wait(10)
            return super().forward(x)

    model, x = Slow(), randn(1, 2, N_S, 5)
    depths = []
    thread = threading.Thread(target=lambda: (model(x), depths.append(len(swap._here.swaps))))
    with swapped_in_vain(model):
        thread.start()
        assert inside.wait(10)
    go_on.set()
    thread.join()
    assert len(calls) == 1
    assert depths == [0]
    assert untouched(model)


def test_copies_made_inside_are_plain_and_their_own(calls):
    model = nn.TransformerEncoderLayer(D, H, 13, batch_first=True, dtype=torch.float64).eval()
    x = randn(B, N_S, D)
    expected = model(x)
    with swapped_in_vain(model):
        copies = copy.deepcopy(model), pickle.loads(pickle.dumps(model))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    for made in copies:
        torch.testing.assert_close(made(x), expected, rtol=1e-12, atol=1e-12)
    assert calls == []


def test_a_forward_that_was_there_before_is_put_back(calls):
    model, x = Attend(), randn(1, 2, N_S, 5)
    own = model.forward = lambda x: 2 * imported_earlier(x, x, x)
    with swapped(model):
        model(x)
        assert len(calls) == 1
    assert vars(model)["forward"] is own


def test_a_forward_that_came_after_stays_and_ours_lets_pass(calls):
    model, x = Attend(), randn(1, 2, N_S, 5)
    with swapped_in_vain(model):
        ours = model.forward
        model.forward = lambda x: ours(x)
    model(x)
    assert calls == []


def test_the_signature_is_still_there():
    model = random_model("gpt2")
    before = inspect.signature(model.forward)
    with swapped_in_vain(model):
        assert inspect.signature(model.forward) == before


def test_it_decorates_a_function(calls):
    @swapped()
    def run(x):
        return imported_earlier(x, x, x)

    run(randn(1, 2, N_S, 5))
    run(randn(1, 2, N_S, 5))
    assert len(calls) == 2


@pytest.mark.filterwarnings("ignore")  # torch's own, while it compiles
def test_a_compiled_model(calls, unchecked):
    model, x = Attend(), randn(1, 2, N_S, 5)
    expected = model(x)
    compiled = torch.compile(model, backend="eager")
    for block in (swapped(), swapped(model), swapped(compiled)):
        calls.clear()
        with block:
            torch.testing.assert_close(compiled(x), expected, rtol=1e-10, atol=1e-12)
        assert calls == ["scaled_dot_product_attention"]
        torch.testing.assert_close(compiled(x), expected, rtol=1e-10, atol=1e-12)
        assert len(calls) == 1


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested_tensors_are_left_to_torch(calls):
    rows = [randn(2, n, 5).transpose(0, 1) for n in (3, 7)]
    nested = torch.nested.nested_tensor(rows, layout=torch.jagged).transpose(1, 2)
    expected = imported_earlier(nested, nested, nested)
    with swapped_in_vain():
        got = imported_earlier(nested, nested, nested)
    torch.testing.assert_close(got.values(), expected.values())
    assert calls == []


def test_errors_of_the_stand_in_come_through(unchecked):
    x = randn(1, 2, N_S, 5)
    with swapped(), pytest.raises(ValueError, match="dropout_p must be between 0 and 1"):
        imported_earlier(x, x, x, dropout_p=1.5)
    assert swap._here.swaps == ()


# Counting


@pytest.mark.parametrize("block", BLOCKS)
def test_calls_are_counted(block):
    model, x = nn.Sequential(Attend(), Attend()), randn(1, 2, N_S, 5)
    with BLOCKS[block](model) as swap:
        assert (swap.calls, repr(swap)) == (0, "<Swap: 0 calls of attention on clearhead's kernels>")
        model(x)
        assert swap.calls == 2
        model[0](x)
    model(x)
    assert swap.calls == (3 if block == "thread" else 2), "a part without parts of its own is not the model"


def test_each_block_counts_what_it_concerns():
    one, other, x = nn.Sequential(Attend()), nn.Sequential(Attend()), randn(1, 2, N_S, 5)
    both = nn.Sequential(one, other)
    with swapped() as thread, swapped(both) as whole, swapped(one) as part, swapped(one) as again:
        both(x)
        other(x)
        imported_earlier(x, x, x)
    assert [swap.calls for swap in (thread, whole, part, again)] == [4, 3, 1, 1]


def test_calls_of_many_threads_are_counted():
    model, x = Attend(), randn(1, 2, N_S, 5)
    with swapped(model) as swap:
        threads = [threading.Thread(target=lambda: [model(x) for _ in range(20)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert swap.calls == 80


class TestNothingSwapped:
    @pytest.mark.parametrize("block", BLOCKS)
    def test_a_block_without_a_call_says_so(self, block):
        model, message = nn.Linear(3, 3), "no call of attention: nothing in the block called torch's"
        with pytest.warns(NothingSwapped, match=message) as told, BLOCKS[block](model):
            model(torch.zeros(2, 3))
        assert told[0].filename == __file__

    def test_a_model_with_attention_of_its_own_is_told_apart(self):
        import transformers as t

        model = t.GPTJModel(t.GPTJConfig(vocab_size=97, n_embd=32, n_layer=1, n_head=4, rotary_dim=4)).eval()
        message = r"this GPTJModel computes it with code of its own, 'eager'; model.set_attn_implementation\('sdpa'\)"
        with pytest.warns(NothingSwapped, match=message), swapped(model):
            model(torch.arange(5)[None])

    def test_a_model_that_asks_which_attention_to_call_is_swapped_whichever_it_calls(self):
        model = random_model("gpt2")
        model.set_attn_implementation("eager")
        with swapped(model) as swap:
            model(torch.arange(5)[None])
        assert swap.calls == model.config.n_layer
        message = r"in a block without models, one of transformers needs .*, while swapped\(model\) takes it as it is"
        with pytest.warns(NothingSwapped, match=message), swapped():
            model(torch.arange(5)[None])

    def test_of_such_a_model_only_what_calls_torchs_itself_gets_a_mode(self, calls):
        import transformers as t

        sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 24}
        model = t.SiglipVisionModel(t.SiglipVisionConfig(**sizes, image_size=12, patch_size=4)).eval()
        x = torch.randn(2, 3, 12, 12)
        with torch.no_grad():
            expected = model(x).pooler_output
            with swapped(model) as swap:
                assert sum("forward" in vars(module) for module in model.modules()) == 1
                torch.testing.assert_close(model(x).pooler_output, expected, rtol=1e-4, atol=1e-5)
        assert calls == ["multi_head_attention_forward"], "of its pooling head"
        assert swap.calls == 3
        assert untouched(model)

    @pytest.mark.parametrize("block", BLOCKS)
    def test_an_exception_is_enough_said(self, block):
        with pytest.raises(KeyError), BLOCKS[block](nn.Linear(3, 3)):
            raise KeyError


# Errors


def test_what_is_not_a_model_is_refused(unchecked):
    with pytest.raises(TypeError, match=r"swapped takes models \(nn.Module\), or nothing .* got Tensor \(the model is"):
        swapped(torch.zeros(3)).__enter__()
    with pytest.raises(TypeError, match="got function"):
        swapped(Attend(), randn).__enter__()


@pytest.mark.filterwarnings("ignore:.*torch.jit")
def test_torchscript_is_refused():
    scripted = torch.jit.trace(nn.Linear(3, 3), torch.zeros(2, 3))
    with pytest.raises(TypeError, match="cannot reach into a TorchScript module"):
        swapped(scripted).__enter__()
