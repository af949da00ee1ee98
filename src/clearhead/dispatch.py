"""The one door to exact attention: `attention`, `merge` and `explain`, on NumPy arrays or torch tensors.

The two kinds part here: arrays go to the kernels, tensors to `clearhead.torch`, which calls the same kernels under
autograd and is loaded when the first tensor comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from clearhead import checks, kernels, masks, names
from clearhead.call import Options, Part, not_tensor, prepare, refuse_slow
from clearhead.kernels.explanation import Explanation
from clearhead.tensors import is_tensor

if TYPE_CHECKING:
    import torch


@overload
def attention(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    mask: masks.Mask | ArrayLike | None = None,
    *,
    return_lse: Literal[False] = False,
    **options: Unpack[Options],
) -> np.ndarray: ...
@overload
def attention(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    mask: masks.Mask | ArrayLike | None = None,
    *,
    return_lse: Literal[True],
    **options: Unpack[Options],
) -> tuple[np.ndarray, np.ndarray]: ...
@overload
def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: masks.Mask | torch.Tensor | None = None,
    *,
    return_lse: Literal[False] = False,
    **options: Unpack[Options],
) -> torch.Tensor: ...
@overload
def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: masks.Mask | torch.Tensor | None = None,
    *,
    return_lse: Literal[True],
    **options: Unpack[Options],
) -> tuple[torch.Tensor, torch.Tensor]: ...
@overload
def attention(
    q: Any, k: Any, v: Any, mask: Any = None, *, return_lse: bool = False, **options: Unpack[Options]
) -> Any: ...
@names.own_options
def attention(
    q: Float[Any, "... n_q d"],
    k: Float[Any, "... n_k d"],
    v: Float[Any, "... n_k d_v"],
    mask: masks.Mask | ArrayLike | None = None,
    *,
    bias: Any = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: ArrayLike | float | None = None,
    dropout: float = 0.0,
    seed: int | None = None,
    part: Part | tuple[int, ...] | None = None,
    return_lse: bool = False,
    strict: bool = False,
) -> Float[Any, "... n_q d_v"] | tuple[Float[Any, "... n_q d_v"], Float[Any, "... n_q"]]:
    """Exact attention in O(n) memory. NumPy in, NumPy out; torch in, torch out.

    q (…, h, n_q, d)  k (…, h_kv, n_k, d)  v (…, h_kv, n_k, d_v) → output (…, h, n_q, d_v), in q's type

    Means what `clearhead.scaled_dot_product_attention` means, without the weights: scale → softcap → bias → mask →
    sinks → softmax → dropout, with query head i using key head i // (h / h_kv).

    Args:
        mask: a mask from `clearhead.masks`, a boolean array (True = may attend) or a float array (added to the
            scores), broadcasting to (…, h, n_q, n_k). A query with no key left gets zeros.
        bias: an array added to the scores, or a structure from `clearhead.biases` or `clearhead.torch.biases`, which is
            never written out.
        scale: 1/√d unless given; 0.0 means zero.
        softcap: scores become softcap · tanh(score / softcap).
        sinks: one score per head (h,) that takes weight and gives no value.
        dropout, seed: drop weights with this probability; the same seed drops the same ones.
        part: (first_query, first_key), or a `Part`, if q, k and v are a part of a longer sequence: masks from
            `clearhead.masks`, biases by distance and dropout then speak of the whole, and `merge` joins parts over
            different keys.
        return_lse: also return log Σ exp(score) of each query (…, h, n_q), sinks included, in float32 or float64.
            With it parts over different keys are joined exactly by `merge`.
        strict: refuse a call that would take a slow way, with the reason, instead of taking it.

    Raises:
        TypeError: an array is not of floats, or the mask is neither a mask, boolean nor float.
        ValueError: shapes do not fit together, or `strict` and the call would be slow.
    """
    key, wanted = None, kernels.known_call.LSE if return_lse else kernels.known_call.OUTPUT
    if bias is None and sinks is None and part is None and not dropout:
        key = kernels.known.key_of(q, k, v, mask, scale, softcap, wanted)
        known = None if key is None else kernels.known.find(key)
        if known is not None:
            output, lse = kernels.known.attend_arrays(known, q, k, v, wanted)
            return output if lse is None else (output, lse)
    options: dict[str, Any] = {
        "mask": mask,
        "bias": bias,
        "scale": scale,
        "softcap": softcap,
        "sinks": sinks,
        "dropout": dropout,
        "seed": seed,
        "part": part,
    }
    if is_tensor(q):
        import clearhead.torch

        return clearhead.torch.attention(q, k, v, return_lse=return_lse, strict=strict, **options)
    call = prepare(q, k, v, lse=return_lse, **options)
    if strict:
        refuse_slow(call.slow)
    output, lse = kernels.launch.compute(call)
    if key is not None:
        kernels.known.remember(key, call, wanted)
    return output if lse is None else (output, lse)


@overload
def merge(parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]: ...
@overload
def merge(parts: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> tuple[torch.Tensor, torch.Tensor]: ...
def merge(
    parts: Sequence[tuple[Float[Any, "*lead n_q d_v"], Float[Any, "*lead n_q"]]],
) -> tuple[Float[Any, "*lead n_q d_v"], Float[Any, "*lead n_q"]]:
    """Join attention over parts of the keys into attention over all of them, exactly.

    parts [(output (…, n_q, d_v), lse (…, n_q)), …] → (output, lse), arrays or tensors; gradients reach every part. A
    part that saw no key (lse −inf) changes nothing. Sinks belong to one of the parts only.
    """
    if not parts:
        raise ValueError("merge needs at least one (output, lse) pair, got none")
    if is_tensor(parts[0][0]):
        from clearhead.torch import merging

        return merging.merge(parts)
    outputs = [_floats(f"output {n}", output, ndim=2) for n, (output, _) in enumerate(parts)]
    sums = [_floats(f"lse {n}", lse, ndim=1) for n, (_, lse) in enumerate(parts)]
    checks.same_parts(outputs, sums)
    kind = checks.compute_type(*(x.dtype for x in (*outputs, *sums)))
    stacked = np.stack([x.astype(kind) for x in sums])
    top = stacked.max(axis=0)
    top = np.where(np.isneginf(top), 0, top)
    shares = np.exp(stacked - top)
    total = shares.sum(axis=0)
    mixed = sum(s[..., None] * x.astype(kind) for s, x in zip(shares, outputs, strict=True))
    with np.errstate(divide="ignore"):  # log 0 = −inf: no part saw a key
        lse = np.log(total) + top
    output = mixed / np.where(total == 0, 1, total)[..., None]
    return output.astype(outputs[0].dtype), lse.astype(sums[0].dtype)


def _floats(name: str, value: ArrayLike, *, ndim: int) -> np.ndarray:
    return checks.float_array(name, not_tensor(name, value, "output 0"), ndim=ndim)


@names.own_options
def explain(
    q: Float[Any, "... n_q d"],
    k: Float[Any, "... n_k d"],
    v: Float[Any, "... n_k d_v"] | None = None,
    mask: masks.Mask | ArrayLike | None = None,
    *,
    bias: Any = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: ArrayLike | float | None = None,
    dropout: float = 0.0,
    seed: int | None = None,
    part: Part | tuple[int, ...] | None = None,
    return_lse: bool = False,
    strict: bool = False,
    of: str = "attention",
    top_k: int = 8,
    map_size: int = 512,
) -> Explanation:
    """What `attention` would do with the same arguments: which way, why, tiles skipped, memory. Nothing is run.

    of: "attention", or "gradients" for its backward pass, or "look" for what `clearhead.look` would do, whose options
    top_k and map_size are, and which needs no v. The answer is data, and what `strict` would refuse is in its `slow`;
    printed, it is a few lines of text. `strict` itself is taken, so that the arguments can be the same ones, and
    changes nothing here.
    """
    options: dict[str, Any] = {
        "mask": mask, "bias": bias, "scale": scale, "softcap": softcap, "sinks": sinks, "dropout": dropout,
        "seed": seed, "part": part, "return_lse": return_lse, "of": of, "top_k": top_k, "map_size": map_size,
    }  # fmt: skip
    if v is None:
        if of != "look":
            raise TypeError('explain needs v, as attention does; only of="look" goes without')
        values: Any = k if is_tensor(k) else np.asarray(k)
        v = values[..., :0]
    if is_tensor(q):
        import clearhead.torch

        return clearhead.torch.explain(q, k, v, **options)
    return kernels.forecast.explain(q, k, v, **options)
