"""A trace as a page: its stacks, its steps, its image, and traces side by side."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers as t
from tests.hf.models import inputs, made, tokens
from tests.page.test_writing import header

import clearhead as ch
from clearhead.traces.effects import Effects


def test_encoder_decoder_and_cross_on_one_page(tmp_path):
    with ch.trace(made("bart")) as trace, torch.no_grad():
        made("bart")(**inputs("bart"))
    found = header(trace.sequences[0].to_html(tmp_path / "p.html", language="ko"))
    assert [(x["name"], x["stack"]) for x in found["layers"]] == [
        ("인코더 0", "encoder"), ("인코더 1", "encoder"), ("디코더 0", "decoder"), ("디코더 1", "decoder"),
        ("크로스 0", "cross"), ("크로스 1", "cross"),
    ]  # fmt: skip
    assert [(x["n_q"], x["n_k"]) for x in found["layers"][::2]] == [(11, 11), (7, 7), (7, 11)]
    assert [x["tokens"] for x in found["layers"][::2]] == [[0, 0], [1, 1], [1, 0]]
    assert found["title"] == "BartForConditionalGeneration"
    with pytest.raises(ValueError, match="there were 3 sequences in the batch"):
        trace.to_html(tmp_path / "p.html")


def test_steps_of_a_generation_know_their_prompt_also_from_a_file(tmp_path):
    options = {"max_new_tokens": 5, "min_new_tokens": 5, "do_sample": False, "pad_token_id": 0}
    with ch.trace(made("gpt2")) as trace, torch.no_grad():
        made("gpt2").generate(tokens(1, 11), **options)
    trace.save(tmp_path / "x.safetensors")
    for one in (trace, ch.load_trace(tmp_path / "x.safetensors")):
        found = header(one.to_html(tmp_path / "p.html"))
        assert {(x["name"][:5], x["stack"], x["prompt"], x["n_q"]) for x in found["layers"]} == {("layer", "", 11, 15)}
    with ch.trace(made("bart")) as trace, torch.no_grad():
        made("bart").generate(tokens(1, 11), **options)
    found = header(trace.to_html(tmp_path / "p.html"))
    assert {x["stack"]: x["prompt"] for x in found["layers"]} == {"encoder": None, "decoder": 1, "cross": 0}


def test_an_image_is_shown_with_its_patches_also_from_a_file(tmp_path, rng):
    config = t.ViTConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=8, image_size=12, patch_size=4
    )
    torch.manual_seed(0)
    model = t.ViTModel(config).eval()
    pixels = torch.tensor(rng.standard_normal((1, 3, 12, 12)), dtype=torch.float32)
    with ch.trace(model) as trace, torch.no_grad():
        model(pixel_values=pixels)
    trace.save(tmp_path / "x.safetensors")
    for one in (trace, ch.load_trace(tmp_path / "x.safetensors")):
        found = header(one.to_html(tmp_path / "p.html"))
        assert found["images"] == [{"rows": 3, "columns": 3, "special": 1}]
        assert [x["image"] for x in found["layers"]] == [0, 0]
        assert found["chunks"]["image.0"] == [["pixels", "u1", [12, 12, 3]]]


def test_traces_side_by_side_with_what_heads_do_to_a_number(tmp_path):
    with ch.trace(made("llama")) as trace, torch.no_grad():
        made("llama")(tokens(1, 9))
    with ch.trace(made("llama"), ablate={(1, 0): "zero"}) as without, torch.no_grad():
        made("llama")(tokens(1, 9))
    effects = Effects(dict(zip(trace.names, np.arange(8.0).reshape(2, 4), strict=True)), "Δ (zero)", 1.0, "zero")
    found = header(trace.to_html(tmp_path / "p.html", beside={"without 1.0": without}, effects=effects))
    assert found["traces"] == ["LlamaForCausalLM", "without 1.0"]
    assert [x["trace"] for x in found["layers"]] == [0, 0, 1, 1]
    assert [x["statistics"]["effect"] for x in found["layers"][1]["heads"]] == [4, 5, 6, 7]
    assert "effect" not in found["layers"][2]["heads"][0]["statistics"]


def test_a_textbook_model_that_writes_step_by_step(tmp_path):
    from clearhead.translate.translator import Translator

    translator = Translator.load()
    with ch.trace(translator) as trace:
        translator.translate(["고양이가 쥐를 잡았다"])
    found = header(trace.calls[0].to_html(tmp_path / "p.html", megabytes=1))
    assert {x["stack"]: x["prompt"] for x in found["layers"]} == {"encoder": None, "decoder": 1, "cross": 0}
    assert (tmp_path / "p.html").stat().st_size < 1e6
