"""What cannot be spread over ranks: refused by its name, before anything is computed.

A model is run on each rank's positions alone, and only its attention goes over the group. So whatever else looks across
positions, or counts them, would see those of one rank, and give numbers that look right and are not.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

NAME = "clearhead"  # of the attention, as transformers knows it
CUT = {"input_ids": -1, "inputs_embeds": -2, "position_ids": -1, "token_type_ids": -1}  # the axis of positions

KINDS = ("layer_types", "layers_block_type", "block_types")  # where a config says what each layer is
SPREAD_KINDS = {"full_attention", "sliding_attention", "chunked_attention", "attention", "moe"}
RECURRENT = re.compile(
    r"Mamba\d*(Mixer|Layer)|(Bamba|FalconH1)Mixer|ShortConv|DeltaNet|Rglru|Rwkv|Lightning|LinearAttention|Ngram"
)
POOLING = ("ForSequenceClassification", "ForMultipleChoice", "ForNextSentencePrediction", "DoubleHeadsModel")
BY_TOKENS = "create_position_ids_from_input_ids"  # of models that count the tokens which are no padding


def refuse(model: nn.Module, names: Any, given: dict[str, Any]) -> None:
    """Raise if this model, called with what is given, would not compute what it does in one process.

    names: those of the arguments that the model takes
    """
    _check_attention(model, names)
    _check_layers(model)
    _check_answer(model, given)
    _check_arguments(given)
    _check_positions(model, given)


def _check_attention(model: nn.Module, names: Any) -> None:
    config = getattr(model, "config", None)
    used = getattr(config, "_attn_implementation", NAME)
    if used != NAME:
        raise ValueError(
            f"the model's attention is {used!r}, which knows of no other ranks (model.set_attn_implementation("
            f"{NAME!r}), after import clearhead.hf)"
        )
    if getattr(config, "is_encoder_decoder", False):
        raise NotImplementedError("a model with an encoder and a decoder is not spread, only models of one sequence")
    if "position_ids" not in names:
        raise NotImplementedError(
            f"{type(model).__name__} takes no position_ids, so it cannot be told which are its own"
        )


def _check_layers(model: nn.Module) -> None:
    """Nothing but attention may look across positions."""
    for what in (*_other_kinds(model), *_across(model)):
        raise NotImplementedError(
            f"{type(model).__name__} has {what}, which looks across positions and is no attention, so that on each "
            "rank it would see that rank's own only: run this model in one process"
        )
    for module in model.modules():
        kinds = getattr(module, "rope_type", None)
        for kind in kinds.values() if isinstance(kinds, dict) else [kinds]:
            if isinstance(kind, str) and ("dynamic" in kind or kind == "longrope"):
                raise NotImplementedError(
                    f"{type(model).__name__} has rotary embeddings of rope_type={kind!r}, whose angles depend on how "
                    "long the sequence is, and a rank knows its own positions only: run this model in one process, or "
                    "with a rope_type that is fixed, such as 'yarn' or 'linear', if it was trained so"
                )
        if getattr(module, "token_dropout", None) is True:
            raise NotImplementedError(
                f"{type(model).__name__} scales its embeddings by how many tokens of the whole are masked "
                "(token_dropout), and a rank has its own only: run this model in one process"
            )


def _other_kinds(model: nn.Module) -> Iterator[str]:
    config = getattr(model, "config", None)
    configs = [config, getattr(config, "text_config", None)]
    for each in configs:
        for name in KINDS:
            for kind in getattr(each, name, None) or ():
                if kind not in SPREAD_KINDS:
                    yield f"a layer of kind {kind!r} ({name} of its config)"


def _across(model: nn.Module) -> Iterator[str]:
    """Modules that mix positions: GPT-2's Conv1D is none, being a matrix by another name."""
    for path, module in model.named_modules():
        wide = isinstance(module, nn.Conv1d) and module.kernel_size != (1,)
        if wide or isinstance(module, nn.RNNBase) or RECURRENT.search(type(module).__name__):
            yield f"a {type(module).__name__} ({path})"


def _check_answer(model: nn.Module, given: dict[str, Any]) -> None:
    """What a model gives must have a row for each position, and come from one forward pass."""
    name = type(model).__name__
    if name.endswith(POOLING):
        raise NotImplementedError(
            f"{name} gives one answer for a whole sequence, and each rank would give one for its own positions: spread "
            "model.base_model, parallel.gather its last_hidden_state (dim=-2), and put the head on that"
        )
    if getattr(model, "pooler", None) is not None or getattr(getattr(model, "base_model", 0), "pooler", None):
        raise NotImplementedError(
            f"{name} pools the sequence (pooler), and each rank would pool its own positions: make it with "
            "add_pooling_layer=False or set its pooler to None, and pool what parallel.gather gives"
        )
    for kept in ("logits_to_keep", "num_logits_to_keep"):
        count = given.get(kept)
        if isinstance(count, torch.Tensor) or count:
            raise NotImplementedError(
                f"{kept} counts from the end of the whole, and each rank would keep rows of its own: leave it out, and "
                "take the rows from what parallel.gather gives"
            )
    if torch.is_grad_enabled() and any(x.training and getattr(x, "gradient_checkpointing", 0) for x in model.modules()):
        raise NotImplementedError(
            "gradient checkpointing runs layers once more in the backward pass, when their sequence is no longer "
            "spread: call model.gradient_checkpointing_disable() first"
        )


def _check_arguments(given: dict[str, Any]) -> None:
    if given.get("past_key_values") is not None or given.get("use_cache"):
        raise NotImplementedError(
            "there is no cache over several ranks, so generate and use_cache=True do not work here"
        )
    if given.get("labels") is not None:
        raise NotImplementedError(
            "labels belong to the next position, which may be another rank's: compute the loss from the logits and "
            "parallel.shard(labels_of_the_next, dim=-1)"
        )
    for name, x in given.items():
        if isinstance(x, torch.Tensor) and name not in CUT and name != "attention_mask":
            raise NotImplementedError(f"how {name} is cut is not known; what is cut is {', '.join(CUT)}")


def _check_positions(model: nn.Module, given: dict[str, Any]) -> None:
    """Positions that are counted otherwise than by rows must be given; those of packed sequences are refused."""
    numbers, mask = given.get("position_ids"), given.get("attention_mask")
    if mask is not None and mask.ndim != 2:
        raise NotImplementedError(
            f"attention_mask must be (b, n) here, 1 where a token is no padding, got {mask.ndim}D"
        )
    if numbers is None and any(_counts_tokens(x) for x in model.modules()):
        raise NotImplementedError(
            f"{type(model).__name__} counts positions by the tokens that are no padding: pass position_ids, whole"
        )
    padded = mask is not None and not bool(mask.all())
    if numbers is None and padded and any(_counts_mask(x) for x in model.modules()):
        raise NotImplementedError(
            f"{type(model).__name__} counts positions by the ones of attention_mask, and there is padding: pass "
            "position_ids too, whole: (attention_mask.cumsum(-1) - 1).clamp(min=0)"
        )
    if numbers is not None and mask is None and bool((numbers.diff(dim=-1) != 1).any()):
        raise NotImplementedError(
            "position_ids that begin anew say that sequences are packed, which is not spread; where they are one "
            "sequence, pass an attention_mask of ones too"
        )
    _check_rows(model, given)


def _counts_tokens(module: nn.Module) -> bool:
    """A method of its own, or, in ESM and others, a function beside its class."""
    return hasattr(module, BY_TOKENS) or hasattr(sys.modules.get(type(module).__module__), BY_TOKENS)


def _counts_mask(module: nn.Module) -> bool:
    """A table of positions that is called with the mask, as OPT's is."""
    return isinstance(module, nn.Embedding) and "attention_mask" in module.forward.__code__.co_varnames


def _check_rows(model: nn.Module, given: dict[str, Any]) -> None:
    """Llama 4 scales queries by the number of their row, whatever their position; by 1 up to the first step."""
    ids, embeddings = given.get("input_ids"), given.get("inputs_embeds")
    n = ids.shape[-1] if ids is not None else 0 if embeddings is None else embeddings.shape[-2]
    for module in model.modules():
        if getattr(module, "attn_temperature_tuning", False) and not getattr(module, "use_rope", False):
            step = int(getattr(module, "floor_scale", 1))
            if n >= step:
                raise NotImplementedError(
                    f"{type(module).__name__} scales queries by their row from position {step} on "
                    f"(attn_temperature_tuning), and a rank's rows are not the whole's: pass fewer than {step} "
                    f"positions, got {n}, or run this model in one process"
                )
