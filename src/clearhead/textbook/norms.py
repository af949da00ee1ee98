"""Layer norm and RMS norm: bring every position to the same scale.

Both look at one position at a time, never across positions, so they neither mix tokens nor leak the future. Layer
norm takes away the mean and divides by the standard deviation; RMS norm leaves the mean where it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import DTypeLike

from clearhead import checks
from clearhead.textbook.module import Module, float_type

NORMS = ("layer", "rms")


class LayerStatistics(NamedTuple):
    """What layer norm measures, in float32 or float64; the axes measured over are kept with length 1."""

    mean: np.ndarray
    inverse_std: np.ndarray


def layer_norm(
    x: Float[np.ndarray, " *shape"],
    gamma: Float[np.ndarray, " *normalised"],
    beta: Float[np.ndarray, " *normalised"] | None = None,
    *,
    eps: float = 1e-5,
    axis: int = -1,
) -> Float[np.ndarray, " *shape"]:
    """(x − mean) / √(variance + eps) · gamma + beta, over all axes from `axis` on.

    x (…, d)  gamma, beta (d,) → (…, d). With an earlier axis, gamma and beta have the shape x.shape[axis:].
    """
    x = checks.float_array("x", x)
    axes = normalised_axes(x, axis)
    gamma = scale_array("gamma", gamma, x, axes)
    mean, inverse_std = layer_statistics(x, eps=eps, axis=axis)
    y: np.ndarray = (x.astype(mean.dtype) - mean) * inverse_std * gamma
    if beta is not None:
        y = y + scale_array("beta", beta, x, axes)
    return y.astype(x.dtype)


def layer_statistics(x: Float[np.ndarray, " *shape"], *, eps: float = 1e-5, axis: int = -1) -> LayerStatistics:
    """The mean of x and 1 / √(variance + eps), over all axes from `axis` on.

    x (…, d) → mean (…, 1), inverse_std (…, 1)
    """
    x = checks.float_array("x", x)
    axes = normalised_axes(x, axis)
    eps = checks.number("eps", eps, above=0.0)
    x = x.astype(checks.compute_type(x.dtype))
    mean = x.mean(axis=axes, keepdims=True)
    variance = np.square(x - mean).mean(axis=axes, keepdims=True)
    return LayerStatistics(mean, 1 / np.sqrt(variance + x.dtype.type(eps)))


def rms_norm(
    x: Float[np.ndarray, " *shape"],
    gamma: Float[np.ndarray, " *normalised"],
    *,
    eps: float = 1e-5,
    axis: int = -1,
) -> Float[np.ndarray, " *shape"]:
    """x / √(mean of x² + eps) · gamma, over all axes from `axis` on.

    x (…, d)  gamma (d,) → (…, d). With an earlier axis, gamma has the shape x.shape[axis:].
    """
    x = checks.float_array("x", x)
    axes = normalised_axes(x, axis)
    gamma = scale_array("gamma", gamma, x, axes)
    eps = checks.number("eps", eps, above=0.0)
    wide = x.astype(gamma.dtype)
    mean_square = np.square(wide).mean(axis=axes, keepdims=True)
    y: np.ndarray = wide / np.sqrt(mean_square + wide.dtype.type(eps)) * gamma
    return y.astype(x.dtype)


class LayerNorm(Module):
    """Layer norm with its learned scale gamma (d_model,) and shift beta (d_model,)."""

    def __init__(self, d_model: int, *, eps: float = 1e-5, bias: bool = True, dtype: DTypeLike = np.float64) -> None:
        self.d_model = checks.count("d_model", d_model)
        self.eps = checks.number("eps", eps, above=0.0)
        self.bias = bool(bias)
        self.dtype = float_type(dtype)
        self.gamma = np.ones(self.d_model, self.dtype)
        self.beta = np.zeros(self.d_model, self.dtype) if self.bias else None

    def forward(self, x: Float[np.ndarray, "... d_model"]) -> Float[np.ndarray, "... d_model"]:
        """x (…, d_model) → (…, d_model)"""
        return layer_norm(x, self.gamma, self.beta, eps=self.eps)

    __call__ = forward


class RMSNorm(Module):
    """RMS norm with its learned scale gamma (d_model,)."""

    def __init__(self, d_model: int, *, eps: float = 1e-5, dtype: DTypeLike = np.float64) -> None:
        self.d_model = checks.count("d_model", d_model)
        self.eps = checks.number("eps", eps, above=0.0)
        self.dtype = float_type(dtype)
        self.gamma = np.ones(self.d_model, self.dtype)

    def forward(self, x: Float[np.ndarray, "... d_model"]) -> Float[np.ndarray, "... d_model"]:
        """x (…, d_model) → (…, d_model)"""
        return rms_norm(x, self.gamma, eps=self.eps)

    __call__ = forward


def make_norm(norm: str, d_model: int, *, eps: float, bias: bool, dtype: DTypeLike) -> LayerNorm | RMSNorm:
    """The norm a block asks for by name; RMS norm has no shift, so `bias` concerns layer norm only."""
    if checks.choice("norm", norm, NORMS) == "layer":
        return LayerNorm(d_model, eps=eps, bias=bias, dtype=dtype)
    return RMSNorm(d_model, eps=eps, dtype=dtype)


def normalised_axes(x: np.ndarray, axis: int) -> tuple[int, ...]:
    """All axes from `axis` to the last."""
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"axis must be in [{-x.ndim}, {x.ndim - 1}] for x of shape {x.shape}, got {axis}")
    return tuple(range(axis % x.ndim, x.ndim))


def scale_array(name: str, array: np.ndarray, x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """gamma or beta, one number per normalised one, in the type the arithmetic runs in."""
    array = checks.float_array(name, array)
    if array.shape != x.shape[axes[0] :]:
        raise ValueError(
            f"{name} must have shape {x.shape[axes[0] :]}, the axes of x that are normalised, got {array.shape}"
        )
    return array.astype(checks.compute_type(x.dtype, array.dtype))
