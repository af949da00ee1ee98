"""Small configurations of every architecture: the defaults of its class, with sizes cut down by their names.

What the names alone do not tell, numbers that have to fit each other and values that have no default, is in EXTRAS by
the type of the model.
"""

from __future__ import annotations

from typing import Any

from transformers import PreTrainedConfig, ResNetConfig

# Sizes, by the names that configurations have for them. Those that are smaller already stay as they are.
SIZES = {
    ("hidden_size", "d_model", "n_embd", "embed_dim", "dim", "embedding_size", "hidden_dim", "projection_dim"): 32,
    ("encoder_hidden_size", "decoder_hidden_size", "cross_attention_hidden_size", "qk_nope_head_dim"): 32,
    ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers", "depth"): 2,
    ("num_decoder_layers", "num_encoder_layers", "encoder_num_hidden_layers", "decoder_num_hidden_layers"): 2,
    ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads", "decoder_attention_heads"): 4,
    ("num_key_value_heads", "num_kv_heads", "n_kv_heads"): 2,
    ("intermediate_size", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "d_ff", "dim_feedforward"): 48,
    ("moe_intermediate_size", "shared_expert_intermediate_size", "encoder_intermediate_size"): 24,
    ("head_dim", "d_kv", "attention_head_size", "kv_channels", "v_head_dim"): 8,
    ("q_lora_rank", "kv_lora_rank"): 16,
    ("qk_rope_head_dim",): 4,
    ("vocab_size", "decoder_vocab_size", "encoder_vocab_size", "text_vocab_size"): 99,
    ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"): 4,
    ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k"): 2,
    ("n_group", "topk_group", "num_expert_group"): 1,
    ("max_position_embeddings", "n_positions", "max_sequence_length"): 128,
    ("image_size", "img_size"): 32,
    ("patch_size",): 8,
    ("sliding_window", "attention_chunk_size"): 5,
    ("index_topk",): 4,
    ("num_mel_bins",): 16,
    ("max_source_positions",): 24,
    ("num_queries", "num_query_tokens"): 6,
}  # fmt: skip
SMALL = {name: size for names, size in SIZES.items() for name in names}
WIDTHS = ("hidden_size", "embed_dim", "hidden_dim")  # that a list of heads has to divide


def small_config(kind: type[PreTrainedConfig], *, fill: bool = False) -> PreTrainedConfig:
    """A configuration of some class, and those inside it, with sizes cut by their names.

    fill: sizes that have no default, which some classes leave to whoever makes one, are given too.
    """
    default = kind()
    given = _cut(default, fill=fill)
    given |= EXTRAS.get(getattr(kind, "model_type", ""), {})
    while True:
        try:
            return kind(**given)
        except TypeError as error:  # some sizes are worked out from others, and are not to be given
            wrong = [name for name in given if repr(name) in str(error)]
            if not wrong:
                raise
            del given[wrong[0]]


def _cut(default: PreTrainedConfig, *, fill: bool) -> dict[str, Any]:
    """The sizes of a configuration that are to be others."""
    given: dict[str, Any] = {}
    values = vars(default)
    for name, value in values.items():
        if isinstance(value, PreTrainedConfig):
            given[name] = small_config(type(value), fill=fill)
        elif (type(value) is int and value > SMALL.get(name, value)) or (fill and value is None and name in SMALL):
            given[name] = SMALL[name]
        elif type(value) is int and name.endswith("token_id") and value >= SMALL["vocab_size"]:
            given[name] = SMALL["vocab_size"] - 2
        elif name == "layer_types" and isinstance(value, list):  # one of each kind, if they cannot be left to the class
            given[name] = list(dict.fromkeys(value))
    if "layer_types" in given:
        given["num_hidden_layers"] = len(given["layer_types"])
    if "kv_lora_rank" in values and "num_key_value_heads" in given:
        given["num_key_value_heads"] = SMALL["num_attention_heads"]  # keys are made of one vector, for every head
    if "qk_rope_head_dim" in values:
        given.pop("head_dim", None)  # the class takes it from there
    if any(isinstance(values.get(name), (list, tuple)) for name in ("num_heads", "num_attention_heads", "heads")):
        given = {name: size for name, size in given.items() if name not in WIDTHS}
    rope = values.get("rope_parameters")
    if isinstance(rope, dict) and "mrope_section" in rope:
        given["rope_parameters"] = {**rope, "mrope_section": _sections(given, values, rope)}
    return given


def _sections(given: dict[str, Any], values: dict[str, Any], rope: dict[str, Any]) -> list[int]:
    """How many of the rotated pairs of columns belong to time, height and width: as many as there are."""
    heads = given.get("num_attention_heads", values.get("num_attention_heads"))
    width = given.get("head_dim", values.get("head_dim")) or given.get("hidden_size", values["hidden_size"]) // heads
    pairs = int(width * rope.get("partial_rotary_factor", 1.0)) // 2
    return [pairs - 2 * (pairs // 3), pairs // 3, pairs // 3]


def _alike(names: str, **sizes: Any) -> dict[str, dict[str, Any]]:
    """The same for several types of models."""
    return dict.fromkeys(names.split(), sizes)


THREE_AXES = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]}
SERIES = {"prediction_length": 4, "context_length": 8, "lags_sequence": [1, 2, 3], "num_time_features": 1}
ONE_GROUP = {
    "n_group": 1,
    "topk_group": 1,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 24,
    "n_shared_experts": 1,
}
MAMBA = {"mamba_n_heads": 4, "mamba_d_head": 16}
IMAGES = ResNetConfig(
    embedding_size=8, hidden_sizes=[8, 8, 16, 16], depths=[1] * 4, out_features=["stage1", "stage2", "stage3", "stage4"]
)
WITHOUT_TIMM = {"use_timm_backbone": False, "use_pretrained_backbone": False, "backbone_config": IMAGES}

EXTRAS: dict[str, dict[str, Any]] = {
    **_alike("qwen2_vl_text qwen2_5_vl_text glm4v_text glm_image_text", rope_parameters=THREE_AXES),
    **_alike("glm_ocr_text paddleocr_vl_text glmga_text", rope_parameters=THREE_AXES),
    "glm4v_moe_text": {
        "rope_parameters": {**THREE_AXES, "mrope_section": [1, 1, 0], "partial_rotary_factor": 0.5}
    },
    **_alike("autoformer informer time_series_transformer", **SERIES),
    **_alike("dots1 deepseek_v2 deepseek_v3 axk1", **ONE_GROUP),
    "bamba": {**MAMBA, "attn_layer_indices": [1]},
    "granitemoehybrid": {**MAMBA, "layer_types": ["mamba", "attention"], "num_hidden_layers": 2},
    **_alike("detr conditional_detr dab-detr deformable_detr table-transformer", **WITHOUT_TIMM),
    "chameleon": {"vocabulary_map": {"<image>": 4, "IMGIMGBS": 5}},
    "cohere_compass_text": {"layer_types": ["full_attention"], "num_hidden_layers": 1, "rope_parameters": {
        "full_attention": {"rope_type": "default", "rope_theta": 1e4}}},
    "emu3": {"vocabulary_map": {"<image>": 4, "<|extra_200|>": 5}},
    "dia_decoder": {"cross_hidden_size": 32, "cross_num_attention_heads": 4, "cross_num_key_value_heads": 4,
                    "cross_head_dim": 8},
    "esm": {"vocab_size": 99, "pad_token_id": 1, "mask_token_id": 32},
    "esmc": {"num_key_value_heads": 4, "vocab_size": 99},
    "gemma3n_text": {"layer_types": ["sliding_attention", "full_attention"], "num_hidden_layers": 2,
                     "num_kv_shared_layers": 0, "activation_sparsity_pattern": [0.0, 0.0]},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]], "window_size": 5},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1, "use_mamba_kernels": False},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"], "num_hidden_layers": 2, "num_dense_layers": 1},
    "longcat_flash": {"head_dim": 4},
    "mamba2": {"num_heads": 8, "head_dim": 8},
    "mimi": {"upsample_groups": 32, "num_filters": 4},
    # A norm over a group of one number is nothing but rounding errors.
    **_alike("grounding-dino mm-grounding-dino", d_model=64),
    **_alike("sam_vision_model sam_hq_vision_model", output_channels=32, num_pos_feats=16),
    "sam2_hiera_det_model": {"hidden_size": 96, "image_size": [256, 256]},
    "swin": {"image_size": 224, "patch_size": 4},
    "xmod": {"default_language": "en_XX"},
    "zamba": {"num_hidden_layers": 3, "mamba_expand": 2, "n_mamba_heads": 2, "use_mamba_kernels": False},
    "zamba2": {"num_hidden_layers": 2, "layers_block_type": ["mamba", "hybrid"], "hybrid_layer_ids": [1],
               "num_mem_blocks": 1, "mamba_ngroups": 1, "n_mamba_heads": 4},
}  # fmt: skip
