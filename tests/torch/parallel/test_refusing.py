"""What cannot be spread is refused by its name, and what can be is not."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch
import transformers as t
from tests.hf.models import CHUNKED, GROUPED, LATENT, MIXED, SIZES, made
from tests.torch.parallel import spread_models

from clearhead.torch.parallel.refusing import refuse

SHORT = {"rope_theta": 1e4, "rope_type": "dynamic", "factor": 2.0}
LONG = {
    "rope_theta": 1e4, "rope_type": "longrope", "short_factor": [1.0] * 4, "long_factor": [2.0] * 4,
    "original_max_position_embeddings": 16,
}  # fmt: skip
FIXED = {"rope_theta": 1e4, "rope_type": "default"}
BY_LAYER = {"sliding_attention": FIXED, "full_attention": SHORT}
RECURRENT = {"layer_types": ["linear_attention", "full_attention"], "head_dim": 8}
JAMBA = {"attn_layer_period": 2, "attn_layer_offset": 1, "mamba_d_state": 4, "use_mamba_kernels": False}

MODELS: dict[str, Any] = {
    "dynamic": (lambda: t.LlamaForCausalLM(t.LlamaConfig(**GROUPED, rope_parameters=SHORT)), "rope_type='dynamic'"),
    "longrope": (lambda: t.Phi3ForCausalLM(t.Phi3Config(**GROUPED, rope_parameters=LONG)), "rope_type='longrope'"),
    "dynamic in some layers": (
        lambda: t.Gemma3ForCausalLM(t.Gemma3TextConfig(**MIXED, rope_parameters=BY_LAYER)),
        "rope_type='dynamic'",
    ),
    "convolutions": (
        lambda: t.Lfm2ForCausalLM(t.Lfm2Config(**GROUPED, layer_types=["conv", "full_attention"])),
        "Lfm2ForCausalLM has a layer of kind 'conv'",
    ),
    "Mamba": (lambda: t.JambaForCausalLM(t.JambaConfig(**GROUPED, **JAMBA)), "JambaForCausalLM has a"),
    "linear attention": (
        lambda: t.Qwen3NextForCausalLM(t.Qwen3NextConfig(**GROUPED, **RECURRENT)),
        "a layer of kind 'linear_attention'",
    ),
    "compressed keys": (lambda: made("deepseek_v4"), "a layer of kind '.*compressed"),
    "token_dropout": (
        lambda: t.EsmModel(t.EsmConfig(**SIZES, mask_token_id=3, token_dropout=True, emb_layer_norm_before=False)),
        "token_dropout",
    ),
    "positions by tokens": (lambda: t.RobertaForMaskedLM(t.RobertaConfig(**SIZES)), "pass position_ids, whole"),
    "positions by a function": (
        lambda: t.EsmForMaskedLM(t.EsmConfig(**SIZES, mask_token_id=3, token_dropout=False)),
        "counts positions by the tokens that are no padding",
    ),
    "queries scaled by row": (
        lambda: t.Llama4ForCausalLM(t.Llama4TextConfig(**CHUNKED, no_rope_layers=[1, 0], floor_scale=23)),
        "scales queries by their row from position 23 on",
    ),
}


def ask(model: Any, **given: Any) -> None:
    model.config._attn_implementation = "clearhead"
    try:
        refuse(model, inspect.signature(model.forward).parameters, given)
    finally:
        model.config._attn_implementation = "eager"


@pytest.mark.parametrize("what", MODELS)
def test_models_in_which_more_than_attention_looks_across_positions(what: str):
    make, words = MODELS[what]
    with pytest.raises(NotImplementedError, match=words):
        ask(make(), **spread_models.inputs("none"))


@pytest.mark.parametrize("mixing", [torch.nn.Conv1d(4, 4, 3), torch.nn.LSTM(4, 4)])
def test_a_layer_that_no_config_speaks_of(mixing: torch.nn.Module):
    model = t.LlamaForCausalLM(t.LlamaConfig(**GROUPED))
    model.model.layers[1].mixing = mixing
    words = rf"LlamaForCausalLM has a {type(mixing).__name__} \(model.layers.1.mixing\), which looks across positions"
    with pytest.raises(NotImplementedError, match=words):
        ask(model, **spread_models.inputs("none"))
    model.model.layers[1].mixing = torch.nn.Conv1d(4, 4, 1)  # of one position at a time
    ask(model, **spread_models.inputs("none"))


def test_padding_where_the_mask_is_counted():
    given = spread_models.inputs("left")
    with pytest.raises(NotImplementedError, match=r"OPTForCausalLM counts positions by the ones of attention_mask"):
        ask(made("opt"), **given)
    ask(made("opt"), **given, position_ids=(given["attention_mask"].cumsum(-1) - 1).clamp(min=0))
    ask(made("opt"), **spread_models.inputs("none"))
    ask(made("opt"), **spread_models.inputs("none"), attention_mask=torch.ones(2, spread_models.N))


@pytest.mark.parametrize("name", ["llama", "gpt2", "gemma2", "gemma3", "gpt_oss", "mistral", "qwen2", "llama4"])
def test_models_that_are_spread_are_not_refused(name: str):
    ask(made(name), **spread_models.inputs("left"))


def test_deepseek_and_rope_of_a_fixed_kind_are_not_refused():
    ask(t.DeepseekV3ForCausalLM(t.DeepseekV3Config(**LATENT)), **spread_models.inputs("none"))
    yarn = {"rope_theta": 1e4, "rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 16}
    ask(t.LlamaForCausalLM(t.LlamaConfig(**GROUPED, rope_parameters=yarn)), **spread_models.inputs("none"))


def test_models_that_give_one_answer_for_a_sequence():
    given = spread_models.inputs("none")
    with pytest.raises(NotImplementedError, match="LlamaForSequenceClassification gives one answer for a whole"):
        ask(t.LlamaForSequenceClassification(t.LlamaConfig(**GROUPED)), **given)
    for model in (made("bert"), t.BertForPreTraining(t.BertConfig(**SIZES))):
        with pytest.raises(NotImplementedError, match=rf"{type(model).__name__} pools the sequence \(pooler\)"):
            ask(model, **given)
    ask(spread_models.model_of("bert"), **given)
    ask(t.BertForTokenClassification(t.BertConfig(**SIZES)), **given)


@pytest.mark.parametrize("kept", [1, torch.tensor([3, 4])])
def test_logits_that_are_kept_by_their_place_in_the_whole(kept: Any):
    with pytest.raises(NotImplementedError, match="logits_to_keep counts from the end of the whole"):
        ask(made("llama"), **spread_models.inputs("none"), logits_to_keep=kept)
    ask(made("llama"), **spread_models.inputs("none"), logits_to_keep=0)


def test_gradient_checkpointing_where_it_would_run():
    model = t.LlamaForCausalLM(t.LlamaConfig(**GROUPED))
    model.gradient_checkpointing_enable()
    ask(model.eval(), **spread_models.inputs("none"))
    with torch.no_grad():
        ask(model.train(), **spread_models.inputs("none"))
    with pytest.raises(NotImplementedError, match=r"call model.gradient_checkpointing_disable\(\) first"):
        ask(model, **spread_models.inputs("none"))
    model.gradient_checkpointing_disable()
    ask(model, **spread_models.inputs("none"))
