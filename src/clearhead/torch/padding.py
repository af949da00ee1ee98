"""Which keys are real, as a mask the kernels can use.

Batches are padded at the end as a rule, and then one number per sentence says everything: the kernels skip the padding
instead of testing it. So they do where it stands in front. Whoever pads elsewhere gets an array, which means the same.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Bool

from clearhead import checks, masks
from clearhead.tensors import to_numpy


def real_keys(real: Bool[torch.Tensor, "*batch n_k"]) -> masks.Mask | None:
    """Only keys that are real may be attended. real (*batch, n_k) → a mask, or None if all of them are."""
    return real_run(to_numpy(real.detach().cpu()))


def real_run(real: Bool[np.ndarray, "*batch n_k"]) -> masks.Mask | None:
    """The same of an array: of each sentence one run of keys as a rule, with padding after it, or before it."""
    if real.all():
        return None
    n_k, lengths = real.shape[-1], real.sum(-1)
    if (real == (np.arange(n_k) < lengths[..., None])).all():
        return masks.key_lengths(lengths)
    first = real.argmax(-1)  # 0 where none is
    end = np.where(lengths > 0, n_k - real[..., ::-1].argmax(-1), 0)
    if (lengths != end - first).any():  # there are gaps
        return masks.array(real[..., None, None, :])
    after = ~masks.key_lengths(first)
    return after if (end == n_k).all() else after & masks.key_lengths(end)


def warn_of_float_flags(name: str, mask: torch.Tensor | None, cure: str) -> None:
    """Say so if a float mask holds only zeros and ones; not of one that is learned, or lies on another device."""
    if mask is not None and mask.is_floating_point() and mask.device.type == "cpu" and not mask.requires_grad:
        checks.warn_of_zeros_and_ones(name, to_numpy(mask), cure)


def both(a: masks.Mask | None, b: masks.Mask | None) -> masks.Mask | None:
    """What both masks allow, None allowing everything."""
    return b if a is None else a if b is None else a & b


def mask_of(allowed: Bool[torch.Tensor, ...]) -> masks.Mask:
    """A boolean tensor, True = may attend, as a mask that joins others."""
    return masks.array(to_numpy(allowed.cpu()))
