"""Attention under autograd: the kernels as a differentiable function, and stand-ins for torch's own modules.

Usage:

    import clearhead.torch as cht

    cht.attention(q, k, v, mask=masks.causal())     # differentiable, also in bias and sinks
    cht.scaled_dot_product_attention                # torch.nn.functional's, to the letter
    cht.MultiheadAttention                          # torch.nn's: constructor, call and state_dict
    with cht.swapped(model): ...                    # an existing model on these kernels, until the block ends
"""

import importlib
from typing import TYPE_CHECKING

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    from clearhead.advice import install as _install

    raise ModuleNotFoundError(f"clearhead.torch needs PyTorch: {_install('torch')}") from error

from clearhead import names
from clearhead.torch import biases
from clearhead.torch.cache import KeyValueCache
from clearhead.torch.function import attention, explain
from clearhead.torch.layers import DecoderBlock, EncoderBlock, FeedForward, LayerNorm, RMSNorm
from clearhead.torch.merging import merge
from clearhead.torch.multi_head import MultiheadAttention
from clearhead.torch.rope import rope
from clearhead.torch.sdpa import scaled_dot_product_attention
from clearhead.torch.self_attention import CrossAttention, SelfAttention
from clearhead.torch.swap import swapped
from clearhead.torch.transformer import Transformer

__all__ = [
    "CrossAttention",
    "DecoderBlock",
    "EncoderBlock",
    "FeedForward",
    "KeyValueCache",
    "LayerNorm",
    "MultiheadAttention",
    "RMSNorm",
    "SelfAttention",
    "Transformer",
    "attention",
    "biases",
    "explain",
    "merge",
    "rope",
    "scaled_dot_product_attention",
    "swapped",
]


if not TYPE_CHECKING:  # a type checker would take it that every name is there

    def __getattr__(name):
        if name == "parallel":  # a room of its own further down, which nobody else waits for
            return importlib.import_module("clearhead.torch.parallel")
        raise names.no_such_name(__name__, name, __all__)
