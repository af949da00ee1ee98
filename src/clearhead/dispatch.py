"""The one door to exact attention: `attention`, `merge` and `explain`, on NumPy arrays or torch tensors.

The two kinds part here: arrays go to the kernels, tensors to `clearhead.torch`, which calls the same kernels under
autograd and is loaded when the first tensor comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from clearhead import checks, kernels, masks
from clearhead.biases import RelativeBias
from clearhead.call import Part, not_tensor, prepare
from clearhead.kernels.explanation import Explanation
from clearhead.tensors import is_tensor


def attention(
    q: Float[Any, "... n_q d"],
    k: Float[Any, "... n_k d"],
    v: Float[Any, "... n_k d_v"],
    *,
    mask: masks.Mask | ArrayLike | None = None,
    bias: RelativeBias | ArrayLike | None = None,
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
        bias: an array added to the scores, or a structure from `clearhead.biases`, which is never written out.
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
        return _on_tensors(q, k, v, strict=strict, return_lse=return_lse, **options)
    call = prepare(q, k, v, lse=return_lse, **options)
    if strict:
        _refuse_slow(call.slow)
    output, lse = kernels.launch.compute(call)
    return output if lse is None else (output, lse)


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


def explain(q: Any, k: Any, v: Any, *, of: str = "attention", **options: Any) -> Explanation:
    """What `attention` would do with the same arguments: which way, why, tiles skipped, memory. Nothing is run.

    of: "attention", or "gradients" for its backward pass, or "look" for what `clearhead.look` would do, which takes its
    options too. The answer is data; printed, it is a few lines of text.
    """
    options.pop("strict", None)
    if is_tensor(q):
        import clearhead.torch

        return clearhead.torch.explain(q, k, v, of=of, **options)
    return kernels.forecast.explain(q, k, v, of=of, **options)


def _on_tensors(q: Any, k: Any, v: Any, *, strict: bool, **options: Any) -> Any:
    """torch in, torch out, under autograd."""
    import clearhead.torch

    if strict:
        _refuse_slow(clearhead.torch.explain(q, k, v, **options).slow)
    return clearhead.torch.attention(q, k, v, **options)


def _refuse_slow(reasons: Sequence[str]) -> None:
    if reasons:
        raise ValueError(f"strict: this call would be slow: {'; '.join(reasons)}")
