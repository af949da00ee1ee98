"""attention_in_torch, written otherwise."""

from __future__ import annotations

import torch


def by_einsum(Q, K, V, mask=None):
    scores = torch.einsum("...id,...jd->...ij", Q, K) * Q.shape[-1] ** -0.5
    mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
    top = torch.where(mask, scores, -torch.inf).amax(-1, keepdim=True).detach()
    powers = torch.where(mask, torch.exp(torch.where(mask, scores - top, 0.0)), 0.0)
    weights = powers / powers.sum(-1, keepdim=True).clamp(min=1e-300)
    return torch.einsum("...ij,...jv->...iv", weights, V), weights


def with_one_more_key(Q, K, V, mask=None):
    """A key of score −1e300 that every row may see, and whose weight is left out."""
    scores = torch.matmul(Q, K.mT) / K.size(-1) ** 0.5
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(mask.logical_not(), -torch.inf)
    nobody = torch.full_like(scores[..., :1], -1e300)
    weights = torch.softmax(torch.cat([scores, nobody], dim=-1), dim=-1)[..., :-1]
    return weights @ V, weights


def gradients_of(attention):
    def gradients(Q, K, V, mask=None):
        output = attention(Q, K, V, mask)[0]
        coming = torch.arange(1, output.numel() + 1).to(output).reshape(output.shape)
        return torch.autograd.grad(output, [Q, K, V], grad_outputs=coming)

    return gradients


RIGHT = {
    "attention_in_torch": (by_einsum, with_one_more_key),
    "attention_gradients": (gradients_of(by_einsum), gradients_of(with_one_more_key)),
}
