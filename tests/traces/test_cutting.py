"""Edges that are cut, against eager attention whose scores or weights are edited at those places."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.hf.models import inputs, made, tokens
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

import clearhead as ch

EDITED = "edited_in_tests"


@pytest.fixture
def edited():
    """A function that runs a model on eager attention, edited: edits (layer, head, queries, keys, before)"""
    edits = []

    def forward(module, query, key, value, attention_mask, scaling, dropout=0.0, **others):
        groups = query.shape[1] // key.shape[1]
        key, value = (x.repeat_interleave(groups, dim=1) for x in (key, value))
        scores = query @ key.mT * scaling
        if attention_mask is not None:
            scores = scores + attention_mask
        own = [edit for edit in edits if edit[0] == module.layer_idx]
        first = key.shape[-2] - query.shape[-2]  # queries are the last positions
        places = [
            (head, np.isin(np.arange(first, key.shape[-2]), queries)[:, None] & np.isin(np.arange(key.shape[-2]), keys))
            for _, head, queries, keys, _ in own
        ]
        for (head, place), edit in zip(places, own, strict=True):
            if edit[-1]:
                scores[:, head] = scores[:, head].masked_fill(torch.from_numpy(place), -torch.inf)
        weights = scores.softmax(-1).nan_to_num(0)
        for (head, place), edit in zip(places, own, strict=True):
            if not edit[-1]:
                weights[:, head] = weights[:, head].masked_fill(torch.from_numpy(place), 0)
        return (weights @ value).transpose(1, 2).contiguous(), weights

    def run(name, call, *wanted):
        edits[:] = wanted
        model = made(name)
        model.set_attn_implementation(EDITED)
        try:
            with torch.no_grad():
                return call(model)
        finally:
            model.set_attn_implementation("eager")

    AttentionInterface.register(EDITED, forward)
    AttentionMaskInterface.register(EDITED, eager_mask)
    yield run
    del AttentionInterface._global_mapping[EDITED], AttentionMaskInterface._global_mapping[EDITED]


def traced(name, call, **options):
    with ch.trace(made(name), **options) as trace, torch.no_grad():
        return call(made(name)), trace


CUTS = {
    "one edge": ((1, 2), (6, 3), [6], [3]),
    "a run of keys": ((0, 1), (slice(4, None), slice(1, 4)), range(4, 11), range(1, 4)),
    "scattered": ((0, 0), ([2, 7, 9], [0, 5, 6]), [2, 7, 9], [0, 5, 6]),
    "everything but itself": ((1, 3), (10, slice(0, 10)), [10], range(10)),
    "all that there is": ((1, 3), (5, None), [5], range(11)),
}


@pytest.mark.parametrize("before", [True, False], ids=["before the softmax", "after"])
@pytest.mark.parametrize("cut", CUTS.values(), ids=list(CUTS))
@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_against_eager_attention(edited, name, cut, before):
    (layer, head), edges, queries, keys = cut
    given = inputs(name, "left")
    real = given["attention_mask"].bool()

    def logits(model):
        return model(**given).logits

    expected = edited(name, logits, (layer, head, list(queries), list(keys), before))
    option = {"cut_scores" if before else "cut_weights": {(layer, head): edges}}
    got, trace = traced(name, logits, **option)
    torch.testing.assert_close(got[real], expected[real], rtol=0, atol=5e-5 * float(expected.abs().max()))
    untouched = edited(name, logits)
    assert (untouched - expected)[real].abs().max() > 1e-3, "the edge does something"
    weights = trace.sequences[0][layer].weights()[head][np.ix_(list(queries), list(keys))]
    assert (weights == 0).all() == before, "a view shows what the softmax gave"


def test_the_views_have_weights_that_sum_to_one_again():
    given = tokens(1)
    _, whole = traced("llama", lambda model: model(given))
    _, before = traced("llama", lambda model: model(given), cut_scores={(0, 1): (9, slice(2, 5))})
    weights = whole[0].weights()[1, 9]
    left = np.where((np.arange(11) >= 2) & (np.arange(11) < 5), 0, weights)
    np.testing.assert_allclose(before[0].weights()[1, 9], left / left.sum(), atol=1e-6)
    np.testing.assert_allclose(before[0].weights()[0], whole[0].weights()[0], atol=1e-6)


def test_a_whole_layer_by_its_path_and_several_pairs(edited):
    given = tokens(1)
    edges = [(slice(5, 8), 2), (9, [0, 1])]
    wanted = [(1, head, *pair, True) for head in range(4) for pair in (([5, 6, 7], [2]), ([9], [0, 1]))]
    expected = edited("llama", lambda model: model(given).logits, *wanted)
    got, _ = traced("llama", lambda model: model(given).logits, cut_scores={"model.layers.1.self_attn": edges})
    torch.testing.assert_close(got, expected, rtol=0, atol=2e-4)


@pytest.mark.parametrize("before", [True, False], ids=["before the softmax", "after"])
def test_generation_goes_on_with_the_edges_cut(edited, before, tmp_path):
    ids = tokens(2)

    def generate(model):
        return model.generate(ids, max_new_tokens=6, min_new_tokens=6, do_sample=False, pad_token_id=0)

    expected = edited("llama", generate, (0, 2, range(8, 40), range(3, 7), before))
    option = {"cut_scores" if before else "cut_weights": {(0, 2): (slice(8, None), slice(3, 7))}}
    got, trace = traced("llama", generate, **option)
    assert torch.equal(got, expected)
    if before:
        sequence = trace.sequences[1]
        assert (sequence[0].weights()[2, 8:, 3:7] == 0).all()
        trace.save(tmp_path / "x.safetensors")
        loaded = ch.load_trace(tmp_path / "x.safetensors").sequences[1]
        np.testing.assert_array_equal(loaded[0].weights(), sequence[0].weights())


def test_gradients_pass(edited):
    """After the softmax, the share that is left has a gradient too."""
    model, ids = made("llama"), tokens(1)
    weight = model.model.layers[0].self_attn.q_proj.weight

    def gradient(forward):
        with torch.enable_grad():
            return torch.autograd.grad(forward().logits[0, -1, 7], weight)[0]

    expected = edited("llama", lambda m: gradient(lambda: m(ids)), (0, 1, [8, 10], [2, 3], False))
    with ch.trace(model, cut_weights={(0, 1): ([8, 10], [2, 3])}):
        got = gradient(lambda: model(ids))
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-4 * float(expected.abs().max()))


@pytest.mark.parametrize("layers", [None, "encoder"], ids=["kept", "not kept"])
@pytest.mark.parametrize("option", ["cut_scores", "cut_weights"])
def test_what_a_decoder_looks_at_while_it_generates(option, layers):
    """A step is the query at its own position, though its keys are the same in all steps."""
    given = inputs("t5")
    target = given.pop("decoder_input_ids")
    name = "decoder.block.0.layer.1.EncDecAttention"
    cut = {option: {(name, 1): ([2, 4], slice(1, 6))}}

    def stepped(model):
        past, found = None, []
        read = model.encoder(given["input_ids"])
        for step in range(target.shape[1]):
            out = model(encoder_outputs=read, decoder_input_ids=target[:, step : step + 1], past_key_values=past)
            past = out.past_key_values
            found.append(out.logits)
        return torch.cat(found, dim=1)

    expected, _ = traced("t5", lambda model: model(**given, decoder_input_ids=target).logits, **cut)
    whole, _ = traced("t5", stepped)
    got, trace = traced("t5", stepped, **cut, layers=layers)
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-5 * float(expected.abs().max()))
    assert (whole - expected)[:, 2].abs().max() > 1e-4 * expected.abs().max(), "the edges do something"
    if layers is None and option == "cut_scores":
        weights = trace.sequences[0][name].weights()[1, :, 1:6]
        assert [bool((row == 0).all()) for row in weights[:5]] == [False, False, True, False, True]


class TestMistakes:
    def fails(self, **options):
        traced("llama", lambda model: model(tokens(1)), **options)

    @pytest.mark.parametrize("option", ["cut_scores", "cut_weights"])
    def test_what_is_not_there(self, option):
        with pytest.raises(ValueError, match="has 4 heads, and there is no head 5 to cut edges of"):
            self.fails(**{option: {(0, 5): (1, 0)}})
        with pytest.raises(
            ValueError, match=f"no layer 7 was called, of which {option} was to cut edges; model.layers"
        ):
            self.fails(**{option: {(7, 0): (1, 0)}})

    def test_how_edges_are_written(self, unchecked):
        with pytest.raises(TypeError, match="cut_scores must be a mapping such as"):
            self.fails(cut_scores=[(1, 2)])
        with pytest.raises(TypeError, match=r"cut_weights names heads as \(layer, head\)"):
            self.fails(cut_weights={(0, -1): (1, 2)})
        with pytest.raises(TypeError, match=r"takes edges as \(queries, keys\), or a list of such pairs"):
            self.fails(cut_scores={(0, 1): 3})
        for wrong in (-1, slice(0, 9, 2), slice(-3, None), [1, -2], 1.5, "all", [True]):
            with pytest.raises(ValueError, match="takes positions counted from 0, as a number, a slice without a step"):
                self.fails(cut_scores={(0, 1): (wrong, 0)})

    @pytest.mark.parametrize("option", ["cut_scores", "cut_weights"])
    def test_edges_that_no_call_has(self, option):
        for edges, told in (
            ((11, 0), "queries 11:12 .* keys 0:1,"),
            ((1, slice(11, None)), "keys 11:,"),
            (([], 0), ""),
        ):
            with pytest.raises(ValueError, match=f"{option} was to cut edges of layer 0 that are not there: .*{told}"):
                self.fails(**{option: {(0, 1): edges}})
