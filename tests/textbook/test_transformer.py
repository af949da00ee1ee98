from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from clearhead.textbook.decoder import DecoderBlock
from clearhead.textbook.encoder import EncoderBlock
from clearhead.textbook.positions import positional_encoding
from clearhead.textbook.transformer import Transformer

TYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
LEADING = [(), (2,), (2, 3)]
SIZES = {"d_model": 24, "num_heads": 6, "num_layers": 2, "d_ff": 13}
KINDS = [
    {},
    {"norm_first": True, "tie": "output"},
    {"norm_first": True, "norm": "rms", "activation": "swiglu", "num_kv_heads": 2, "bias": False},
    {"final_norm": True, "activation": "gelu", "num_decoder_layers": 3},
]


def model_of(rng, **changes):
    """A small model in which every parameter does something."""
    model = Transformer(19, 17, **SIZES | changes)
    for name, array in model.parameters().items():
        if array.ndim == 1:
            array[:] = rng.normal("gamma" in name, 0.5, array.shape).astype(array.dtype)
    return model


def sentences(rng, *shape, vocab):
    return rng.integers(1, vocab, shape)


def test_the_whole_is_its_parts_in_a_row(rng):
    model = model_of(rng, num_decoder_layers=3, final_norm=True)
    source, target = sentences(rng, 11, vocab=19), sentences(rng, 7, vocab=17)
    x = model.source_embedding[source] * np.sqrt(24) + positional_encoding(11, 24)
    encoder_weights = []
    for block in model.encoder:
        x, weights = block(x)
        encoder_weights.append(weights)
    memory = model.encoder_norm(x)
    y = model.target_embedding[target] * np.sqrt(24) + positional_encoding(7, 24)
    self_weights, cross_weights = [], []
    for block in model.decoder:
        y, from_self, from_cross = block(y, memory)
        self_weights.append(from_self)
        cross_weights.append(from_cross)
    expected = model.decoder_norm(y) @ model.W_out + model.b_out

    got = model(source, target)
    np.testing.assert_allclose(got.logits, expected, rtol=1e-11, atol=1e-12)
    assert (len(got.encoder_weights), len(got.self_weights), len(got.cross_weights)) == (2, 3, 3)
    for ours, theirs in (
        (got.encoder_weights, encoder_weights),
        (got.self_weights, self_weights),
        (got.cross_weights, cross_weights),
    ):
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("leading", LEADING)
@pytest.mark.parametrize("steps", [[1] * 7, [2, 5]], ids=str)
def test_step_by_step_is_the_whole_pass(rng, kind, leading, steps):
    model = model_of(rng, **kind)
    source, target = sentences(rng, *leading, 11, vocab=19), sentences(rng, *leading, 7, vocab=17)
    source[..., 9:], target[..., 4] = 0, 0  # padding is remembered too
    memory, mask, _ = model.encode(source)
    whole = model.decode(target, memory, mask)
    cache, start = model.new_cache(), 0
    for n in steps:
        end = start + n
        part = model.decode(target[..., start:end], memory, mask, cache=cache)
        np.testing.assert_allclose(part.logits, whole.logits[..., start:end, :], rtol=1e-12, atol=1e-12)
        for ours, theirs in zip(part.self_weights, whole.self_weights, strict=True):
            np.testing.assert_allclose(ours, theirs[..., start:end, :end], rtol=1e-11, atol=1e-13)
        for ours, theirs in zip(part.cross_weights, whole.cross_weights, strict=True):
            np.testing.assert_allclose(ours, theirs[..., start:end, :], rtol=1e-11, atol=1e-13)
        start = end
        assert cache.length == end


def test_a_failed_call_leaves_the_cache_as_it_was(rng, unchecked):
    model = model_of(rng)
    source, target = sentences(rng, 2, 11, vocab=19), sentences(rng, 2, 7, vocab=17)
    memory, mask, _ = model.encode(source)
    whole = model.decode(target, memory, mask).logits
    cache = model.new_cache()
    model.decode(target[:, :6], memory, mask, cache=cache)
    for wrong in ((memory[:, :5], None), (memory, mask[..., :5])):
        with pytest.raises(ValueError, match=r"memory of 11 positions|does not broadcast"):
            model.decode(target[:, 6:], *wrong, cache=cache)
    part = model.decode(target[:, 6:], memory, mask, cache=cache)
    np.testing.assert_allclose(part.logits, whole[:, 6:], rtol=1e-12, atol=1e-12)


def test_select_continues_with_other_sentences(rng):
    model = model_of(rng)
    source, target = sentences(rng, 3, 11, vocab=19), sentences(rng, 3, 7, vocab=17)
    source[1, 8:], target[1, 2] = 0, 0
    memory, mask, _ = model.encode(source)
    whole = model.decode(target, memory, mask).logits
    cache = model.new_cache()
    model.decode(target[:, :6], memory, mask, cache=cache)
    order = np.array([1, 1, 2, 0])
    part = model.decode(target[order, 6:], memory[order], mask[order], cache=cache.select(order))
    np.testing.assert_allclose(part.logits, whole[order, 6:], rtol=1e-12, atol=1e-12)
    assert model.new_cache().select(order).length == 0


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(KINDS), n=st.integers(2, 11), cut=st.integers(1, 10))
def test_no_bit_depends_on_a_later_target_token(seed, kind, n, cut):
    rng = np.random.default_rng(seed)
    cut = min(cut, n - 1)
    model = model_of(rng, **kind)
    source, target = sentences(rng, 2, 5, vocab=19), rng.integers(0, 17, (2, n))
    before = model(source, target)
    target[:, cut:] = rng.integers(0, 17, (2, n - cut))
    after = model(source, target)
    np.testing.assert_array_equal(after.logits[:, :cut], before.logits[:, :cut])
    for name in ("self_weights", "cross_weights"):
        for old, new in zip(getattr(before, name), getattr(after, name), strict=True):
            np.testing.assert_array_equal(new[:, :, :cut], old[:, :, :cut])


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_padding_changes_nothing(rng, kind):
    model = model_of(rng, **kind)
    source, target = sentences(rng, 3, 11, vocab=19), sentences(rng, 3, 7, vocab=17)
    source[1, 5:], target[1, 3:] = 0, 0
    together, alone = model(source, target), model(source[1, :5], target[1, :3])
    np.testing.assert_allclose(together.logits[1, :3], alone.logits, rtol=1e-12, atol=1e-12)
    for ours, theirs in zip(together.encoder_weights, alone.encoder_weights, strict=True):
        np.testing.assert_allclose(ours[1, :, :5, :5], theirs, rtol=1e-11, atol=1e-13)
        assert (ours[1, :, :, 5:] == 0).all()
    for ours, theirs in zip(together.cross_weights, alone.cross_weights, strict=True):
        np.testing.assert_allclose(ours[1, :, :3, :5], theirs, rtol=1e-11, atol=1e-13)
        assert (ours[1, :, :, 5:] == 0).all()


def test_another_pad_id(rng):
    model = model_of(rng, pad_id=4)
    source = np.array([3, 0, 7, 4, 4])
    mask = model.encode(source).mask
    np.testing.assert_array_equal(mask, [[[True, True, True, False, False]]])


def test_a_sentence_of_padding_gives_numbers(rng):
    model = model_of(rng)
    got = model(np.zeros((2, 5), int), np.array([[3, 2], [0, 0]]))
    assert np.isfinite(got.logits).all()
    assert all((weights == 0).all() for weights in got.cross_weights)


@pytest.mark.parametrize("leading", LEADING)
def test_leading_dimensions(rng, leading):
    model = model_of(rng)
    source, target = sentences(rng, *leading, 11, vocab=19), sentences(rng, *leading, 7, vocab=17)
    logits = model(source, target).logits
    for index in np.ndindex(*leading):
        np.testing.assert_allclose(logits[index], model(source[index], target[index]).logits, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("tie", "names"),
    [
        ("none", {"source_embedding", "target_embedding", "W_out", "b_out"}),
        ("output", {"source_embedding", "target_embedding", "b_out"}),
        ("all", {"source_embedding", "b_out"}),
    ],
)
def test_ties(rng, tie, names):
    model = Transformer(17, 17, d_model=6, num_heads=2, num_layers=1, d_ff=5, tie=tie)
    assert {name for name in model.parameters() if "." not in name} == names
    table = model.source_embedding if tie == "all" else model.target_embedding
    memory = rng.normal(size=(5, 6))
    before = model.decode([3, 2], memory).logits
    table[7] += 1  # 7 is not among the inputs, so at most its logit moves
    moved = np.flatnonzero((model.decode([3, 2], memory).logits != before).any(axis=0))
    assert moved.tolist() == ([] if tie == "none" else [7])


def test_num_parameters_is_the_sum_of_its_parts():
    model = Transformer(19, 17, d_model=24, num_heads=6, num_layers=2, num_decoder_layers=3, d_ff=13, final_norm=True)
    blocks = 2 * EncoderBlock(24, 6, 13).num_parameters + 3 * DecoderBlock(24, 6, 13).num_parameters
    assert model.num_parameters == 19 * 24 + 17 * 24 + blocks + 2 * 2 * 24 + 24 * 17 + 17


def test_final_norm_follows_norm_first():
    for norm_first in (False, True):
        model = Transformer(19, 17, d_model=6, num_heads=2, num_layers=1, d_ff=5, norm_first=norm_first)
        assert model.final_norm is norm_first
        assert (model.encoder_norm is not None) is norm_first


@pytest.mark.parametrize("dtype", TYPES)
def test_everything_is_in_the_type_of_the_weights(rng, dtype):
    model = model_of(rng, dtype=dtype)
    got = model(sentences(rng, 2, 11, vocab=19), sentences(rng, 2, 7, vocab=17))
    arrays = [got.logits, *got.encoder_weights, *got.self_weights, *got.cross_weights]
    assert {array.dtype for array in arrays} == {np.dtype(dtype)}
    exact = model_of(rng)
    exact.load_parameters(model.parameters())
    assert {array.dtype for array in exact.parameters().values()} == {np.dtype(np.float64)}


def test_float32_is_close_to_float64(rng):
    model = model_of(rng, dtype=np.float32)
    exact = model_of(rng)
    exact.load_parameters(model.parameters())
    source, target = sentences(rng, 2, 11, vocab=19), sentences(rng, 2, 7, vocab=17)
    np.testing.assert_allclose(model(source, target).logits, exact(source, target).logits, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_save_and_load(tmp_path, rng, kind):
    model = model_of(rng, seed=9, dtype=np.float32, **kind)
    model.save(tmp_path / "model.safetensors")
    again = Transformer.load(tmp_path / "model.safetensors")
    source, target = sentences(rng, 11, vocab=19), sentences(rng, 7, vocab=17)
    np.testing.assert_array_equal(again(source, target).logits, model(source, target).logits)
    assert again._settings() == model._settings()


def test_weights_come_from_the_seed():
    first, second, other = (Transformer(19, 17, seed=seed, **SIZES).parameters() for seed in (4, 4, 5))
    assert all(np.array_equal(first[name], second[name]) for name in first)
    matrices = [name for name in first if first[name].ndim == 2]
    assert all((first[name] != other[name]).all() for name in matrices)
    assert len({first[name].tobytes() for name in matrices}) == len(matrices)


def test_constructor_errors(unchecked):
    for change, error, message in [
        ({"d_model": 25}, ValueError, "d_model = 25 cannot be divided among num_heads = 6 heads evenly"),
        ({"d_model": -6}, ValueError, "d_model must be at least 1, got -6"),
        ({"num_heads": 0}, ValueError, "num_heads must be at least 1, got 0"),
        ({"num_layers": 0}, ValueError, "num_layers must be at least 1, got 0"),
        ({"num_decoder_layers": -1}, ValueError, "num_decoder_layers must be at least 1, got -1"),
        ({"d_ff": 1.5}, TypeError, r"d_ff must be a whole number, got 1\.5"),
        ({"norm": "batch"}, ValueError, "norm must be one of 'layer', 'rms', got 'batch'"),
        ({"activation": "elu"}, ValueError, "activation must be one of"),
        ({"tie": True}, ValueError, "tie must be one of 'none', 'output', 'all', got True"),
        (
            {"tie": "all"},
            ValueError,
            "tie='all' shares one embedding, but source_vocab = 19 and target_vocab = 17 diff",
        ),
        ({"pad_id": 17}, ValueError, r"pad_id must be a token of both vocabularies, in \[0, 16\], got 17"),
        ({"pad_id": -1}, ValueError, "pad_id must be at least 0, got -1"),
        ({"dtype": int}, TypeError, "dtype must be one of"),
    ]:
        with pytest.raises(error, match=message):
            Transformer(19, 17, **SIZES | change)
    with pytest.raises(ValueError, match="source_vocab must be at least 1, got 0"):
        Transformer(0, 17, **SIZES)
    with pytest.raises(TypeError, match="target_vocab must be a whole number, got '17'"):
        Transformer(19, "17", **SIZES)


def test_call_errors(rng, unchecked):
    model = model_of(rng)
    memory = rng.normal(size=(2, 5, 24))
    with pytest.raises(
        TypeError, match=r"source_ids must be integers, got float64 \(token ids are row numbers of the em"
    ):
        model.encode([1.0, 2.0])
    with pytest.raises(ValueError, match=r"source_ids must be in \[0, 18\] for a vocabulary of 19, got 3 … 19"):
        model.encode([3, 19])
    with pytest.raises(ValueError, match=r"target_ids must be in \[0, 16\] for a vocabulary of 17, got -1 … 3"):
        model.decode([[3], [-1]], memory)
    with pytest.raises(ValueError, match=r"target_ids needs at least 1 dimension, \(…, n\), got a single number"):
        model.decode(3, memory)
    with pytest.raises(ValueError, match="memory must be d_model = 24 wide"):
        model.decode([3], np.ones((5, 7)))
    with pytest.raises(
        ValueError, match=r"the cache is for 3 decoder blocks, this model has 2; make one with this mode"
    ):
        model.decode([[3], [2]], memory, cache=model_of(rng, num_decoder_layers=3).new_cache())
    cache = model.new_cache()
    model.decode([[3], [2]], memory, cache=cache)
    with pytest.raises(
        ValueError, match=r"the cache holds sentences with leading dimensions \(2,\), got target_ids with"
    ):
        model.decode([3], memory, cache=cache)
    model.source_embedding = np.ones((5, 24))
    with pytest.raises(
        ValueError, match=r"an embedding must have shape \(vocabulary, d_model\) = \(19, 24\), got \(5, 24"
    ):
        model.encode([3])
