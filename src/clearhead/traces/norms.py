"""The last norm of a model, read as the linear map that it is once its scale is held fast.

    layer norm    scale · gain ⊙ (x − mean x) + shift        scale = 1 / √(variance x + ε)
    RMS norm      scale · gain ⊙ x                           scale = 1 / √(mean x² + ε)

Gain and shift are asked of the module itself, as models differ in what their weight means (Gemma's counts from 1), and
the scale of each position is what makes this formula give what the module gave. What none does is no such norm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

LARGE = 1024.0  # beside which ε is nothing, and whose mean is exact


@dataclass(frozen=True, eq=False)
class Norm:
    """gain, shift (width,); centred: whether the mean is taken off first"""

    gain: np.ndarray
    shift: np.ndarray
    centred: bool

    def back(self, direction: np.ndarray) -> np.ndarray:
        """The direction before the norm that a direction behind it is, at a scale of 1: (width,) → (width,)"""
        before = direction * self.gain
        return before - before.mean() if self.centred else before


def read_norm(module: nn.Module, like: torch.Tensor) -> Norm | None:
    """A module as a norm of rows like these, None if it is none that is known."""
    width = like.shape[-1]
    with torch.no_grad():
        nothing = module.forward(like.new_zeros(1, 1, width))[0, 0]  # not called: hooks are for what the model is given
        even = module.forward(like.new_full((1, 1, width), LARGE))[0, 0]
    shift, gain = (np.array(x.detach().double().cpu().numpy()) for x in (nothing, even - nothing))
    if np.abs(gain).max() > 1e-3:  # a mean that is taken off leaves nothing of an even row
        return Norm(gain, shift, centred=False)
    weight = getattr(module, "weight", None)
    if weight is None:
        return Norm(np.ones(width), shift, centred=True)
    return Norm(np.array(weight.detach().double().cpu().numpy()), shift, centred=True)


def stretch(norm: Norm, before: torch.Tensor, after: torch.Tensor) -> np.ndarray | None:
    """The scale of every position, (b, n, width) → (b, n); None where the formula does not give what the norm gave."""
    x, y = (tensor.detach().double().cpu().numpy() for tensor in (before, after))
    size = np.abs(x) + np.abs(x).mean(axis=-1, keepdims=True) if norm.centred else np.abs(x)
    x = x - x.mean(axis=-1, keepdims=True) if norm.centred else x
    x, y = x * norm.gain, y - norm.shift
    squares = (x * x).sum(axis=-1)
    scales = np.divide((x * y).sum(axis=-1), squares, out=np.zeros_like(squares), where=squares > 0)
    wrong = np.abs(scales[..., None] * x - y)
    size = np.abs(scales[..., None] * norm.gain) * size + np.abs(norm.shift)  # of what is added up in each number
    if (wrong > 4 * torch.finfo(after.dtype).eps * size).any():
        return None
    return np.asarray(scales)
