"""Small models of transformers with random weights: one for each way of calling the interface that is known."""

from __future__ import annotations

import functools
from typing import Any

import torch
import transformers as t

from .recipes import small_config

SIZES: dict[str, Any] = {
    "vocab_size": 97, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 24,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
GROUPED = {**SIZES, "num_key_value_heads": 2}
LATENT = {
    **SIZES, "q_lora_rank": 16, "kv_lora_rank": 12, "qk_rope_head_dim": 4, "qk_nope_head_dim": 8, "v_head_dim": 6,
    "num_key_value_heads": 4, "n_group": 1, "topk_group": 1, "n_routed_experts": 4, "num_experts_per_tok": 2,
    "moe_intermediate_size": 16, "first_k_dense_replace": 1,
}  # fmt: skip
MIXED = {**GROUPED, "layer_types": ["sliding_attention", "full_attention"], "head_dim": 8, "sliding_window": 4}
EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
CHUNKED = {**GROUPED, **EXPERTS, "head_dim": 8, "attention_chunk_size": 4, "intermediate_size_mlp": 24}
LOCAL = {**SIZES, "global_attn_every_n_layers": 2, "local_attention": 6, "cls_token_id": 3, "sep_token_id": 4}
ENDLESS = {"eos_token_id": None, "forced_eos_token_id": None, "pad_token_id": 0}
NARROW = {"vocab_size": 97, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, **ENDLESS}
GPT2 = {"vocab_size": 97, "n_embd": 32, "n_layer": 2, "n_head": 4, "eos_token_id": 2}
T5 = {"vocab_size": 97, "d_model": 32, "d_kv": 8, "d_ff": 24, "num_layers": 2, "num_heads": 4, **ENDLESS}
IMAGE = {
    "image_size": 12, "patch_size": 4, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 24,
}  # fmt: skip
TWO_STACKS: dict[str, Any] = {
    "vocab_size": 97, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "bos_token_id": 1,
    "decoder_start_token_id": 1, **ENDLESS,
}  # fmt: skip
SPEECH = {
    **TWO_STACKS, "eos_token_id": 95, "suppress_tokens": None, "begin_suppress_tokens": None, "num_mel_bins": 8,
    "max_source_positions": 13, "max_target_positions": 40,
}  # fmt: skip

DECODERS = {
    "llama": lambda: (t.LlamaForCausalLM, t.LlamaConfig(**GROUPED)),
    "gpt2": lambda: (t.GPT2LMHeadModel, t.GPT2Config(**GPT2)),
    "gemma2": lambda: (t.Gemma2ForCausalLM, t.Gemma2Config(**MIXED)),
    "gemma3": lambda: (t.Gemma3ForCausalLM, t.Gemma3TextConfig(**MIXED)),
    "gpt_oss": lambda: (t.GptOssForCausalLM, t.GptOssConfig(**MIXED, **EXPERTS)),
    "mistral": lambda: (t.MistralForCausalLM, t.MistralConfig(**GROUPED, sliding_window=5)),
    "qwen2": lambda: (t.Qwen2ForCausalLM, t.Qwen2Config(**GROUPED)),
    "deepseek_v3": lambda: (t.DeepseekV3ForCausalLM, t.DeepseekV3Config(**LATENT)),
    "deepseek_v4": lambda: (t.DeepseekV4ForCausalLM, small_config(t.DeepseekV4Config)),
    "llama4": lambda: (t.Llama4ForCausalLM, t.Llama4TextConfig(**CHUNKED)),
    "opt": lambda: (t.OPTForCausalLM, t.OPTConfig(**NARROW, ffn_dim=24, word_embed_proj_dim=32)),
}
ENCODERS = {
    "bert": lambda: (t.BertModel, t.BertConfig(**SIZES)),
    "modernbert": lambda: (t.ModernBertModel, t.ModernBertConfig(**LOCAL)),
    "clip_text": lambda: (t.CLIPTextModel, t.CLIPTextConfig(**{**SIZES, "eos_token_id": 96})),
}
BOTH = {
    "t5": lambda: (t.T5ForConditionalGeneration, t.T5Config(**T5, decoder_start_token_id=0)),
    "bart": lambda: (t.BartForConditionalGeneration, t.BartConfig(**TWO_STACKS)),
}
SEEING = {
    "vit": lambda: (t.ViTModel, t.ViTConfig(**IMAGE)),
    "siglip": lambda: (t.SiglipVisionModel, t.SiglipVisionConfig(**IMAGE)),
    "whisper": lambda: (t.WhisperForConditionalGeneration, t.WhisperConfig(**SPEECH)),
}
ALL = {**DECODERS, **ENCODERS, **BOTH, **SEEING}


@functools.cache
def made(name: str) -> t.PreTrainedModel:
    """A model with eager attention, the same for every test: none may leave a trace in it."""
    kind, config = ALL[name]()
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    model = kind(config).eval()
    with torch.no_grad():
        factor = 1 if name == "t5" else 4  # weights as drawn are so small that attention is all but even, but for T5's
        for parameter in model.parameters():
            parameter.copy_(parameter * factor if parameter.ndim > 1 else parameter + 0.2 * torch.randn_like(parameter))
    return model


def tokens(b: int = 3, n: int = 11, seed: int = 3) -> torch.Tensor:
    return torch.randint(5, 90, (b, n), generator=torch.Generator().manual_seed(seed))


def padded(ids: torch.Tensor, side: str) -> torch.Tensor:
    """Which tokens are real: all of the first sequence, fewer of each of the others."""
    b, n = ids.shape
    lengths = n - 3 * torch.arange(b)[:, None]
    real = torch.arange(n) < lengths
    return (real if side == "right" else real.flip(-1)).long()


def inputs(name: str, side: str | None = None) -> dict[str, torch.Tensor]:
    """What a model is called with; with padding on one side if it takes tokens."""
    generator = torch.Generator().manual_seed(4)
    if name in ("vit", "siglip"):
        return {"pixel_values": torch.randn(2, 3, 12, 12, generator=generator)}
    if name == "whisper":
        return {"input_features": torch.randn(2, 8, 26, generator=generator), "decoder_input_ids": tokens(2, 7)}
    given = {"input_ids": tokens()}
    if side:
        given["attention_mask"] = padded(given["input_ids"], side)
    if name in BOTH:
        given["decoder_input_ids"] = tokens(3, 7, seed=8)
    return given
