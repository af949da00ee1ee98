"""The other half of a block: after attention has mixed positions, each one thinks for itself.

Two linear maps with an activation function between them, applied to every position alone. The activation functions
are here too.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float
from numpy.typing import DTypeLike

from clearhead import checks
from clearhead.textbook.module import Module, float_type, generator, project, rows_of_width, xavier_uniform


class FeedForward(Module):
    """activation(x W_1 + b_1) W_2 + b_2, with W_1 (d_model, d_ff) and W_2 (d_ff, d_model).

    With `activation="swiglu"` there is a third map W_gate (d_model, d_ff), and the middle is
    silu(x W_gate + b_gate) · (x W_1 + b_1): the gate says how much of each feature passes.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        *,
        activation: str = "relu",
        bias: bool = True,
        seed: int | np.random.Generator = 0,
        dtype: DTypeLike = np.float64,
    ) -> None:
        self.d_model = checks.count("d_model", d_model)
        self.d_ff = checks.count("d_ff", d_ff)
        self.activation = checks.choice("activation", activation, (*ACTIVATIONS, "swiglu"))
        self.bias = bool(bias)
        self.dtype = float_type(dtype)
        rng = generator(seed)
        if self.activation == "swiglu":
            self.W_gate = xavier_uniform(rng, self.d_model, self.d_ff, self.dtype)
            self.b_gate = np.zeros(self.d_ff, self.dtype) if self.bias else None
        self.W_1 = xavier_uniform(rng, self.d_model, self.d_ff, self.dtype)
        self.b_1 = np.zeros(self.d_ff, self.dtype) if self.bias else None
        self.W_2 = xavier_uniform(rng, self.d_ff, self.d_model, self.dtype)
        self.b_2 = np.zeros(self.d_model, self.dtype) if self.bias else None

    def forward(self, x: Float[np.ndarray, "... n d_model"]) -> Float[np.ndarray, "... n d_model"]:
        """x (…, n, d_model) → (…, n, d_model)"""
        x = rows_of_width("x", x, self.d_model)
        hidden = project(x, self.W_1, self.b_1, "1")  # (…, n, d_ff)
        if self.activation == "swiglu":
            hidden = silu(project(x, self.W_gate, self.b_gate, "gate")) * hidden
        else:
            hidden = ACTIVATIONS[self.activation](hidden)
        return project(hidden, self.W_2, self.b_2, "2")

    __call__ = forward


def relu(x: Float[np.ndarray, " *shape"]) -> Float[np.ndarray, " *shape"]:
    """x where it is positive, else 0. x (…) → (…)"""
    y: np.ndarray = np.maximum(checks.float_array("x", x), 0)
    return y


def gelu(x: Float[np.ndarray, " *shape"]) -> Float[np.ndarray, " *shape"]:
    """x · Φ(x), where Φ is the normal distribution function: x · ½ (1 + erf(x / √2)). x (…) → (…)"""
    x = checks.float_array("x", x)
    wide = x.astype(checks.compute_type(x.dtype))
    y: np.ndarray = 0.5 * wide * (1 + erf(wide / math.sqrt(2)))
    return y.astype(x.dtype)


def gelu_tanh(x: Float[np.ndarray, " *shape"]) -> Float[np.ndarray, " *shape"]:
    """The approximation of GELU that GPT-2 was trained with: ½ x (1 + tanh(√(2/π) (x + 0.044715 x³))). x (…) → (…)"""
    x = checks.float_array("x", x)
    wide = x.astype(checks.compute_type(x.dtype))
    y: np.ndarray = 0.5 * wide * (1 + np.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)))
    return y.astype(x.dtype)


def silu(x: Float[np.ndarray, " *shape"]) -> Float[np.ndarray, " *shape"]:
    """x · sigmoid(x), also called swish. x (…) → (…)"""
    x = checks.float_array("x", x)
    wide = x.astype(checks.compute_type(x.dtype))
    small = np.exp(-np.abs(wide))  # at most 1, whatever the sign of x: nothing overflows
    y: np.ndarray = wide * np.where(wide >= 0, 1, small) / (1 + small)
    return y.astype(x.dtype)


def erf(x: Float[np.ndarray, " *shape"]) -> Float[np.ndarray, " *shape"]:
    """The error function of every number, by the standard library, as NumPy has none. x (…) → (…)"""
    return np.array([math.erf(value) for value in x.ravel().tolist()], x.dtype).reshape(x.shape)


ACTIVATIONS = {"relu": relu, "gelu": gelu, "gelu_tanh": gelu_tanh}
