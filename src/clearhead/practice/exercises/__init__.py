"""The exercises, in the order of the notes: one file each, loaded when it is asked for."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys

from clearhead.practice.exercise import Exercise

NAMES = (
    "softmax",
    "weights_by_hand",
    "scaled_dot_product_attention",
    "self_attention",
    "shapes",
    "split_heads",
    "merge_heads",
    "multi_head_attention",
    "grouped_heads",
    "costs",
    "positional_encoding",
    "position_matters",
    "rope",
    "alibi",
    "relative_bias",
    "causal_mask",
    "padding_mask",
    "masked_attention",
    "window_mask",
    "cross_attention",
    "layer_norm",
    "encoder_block",
    "decoder_step",
    "greedy_decoding",
    "read_alignment",
    "attention_in_torch",
    "train_a_copier",
    "memory_efficient_attention",
    "online_softmax",
    "flash_attention",
    "linear_attention",
    "name_the_head",
    "find_the_bug",
)


def load(name: str) -> Exercise:
    """The exercise of a name of NAMES.

    Raises:
        ModuleNotFoundError: something that a learner's file imports is not installed; it is not imported to find out.
    """
    module = importlib.import_module(f"clearhead.practice.exercises.{name}")
    exercise: Exercise = module.EXERCISE
    for needed in re.findall(r"^(?:import|from) (\w+)", exercise.imports, re.MULTILINE):
        if needed not in sys.modules and importlib.util.find_spec(needed) is None:
            raise ModuleNotFoundError(f"No module named {needed!r}, which the exercise {name} needs", name=needed)
    return exercise
