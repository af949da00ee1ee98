"""The textbook's Transformer and torch.nn.Transformer judge the one that is trained: logits, gradients, files."""

from __future__ import annotations

import copy

import ml_dtypes
import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from clearhead import textbook
from clearhead.torch.transformer import Transformer

B, N_S, N_T, SOURCE, TARGET, D, H, D_FF = 2, 11, 7, 19, 17, 24, 6, 13
SIZES = {"d_model": D, "num_heads": H, "num_layers": 2, "d_ff": D_FF}
KINDS = [
    {},
    {"norm_first": True, "tie": "output"},
    {"norm_first": True, "norm": "rms", "activation": "swiglu", "num_kv_heads": 2, "bias": False},
    {"final_norm": True, "activation": "gelu", "num_decoder_layers": 3, "eps": 1e-3, "pad_id": 4},
    {"activation": "gelu_tanh", "tie": "all", "target_vocab": SOURCE},
]
TYPES = {torch.float64: np.float64, torch.float32: np.float32, torch.bfloat16: ml_dtypes.bfloat16}


def model_of(dtype=torch.float64, seed=0, **kind):
    """A small model in which every parameter does something."""
    model = Transformer(SOURCE, kind.pop("target_vocab", TARGET), **SIZES | kind, dtype=dtype)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator, dtype=torch.float64)
            p.copy_(noise / p.shape[-1] ** 0.5 + ("gamma" in name))
    return model


def sentences(pad=0, seed=0):
    """Ids with padding at the end of some, and of one in the middle."""
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, SOURCE, (B, N_S)), rng.integers(0, TARGET, (B, N_T))
    source[source == pad], target[target == pad] = pad + 1, pad + 1
    source[1, 8:], target[0, 5:], target[1, 2] = pad, pad, pad
    return torch.from_numpy(source), torch.from_numpy(target)


def close(got, expected, **tolerance):
    tolerance = tolerance or {"rtol": 1e-10, "atol": 1e-11}
    np.testing.assert_allclose(got.detach().double().numpy(), np.asarray(expected, np.float64), **tolerance)


# The textbook


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_logits_are_the_textbooks(kind):
    model, (source, target) = model_of(**kind), sentences(kind.get("pad_id", 0))
    expected = model.to_textbook()(source.numpy(), target.numpy())
    close(model(source, target), expected.logits)
    close(model(source[1], target[0]), model.to_textbook()(source[1].numpy(), target[0].numpy()).logits)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_weights_go_to_the_textbook_and_back_exactly(kind, dtype, tmp_path):
    model = model_of(dtype, **kind)
    book = model.to_textbook()
    assert set(book.parameters()) == set(model.state_dict())
    assert book.dtype == TYPES[dtype]
    for name, array in book.parameters().items():
        np.testing.assert_array_equal(array.astype(np.float64), model.state_dict()[name].double().numpy())
    back = Transformer.from_textbook(book)
    check_same(back, model)
    book.save(tmp_path / "book.safetensors")
    model.save(tmp_path / "model.safetensors")
    assert (tmp_path / "book.safetensors").read_bytes() == (tmp_path / "model.safetensors").read_bytes()
    check_same(Transformer.load(tmp_path / "book.safetensors"), model)
    loaded = textbook.Transformer.load(tmp_path / "model.safetensors")
    for name, array in loaded.parameters().items():
        np.testing.assert_array_equal(array, book.parameters()[name])


def check_same(one, other):
    assert one.settings == other.settings
    assert list(one.state_dict()) == list(other.state_dict())
    for a, b in zip(one.state_dict().values(), other.state_dict().values(), strict=True):
        assert a.dtype == b.dtype
        assert torch.equal(a, b)


def test_both_keep_copies():
    model = model_of()
    book = model.to_textbook()
    before = book.W_out.copy()
    with torch.no_grad():
        model.W_out.zero_()
    np.testing.assert_array_equal(book.W_out, before)
    again = Transformer.from_textbook(book, dropout=0.25, dtype=torch.float32)
    book.W_out[:] = 0
    assert torch.equal(again.W_out, torch.from_numpy(before).float())
    assert again.dropout == again.encoder[0].dropout == again.decoder[1].cross_attention.dropout == 0.25


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_narrower_types_stay_near(dtype):
    model, (source, target) = model_of(dtype), sentences()
    logits = model(source, target)
    assert logits.dtype == dtype
    exact = model.double()(source, target).detach()
    close(logits, exact, rtol=0, atol=1e-5 if dtype == torch.float32 else 0.15)


# Decoding


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("steps", [[1] * N_T, [2, 5]], ids=str)
def test_step_by_step_is_the_whole_pass(kind, steps):
    model, (source, target) = model_of(**kind), sentences(kind.get("pad_id", 0))
    with torch.no_grad():
        memory, whole, cache = model.encode(source), model(source, target), model.new_cache()
        parts = [model.decode(part, *memory, cache=cache) for part in target.split(steps, dim=-1)]
    close(torch.cat(parts, dim=1), whole)
    assert cache.length == N_T


def test_selected_sentences_go_on_by_themselves():
    model, (source, target) = model_of(), sentences()
    order = torch.tensor([1, 0, 1])
    with torch.no_grad():
        memory, real = model.encode(source)
        cache = model.new_cache()
        model.decode(target[:, :4], memory, real, cache=cache)
        got = model.decode(target[order, 4:], memory[order], real[order], cache=cache.select(order))
        close(got, model(source, target)[order, 4:])
    assert model.new_cache().select(order).length == 0


def test_copies_of_a_cache_go_on_by_themselves():
    """One beginning, continued in three ways; each is what the whole pass says."""
    model, (source, target) = model_of(), sentences()
    ends = [target[:, 4:], (target[:, 4:] + 1) % TARGET, (target[:, 4:] + 2) % TARGET]
    with torch.no_grad():
        memory, cache = model.encode(source), model.new_cache()
        model.decode(target[:, :2], *memory, cache=cache)
        model.decode(target[:, 2:4], *memory, cache=cache)  # into spare room
        caches = [copy.copy(cache), copy.copy(cache), cache]
        for step in range(3):
            found = [model.decode(end[:, [step]], *memory, cache=c) for end, c in zip(ends, caches, strict=True)]
            for end, logits in zip(ends, found, strict=True):
                whole = model(source, torch.cat([target[:, :4], end], dim=1))
                close(logits[:, 0], whole[:, 4 + step])


def test_old_keys_are_not_copied_at_every_step():
    model, (source, target) = model_of(), sentences()
    with torch.no_grad():
        memory, cache, rooms = model.encode(source), model.new_cache(), set()
        for word in target[:, 1:].split(1, dim=-1):
            model.decode(word, *memory, cache=cache)
            rooms.add(cache.blocks[0].self_attention.K.data_ptr())
    assert len(rooms) == 2  # that of the first word, and one with spare room


def test_a_failed_call_leaves_the_cache_as_it_was(unchecked):
    model, (source, target) = model_of(), sentences()
    with torch.no_grad():
        memory, real = model.encode(source)
        whole, cache = model(source, target), model.new_cache()
        with pytest.raises(ValueError, match=r"memory_real must have shape \(2, 11\), one entry.*\(2, 5\)"):
            model.decode(target[:, :5], memory, real[:, :5], cache=cache)
        model.decode(target[:, :5], memory, real, cache=cache)
        with pytest.raises(ValueError, match="memory of 11 positions"):
            model.decode(target[:, 5:], memory[:, :6], real[:, :6], cache=cache)
        close(model.decode(target[:, 5:], memory, real, cache=cache), whole[:, 5:])


def test_later_words_and_padding_change_no_bit():
    model, (source, target) = model_of(), sentences()
    with torch.no_grad():
        logits = model(source, target)
        changed = target.clone()
        changed[:, 4:] = 3
        assert torch.equal(model(source, changed)[:, :4], logits[:, :4])
        shorter = model(source[1:, :8], target[1:])
        torch.testing.assert_close(shorter, logits[1:], rtol=1e-12, atol=1e-13)


# Gradients


def torch_names(model):
    """Our parameters under nn.Transformer's names: packed, and transposed as torch keeps them."""
    ours, theirs = dict(model.named_parameters()), {}

    def attention(mine, name):
        theirs[f"{name}.in_proj_weight"] = torch.cat([ours[f"{mine}.W_{x}"].T for x in "QKV"])
        theirs[f"{name}.in_proj_bias"] = torch.cat([ours[f"{mine}.b_{x}"] for x in "QKV"])
        theirs[f"{name}.out_proj.weight"], theirs[f"{name}.out_proj.bias"] = ours[f"{mine}.W_O"].T, ours[f"{mine}.b_O"]

    def norm(mine, name):
        theirs[f"{name}.weight"], theirs[f"{name}.bias"] = ours[f"{mine}.gamma"], ours[f"{mine}.beta"]

    def feed_forward(mine, name):
        for i in "12":
            theirs[f"{name}.linear{i}.weight"] = ours[f"{mine}.W_{i}"].T
            theirs[f"{name}.linear{i}.bias"] = ours[f"{mine}.b_{i}"]

    for stack, parts in (("encoder", ["attention"]), ("decoder", ["self_attention", "cross_attention"])):
        for i in range(2):
            layer = f"{stack}.layers.{i}"
            for number, (mine, name) in enumerate(zip(parts, ("self_attn", "multihead_attn"), strict=False), start=1):
                attention(f"{stack}.{i}.{mine}", f"{layer}.{name}")
                norm(f"{stack}.{i}.{mine}_norm", f"{layer}.norm{number}")
            feed_forward(f"{stack}.{i}.feed_forward", layer)
            norm(f"{stack}.{i}.feed_forward_norm", f"{layer}.norm{len(parts) + 1}")
        norm(f"{stack}_norm", f"{stack}.norm")
    return theirs


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_torchs_transformer_agrees_in_every_gradient(norm_first, activation):
    model = model_of(norm_first=norm_first, activation=activation, final_norm=True)
    theirs = nn.Transformer(
        D, H, 2, 2, D_FF, 0.0, activation, batch_first=True, norm_first=norm_first, dtype=torch.float64
    )
    source, target = sentences()

    def embedded(ids, table):
        angle = torch.arange(ids.shape[-1])[:, None] / 10000 ** (torch.arange(D).double() // 2 * 2 / D)
        waves = torch.where(torch.arange(D) % 2 == 1, angle.cos(), angle.sin())
        return functional.embedding(ids, table) * D**0.5 + waves

    def through_torch():
        hidden = torch.func.functional_call(
            theirs,
            torch_names(model),
            (embedded(source, model.source_embedding), embedded(target, model.target_embedding)),
            {
                "tgt_mask": torch.ones(N_T, N_T, dtype=torch.bool).triu(1),
                "src_key_padding_mask": source == 0,
                "tgt_key_padding_mask": target == 0,
                "memory_key_padding_mask": source == 0,
            },
            strict=True,
        )
        return hidden @ model.W_out + model.b_out

    got, expected = model(source, target), through_torch()
    close(got, expected.detach())
    real = target != 0
    answers = [functional.cross_entropy(logits[real], target[real]) for logits in (got, expected)]
    for name, a, b in zip(
        dict(model.named_parameters()),
        torch.autograd.grad(answers[0], list(model.parameters())),
        torch.autograd.grad(answers[1], list(model.parameters())),
        strict=True,
    ):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-12, msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_parameter_gets_a_gradient(kind):
    model, (source, target) = model_of(**kind), sentences(kind.get("pad_id", 0))
    model(source, target).square().sum().backward()
    for name, p in model.named_parameters():
        assert torch.isfinite(p.grad).all(), name
        assert (p.grad != 0).any() or name.endswith("b_K"), name  # softmax does not see what all keys have in common


def test_it_learns_to_copy():
    torch.manual_seed(0)
    model = Transformer(SOURCE, SOURCE, d_model=32, num_heads=4, num_layers=1, d_ff=64, norm_first=True, dropout=0.05)
    optimiser = torch.optim.Adam(model.parameters(), 5e-3)
    generator = torch.Generator().manual_seed(1)

    def batch(n=48):
        words = torch.randint(2, SOURCE, (n, 5), generator=generator)
        return words, torch.cat([torch.ones(n, 1, dtype=torch.int64), words[:, :-1]], dim=1)

    for _ in range(150):
        words, given = batch()
        loss = functional.cross_entropy(model(words, given).transpose(1, 2), words)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    words, _ = batch(50)
    model.eval()
    with torch.no_grad():  # judged by what it writes itself: a leak of the future would not help it here
        memory, cache, word, written = model.encode(words), model.new_cache(), torch.ones(50, 1, dtype=torch.int64), []
        for _ in range(5):
            word = model.decode(word, *memory, cache=cache).argmax(-1)
            written.append(word)
    assert (torch.cat(written, dim=1) == words).double().mean() > 0.95


# Errors


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"source_vocab": 0}, "source_vocab must be at least 1, got 0"),
        ({"tie": "some"}, "tie must be one of 'none', 'output', 'all', got 'some'"),
        ({"tie": "all"}, "tie='all' shares one embedding, but source_vocab = 19 and target_vocab = 17 differ"),
        ({"pad_id": 17}, r"pad_id must be a token of both vocabularies, in \[0, 16\], got 17"),
        ({"num_layers": 0}, "num_layers must be at least 1, got 0"),
        ({"num_decoder_layers": 0}, "num_decoder_layers must be at least 1, got 0"),
        ({"dropout": 1.0}, "dropout must be at least 0 and less than 1"),
        ({"num_heads": 5}, "d_model = 24 cannot be divided among num_heads = 5"),
    ],
)
def test_settings_that_are_refused(settings, message, unchecked):
    with pytest.raises(ValueError, match=message):
        Transformer(**{"source_vocab": SOURCE, "target_vocab": TARGET} | SIZES | settings)


def test_calls_that_are_refused(unchecked):
    model, (source, target) = model_of(), sentences()
    memory, real = model.encode(source)
    with pytest.raises(TypeError, match=r"source_ids must be integers, got torch.float32 \(token ids are row numbers"):
        model(source.float(), target)
    with pytest.raises(TypeError, match=r"target_ids must be integers, got torch.bool"):
        model(source, target > 0)
    with pytest.raises(ValueError, match=r"target_ids needs at least 1 dimension, \(…, n\), got a single number"):
        model(source, target[0, 0])
    with pytest.raises(ValueError, match=r"target_ids must be in \[0, 16\] for a vocabulary of 17, got 2 … 17"):
        model(source, torch.tensor([[2, 17]]))
    with pytest.raises(ValueError, match=r"memory must be d_model = 24 wide"):
        model.decode(target, memory[..., 1:], real)
    with pytest.raises(ValueError, match=r"the cache is for 3 decoder blocks, this model has 2; make one with this"):
        model.decode(target, memory, real, cache=model_of(num_decoder_layers=3).new_cache())
    cache = model.new_cache()
    model.decode(target, memory, real, cache=cache)
    with pytest.raises(ValueError, match=r"leading dimensions \(2,\), got target_ids with \(1,\); cache.select picks"):
        model.decode(target[:1], memory, real, cache=cache)
