"""The ways in which models generate, and models with several towers: each seen as its own eager attention sees it."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
import transformers as t
from tests.hf.models import GROUPED, IMAGE, inputs, made, tokens
from tests.text.test_labels import word_piece

import clearhead as ch
from clearhead.text.labels import token_labels
from clearhead.text.spans import token_spans
from clearhead.text.words import word_groups

OPTIONS = {"max_new_tokens": 5, "pad_token_id": 0, "eos_token_id": None}


def eager(model, **given):
    with torch.no_grad():
        return model(**given, output_attentions=True)


def the_same(views, attentions, entry=0):
    for view, weights in zip(views, attentions, strict=True):
        np.testing.assert_allclose(view.weights(), weights[entry].numpy(), atol=2e-6)


@pytest.fixture(scope="module")
def other():
    """A model that guesses otherwise."""
    torch.manual_seed(5)
    return t.LlamaForCausalLM(t.LlamaConfig(**GROUPED)).eval()


@pytest.mark.parametrize(
    "way",
    [
        {"do_sample": True, "num_return_sequences": 2},
        {"prefill_chunk_size": 4},
        {"prompt_lookup_num_tokens": 3},
        {"assistant_model": "other"},
        {"cache_implementation": "static", "num_return_sequences": 2, "do_sample": True},
    ],
    ids=lambda way: " ".join(way),
)
def test_every_way_is_one_view_of_each_sequence(way, other):
    model, ids = made("llama"), tokens(1 if way.keys() & {"prompt_lookup_num_tokens", "assistant_model"} else 2)
    given = {name: other if x == "other" else x for name, x in way.items()}
    torch.manual_seed(1)
    with ch.trace(model) as trace:
        written = model.generate(ids, **{"do_sample": False, **OPTIONS, **given})
    assert len(trace.calls) == 1
    assert len(trace.sequences) == len(written)
    expected = eager(model, input_ids=written[:, :-1]).attentions
    for entry, sequence in enumerate(trace.sequences):
        np.testing.assert_array_equal(sequence.ids(), written[entry, :-1])
        the_same(sequence, expected, entry)


@pytest.mark.parametrize("name", ["t5", "bart"])
def test_an_encoder_and_a_decoder_that_generates(name):
    model, given = made(name), inputs(name, "right")
    given.pop("decoder_input_ids")
    with ch.trace(model) as trace:
        written = model.generate(**given, max_new_tokens=4, do_sample=False)
    expected = eager(model, **given, decoder_input_ids=written[:, :-1])
    one = trace.sequences[1]
    n = int(given["attention_mask"][1].sum())
    the_same(one.decoder, expected.decoder_attentions, 1)
    the_same(one.cross, [x[..., :n] for x in expected.cross_attentions], 1)
    the_same(one.encoder, [x[..., :n, :n] for x in expected.encoder_attentions], 1)
    np.testing.assert_array_equal(one.ids(), written[1, :-1])


def test_a_generation_that_goes_on_after_somebody_looked():
    """Its later tokens have their labels too."""
    model, tokenizer, ids = made("llama"), word_piece(), tokens(1)
    with ch.trace(model) as trace, torch.no_grad():
        past = model(ids[:, :7], use_cache=True).past_key_values
        trace.label(tokenizer)
        assert len(trace[0].tokens.keys) == 7
        past = model(ids[:, 7:9], past_key_values=past).past_key_values
        assert len(trace[1].tokens.keys) == 9
        model(ids[:, 9:], past_key_values=past)
    assert trace[0].tokens.keys == token_labels(ids, tokenizer)
    np.testing.assert_array_equal(trace.words.numbers, word_groups(*token_spans(ids, tokenizer)[:2]))


def test_whisper_leaves_its_first_token_out_of_what_it_returns():
    """Its own generate does, so that there is one position more than where others return what they read."""
    model, given = made("whisper"), inputs("whisper")["input_features"]
    with ch.trace(model) as trace:
        written = model.generate(given, max_new_tokens=4, do_sample=False)
    first = torch.full((len(given), 1), model.config.decoder_start_token_id)
    read = torch.cat([first, written[:, :-1]], dim=1)
    expected = eager(model, input_features=given, decoder_input_ids=read)
    assert len(trace.calls) == 1
    for entry, one in enumerate(trace.sequences):
        np.testing.assert_array_equal(one.ids(), read[entry])
        the_same(one.encoder, expected.encoder_attentions, entry)
        the_same(one.decoder, expected.decoder_attentions, entry)
        the_same(one.cross, expected.cross_attentions, entry)


def test_each_segment_of_a_long_recording_is_a_forward():
    """As Whisper reads them, one after the other, each from its first token on."""
    model = made("whisper")
    settings = copy.deepcopy(model.generation_config)
    settings.no_timestamps_token_id = 90
    given = torch.randn(1, 8, 60, generator=torch.Generator().manual_seed(3))  # it reads 26 at a time
    options = {"attention_mask": torch.ones(1, 60), "generation_config": settings, "return_timestamps": True}
    with ch.trace(model) as trace:
        written = model.generate(given, max_new_tokens=4, do_sample=False, **options)
    assert [len(call.ids()) for call in trace.calls] == [4, 4, 4]
    for number, call in enumerate(trace.calls):
        assert call.ids().tolist() == [1, *written[0, 4 * number : 4 * number + 3].tolist()]
        assert call.encoder[0].n_q == call.cross[0].n_k == 13


@pytest.fixture(scope="module")
def seeing():
    """A model that reads an image in 9 patches among its tokens."""
    torch.manual_seed(0)
    text = t.LlamaConfig(**GROUPED)
    vision = t.CLIPVisionConfig(**IMAGE, projection_dim=32)
    config = t.LlavaConfig(vision_config=vision, text_config=text, image_token_index=96, vision_feature_layer=-1)
    config._attn_implementation = "eager"
    return t.LlavaForConditionalGeneration(config).eval()


def test_an_image_and_a_text_are_two_stacks(seeing):
    ids = torch.cat([tokens(1, 3), torch.full((1, 9), 96), tokens(1, 4, seed=9)], dim=1)
    image = torch.randn(1, 3, 12, 12, generator=torch.Generator().manual_seed(2))
    with ch.trace(seeing) as trace:
        written = seeing.generate(input_ids=ids, pixel_values=image, do_sample=False, **OPTIONS)
    assert len(trace.calls) == 1
    seen, read = trace.stacks
    assert "vision" in seen
    assert "language" in read
    with pytest.raises(KeyError, match="there are 2 stacks"):
        trace[0]
    vision = seeing.model.vision_tower
    the_same([trace[name] for name in trace.stacks[seen].values()], eager(vision, pixel_values=image).attentions)
    expected = eager(seeing, input_ids=written[:, :-1], pixel_values=image).attentions
    the_same([trace[name] for name in trace.stacks[read].values()], expected)
    np.testing.assert_array_equal(trace.ids(), written[0, :-1])
    name = next(iter(trace.stacks[seen].values()))
    assert trace.labels(name) == (None, None)  # patches have no tokens


@pytest.mark.parametrize("name", ["llama", "t5"])
def test_beams_are_refused_by_name(name):
    model, given = made(name), inputs(name)
    given.pop("decoder_input_ids", None)
    with pytest.raises(NotImplementedError, match="as in beam search"), ch.trace(model):
        model.generate(**given, num_beams=3, do_sample=False, **OPTIONS)
