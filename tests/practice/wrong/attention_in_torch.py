"""The mistakes of attention_in_torch as a learner makes them, in torch; each under the name that it must get."""

from __future__ import annotations

import torch


def attend(Q, K, V, mask=None):
    scores = scores_of(Q, K)
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        nothing_left = ~mask.any(dim=-1, keepdim=True)
        scores = scores.masked_fill(~mask, -torch.inf).masked_fill(nothing_left, 0.0)
        weights = scores.softmax(dim=-1).masked_fill(~mask, 0.0)
    return weights @ V, weights


def scores_of(Q, K):
    return Q @ K.transpose(-1, -2) / K.shape[-1] ** 0.5


def masked(scores, mask, fill):
    return scores if mask is None else scores.masked_fill(~mask, fill)


def no_scaling(Q, K, V, mask=None):
    return attend(Q * K.shape[-1] ** 0.5, K, V, mask)


def softmax_over_queries(Q, K, V, mask=None):
    weights = masked(scores_of(Q, K), mask, -torch.inf).softmax(dim=-2)
    return weights @ V, weights


def mask_inverted(Q, K, V, mask=None):
    return attend(Q, K, V, None if mask is None else ~mask)


def mask_inverted_unguarded(Q, K, V, mask=None):
    scores = scores_of(Q, K)
    weights = (scores if mask is None else scores.masked_fill(mask, -torch.inf)).softmax(dim=-1)
    return weights @ V, weights


def masked_after_the_softmax(Q, K, V, mask=None):
    weights = masked(scores_of(Q, K).softmax(dim=-1), mask, 0.0)
    return weights @ V, weights


def a_large_number_for_infinity(Q, K, V, mask=None):
    weights = masked(scores_of(Q, K), mask, -1e9).softmax(dim=-1)
    return weights @ V, weights


def nothing_left_is_nan(Q, K, V, mask=None):
    weights = masked(scores_of(Q, K), mask, -torch.inf).softmax(dim=-1)
    return weights @ V, weights


def reshaped_not_transposed(Q, K, V, mask=None):
    return attend(Q, K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2]).transpose(-1, -2), V, mask)


def gradients_through(attention):
    """attention_gradients, as the learner's file gives it, below another attention."""

    def attention_gradients(Q, K, V, mask=None):
        output = attention(Q, K, V, mask)[0]
        if not output.requires_grad:
            return tuple(torch.zeros_like(tensor) for tensor in (Q, K, V))
        coming = torch.arange(1.0, output.numel() + 1, dtype=output.dtype).view_as(output)
        return torch.autograd.grad(output, (Q, K, V), grad_outputs=coming, materialize_grads=True)

    return attention_gradients


@gradients_through
def through_numpy(Q, K, V, mask=None):
    output, weights = attend(*(torch.from_numpy(x.detach().numpy()) for x in (Q, K, V)), mask)
    return output, weights


@gradients_through
def weights_detached(Q, K, V, mask=None):
    weights = attend(Q, K, V, mask)[1].detach()
    return weights @ V, weights


@gradients_through
def nan_on_the_way_back(Q, K, V, mask=None):
    scores = scores_of(Q, K)
    weights = (scores + masked(torch.zeros_like(scores), mask, -torch.inf)).softmax(dim=-1).nan_to_num(0.0)
    return weights @ V, weights
