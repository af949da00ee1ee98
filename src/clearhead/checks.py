"""What is refused at the door, and in which words.

Every check names the argument, says what was expected, what came, and how to fix it. They live in one place so
that the same mistake reads the same wherever it is made.
"""

from __future__ import annotations

import functools
import operator
import sys
import warnings
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, DTypeLike


@runtime_checkable
class Shaped(Protocol):
    """An array or a tensor, where only its shape matters."""

    @property
    def ndim(self) -> int: ...

    @property
    def shape(self) -> tuple[int, ...]: ...


class MaskWarning(UserWarning):
    """A mask that is allowed, and most likely not what was meant."""


FLOAT_TYPES = ("float16", "bfloat16", "float32", "float64")


@functools.cache
def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether this is one of the four float types."""
    return dtype.name in FLOAT_TYPES


def as_array(name: str, value: Any) -> np.ndarray:
    """`value` as an array. A tensor that NumPy cannot read is answered with what makes it one that it can."""
    try:
        return np.asarray(value)
    except (TypeError, RuntimeError):
        if not hasattr(value, "requires_grad"):
            raise
        steps = {
            "detach": value.requires_grad,
            "cpu": str(value.device) != "cpu",
            "float": str(value.dtype) == "torch.bfloat16",
        }
        made = "".join(f".{step}()" for step, needed in steps.items() if needed)
        raise TypeError(
            f"{name} is a torch tensor that NumPy cannot read as it is; pass {name}{made}.numpy() (clearhead.torch and "
            "clearhead.attention take tensors, and keep their gradients)"
        ) from None


def float_array(name: str, value: ArrayLike, *, ndim: int = 0) -> np.ndarray:
    """`value` as an array of one of the four float types with at least `ndim` dimensions."""
    array = as_array(name, value)
    if not is_float(array.dtype):
        hint = "did you pass token ids?" if array.dtype.kind in "iu" else "convert it first:"
        raise TypeError(
            f"{name} must be float16, bfloat16, float32 or float64, got {array.dtype.name} "
            f"({hint} {name}.astype(np.float32) makes it a float array)"
        )
    if array.ndim < ndim:
        plural = "" if ndim == 1 else "s"
        raise ValueError(
            f"{name} needs at least {ndim} dimension{plural}, got shape {array.shape} ({name}[None] adds one)"
        )
    return array


@functools.cache
def compute_type(*dtypes: DTypeLike) -> np.dtype[Any]:
    """The type arithmetic runs in: float64 if any input is, else float32, so half precision never accumulates."""
    return np.dtype(np.float64 if any(np.dtype(t).name == "float64" for t in dtypes) else np.float32)


def count(name: str, value: object, *, least: int | None = 1) -> int:
    """A whole number of at least `least`: a size, a number of heads, a chunk. With None, negative ones too."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be a whole number, got {value!r} of type {type(value).__name__}") from None
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be a whole number, got the boolean {value}")
    if least is not None and number < least:
        raise ValueError(f"{name} must be at least {least}, got {number}")
    return number


def number(name: str, value: object, *, above: float | None = None) -> float:
    """A finite real number, greater than `above` if that is given."""
    try:
        if isinstance(value, (str, bool, np.bool_)) or np.ndim(value):  # type: ignore[arg-type]
            raise TypeError  # float() would take "1", True and an array of one number
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {value!r} of type {type(value).__name__}") from None
    if not np.isfinite(result):
        raise ValueError(f"{name} must be finite, got {result}")
    if above is not None and not result > above:
        raise ValueError(f"{name} must be greater than {above:g}, got {result:g}")
    return result


def choice(name: str, value: object, options: tuple[str, ...]) -> str:
    """One of a few words."""
    if value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}, got {value!r}")
    return str(value)


def same_width(queries: Shaped, keys: Shaped) -> None:
    """Queries and keys meet in a dot product, so both have d columns."""
    if queries.shape[-1] != keys.shape[-1]:
        raise ValueError(
            f"keys have {keys.shape[-1]} columns but queries have {queries.shape[-1]}; both must be d wide "
            "(did you pass values as keys?)"
        )


def same_length(keys: Shaped, values: Shaped) -> None:
    """Each key carries one value."""
    if keys.shape[-2] != values.shape[-2]:
        raise ValueError(
            f"there are {keys.shape[-2]} keys but {values.shape[-2]} values; each key needs one value "
            "(the next to last axis of both is n_k)"
        )


def same_parts(outputs: Sequence[Shaped], sums: Sequence[Shaped]) -> None:
    """Attention over several parts of the keys: as many outputs (…, n_q, d_v) of one shape, each with its lse."""
    whole = tuple(outputs[0].shape)
    for n, (output, lse) in enumerate(zip(outputs, sums, strict=True)):
        if tuple(output.shape) != whole or tuple(lse.shape) != whole[:-1]:
            raise ValueError(
                f"part {n} has an output of shape {tuple(output.shape)} and an lse of shape {tuple(lse.shape)}; "
                f"expected {whole} and {whole[:-1]}, as in part 0"
            )


def head_width(d_model: int, num_heads: int) -> int:
    """d_k = d_model / num_heads, the columns of one head."""
    if d_model % num_heads:
        raise ValueError(
            f"d_model = {d_model} cannot be divided among num_heads = {num_heads} heads evenly; "
            f"d_model must be a multiple of num_heads (d_model={d_model + -d_model % num_heads} is)"
        )
    return d_model // num_heads


def doubtful_axes(q: tuple[int, ...], k: tuple[int, ...]) -> str | None:
    """A word on which axis was taken for what, where there are so many heads that they may be positions.

    q (…, h, n_q, d)  k (…, h_kv, n_k, d), shapes
    """
    return _swapped_axes(q, k) if max(_heads(q), _heads(k)) > 4 * max(q[-2], k[-2]) else None


def _swapped_axes(q: tuple[int, ...], k: tuple[int, ...]) -> str | None:
    """What to do if heads and positions are the other way round; None where they would not fit that way either."""
    (heads, n_q), (kv_heads, n_k) = ((_heads(x), x[-2]) for x in (q, k))
    if not n_k or n_q % n_k:
        return None
    taken, positions = f"{heads} heads of {n_q} positions", f"{heads}"
    if (heads, n_q) != (kv_heads, n_k):
        taken = f"{heads} heads of {n_q} queries, {kv_heads} heads of {n_k} keys"
    if heads != kv_heads:
        positions = f"{heads} and {kv_heads}"
    return (
        f"({taken}: the axes are (…, heads, positions, width); if the {positions} are the positions, give q, k and v "
        "as x.swapaxes(-3, -2))"
    )


def _heads(shape: tuple[int, ...]) -> int:
    return shape[-3] if len(shape) > 2 else 1


def head_groups(heads: int, kv_heads: int, *shapes: tuple[int, ...]) -> int:
    """How many query heads share one key/value head. shapes: those of q and k, if there are arrays."""
    if kv_heads == 0 or heads % kv_heads:
        doubt = _swapped_axes(*shapes) if shapes and max(heads, kv_heads) > max(x[-2] for x in shapes) else None
        raise ValueError(
            f"{heads} query heads cannot share {kv_heads} key/value heads evenly; the number of query heads must be a "
            f"multiple of the number of key/value heads{f' {doubt}' if doubt else ''}"
        )
    return heads // kv_heads


def mask_array(mask: ArrayLike, shape: tuple[int, ...], *, again: bool = False) -> np.ndarray:
    """A boolean or additive mask that broadcasts to the scores' shape (…, n_q, n_k).

    `again`: it comes here twice, and what is doubtful about it is said at the other time.
    """
    if callable(mask) or isinstance(mask, str):
        raise TypeError(
            f"mask must be an array or a mask from clearhead.masks, got {mask!r} (masks.causal() with its parentheses "
            "is a mask, and masks.where makes one of a function of batch, head, query and key)"
        )
    array = as_array("mask", mask)
    if array.dtype != np.bool_ and array.dtype.name not in FLOAT_TYPES:
        raise TypeError(
            f"mask must be boolean (True = may attend) or float (added to the scores), got {array.dtype.name} "
            "(mask.astype(bool) turns 0 and 1 into a boolean mask)"
        )
    fits("mask", array, shape)
    if array.dtype != np.bool_ and array.size and _largest("mask", array) == 1 and not again:
        cure = (
            "mask.astype(bool), or mask.bool() of a tensor, lets the ones attend; as bias= it is added without a word"
        )
        warn_of_zeros_and_ones("mask", array, cure)
    return array


def warn_of_zeros_and_ones(name: str, array: np.ndarray, cure: str) -> None:
    """Say so if a float mask holds zeros and ones and nothing else: as a rule it was meant to be boolean.

    All zeros change nothing, nor do all ones.
    """
    if array.size and array.max() == 1 and array.min() == 0 and ((array == 0) | (array == 1)).all():
        warn(f"{name} holds floats that are all 0 or 1; they are added to the scores and forbid no key ({cure})")


def warn(message: str, category: type[UserWarning] = MaskWarning) -> None:
    """Warn in the name of the code that called clearhead, be it through one of torch's modules or a `with` block."""
    between = ("clearhead", "torch", "jaxtyping", "beartype", "contextlib")
    depth, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in between:
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category, stacklevel=depth)


def axis_tokens(
    tokens: Sequence[object] | None, key_tokens: Sequence[object] | None, n_q: int, n_k: int
) -> tuple[list[object] | None, list[object] | None]:
    """Labels of the queries and of the keys; in self-attention they are the same."""
    if tokens is not None and key_tokens is None and n_q != n_k:
        raise ValueError(
            f"weights have {n_q} queries but {n_k} keys, so tokens cannot name both; give tokens for the {n_q} "
            f"queries and key_tokens for the {n_k} keys"
        )
    queries = tokens_of("tokens", tokens, n_q, "queries")
    return queries, queries if key_tokens is None else tokens_of("key_tokens", key_tokens, n_k, "keys")


def tokens_of(name: str, tokens: Sequence[object] | None, n: int, axis: str) -> list[object] | None:
    """One label for each of n positions."""
    if tokens is None:
        return None
    if isinstance(tokens, (str, bytes)):
        raise TypeError(
            f"{name} must be a list with one entry per position, got one text ({name}.split() or list({name}) cuts it)"
        )
    listed = list(tokens)
    if len(listed) != n:
        raise ValueError(f"{name} must name all {n} {axis}, got {len(listed)} names")
    return listed


def allowed_array(allowed: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    """A boolean array, True = may attend, broadcast to the weights' shape (…, n_q, n_k)."""
    array = np.asarray(allowed)
    if array.dtype != np.bool_:
        raise TypeError(f"allowed must be boolean (True = may attend), got {array.dtype.name}")
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise ValueError(f"allowed of shape {array.shape} does not broadcast to the weights' shape {shape}") from None


def fits(name: str, array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """An array that broadcasts to the scores' shape (…, n_q, n_k) and adds no axis to it."""
    try:
        fitting = np.broadcast_shapes(array.shape, shape) == shape
    except ValueError:
        fitting = False
    if not fitting:
        hint = "its last two axes are n_q and n_k, or 1"
        if array.ndim > len(shape) and array.shape[-3] == 1:
            hint = f"it has a head axis and the scores have none: use {name}[..., 0, :, :]"
        raise ValueError(f"{name} of shape {array.shape} does not broadcast to the scores' shape {shape}; {hint}")
    return array


def additive(name: str, array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """An array that may be added to scores of the given shape: it broadcasts and holds no NaN and no +inf."""
    fits(name, array, shape)
    if array.dtype != np.bool_ and array.size:
        _largest(name, array)
    return array


def _largest(name: str, array: np.ndarray) -> float:
    """The largest number of an array that may be added to scores."""
    largest = float(array.max())  # NaN if any is
    if np.isnan(largest):
        raise ValueError(f"{name} contains NaN; use -inf to forbid a key and 0 to leave it alone")
    if np.isposinf(largest):
        raise ValueError(f"{name} contains +inf; use -inf to forbid a key and 0 to leave it alone")
    return largest


def sink_per_head(sinks: ArrayLike | float, heads: int) -> np.ndarray:
    """One score per head, or one for all of them."""
    array = as_array("sinks", sinks)
    array = float_array("sinks", array if array.ndim else array.astype(float))
    if array.ndim > 1 or array.size not in (1, heads):
        raise ValueError(f"sinks need one number per head, shape ({heads},), got shape {array.shape}")
    if np.isnan(array).any() or np.isposinf(array).any():
        raise ValueError("sinks must be numbers or -inf (no sink), got NaN or +inf")
    return array
