"""Attention under autograd: the kernels as a differentiable function, and stand-ins for torch's own modules.

import clearhead.torch as cht
cht.attention(q, k, v, mask=masks.causal())     # differentiable, also in bias and sinks
cht.scaled_dot_product_attention                # torch.nn.functional's, to the letter
"""

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "clearhead.torch needs PyTorch: pip install 'clearhead[torch]' (on a machine without a GPU, install "
        "torch==2.13.0 first, so that pip does not choose a build with CUDA)"
    ) from error

from clearhead.torch import biases
from clearhead.torch.function import attention, explain
from clearhead.torch.sdpa import scaled_dot_product_attention

__all__ = ["attention", "biases", "explain", "scaled_dot_product_attention"]
