"""encoder_block, written otherwise."""

from __future__ import annotations

import numpy as np

from clearhead.textbook.encoder import EncoderBlock


def by_einsum(x, block, num_heads):
    def heads(name):
        W = block[name].reshape(x.shape[-1], num_heads, -1)
        return np.einsum("...ni,ihd->...nhd", x, W)

    def normal(y, number):
        y = (y - y.mean(-1, keepdims=True)) / np.sqrt(y.var(-1, keepdims=True) + 1e-5)
        return y * block[f"gamma_{number}"] + block[f"beta_{number}"]

    scores = np.einsum("...nhd,...mhd->...hnm", heads("W_Q"), heads("W_K")) * (x.shape[-1] / num_heads) ** -0.5
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    W_O = block["W_O"].reshape(num_heads, -1, x.shape[-1])
    y = normal(x + np.einsum("...hnm,...mhd,hdi->...ni", weights, heads("W_V"), W_O), 1)
    hidden = y @ block["W_1"] + block["b_1"]
    return normal(y + (hidden * (hidden > 0)) @ block["W_2"] + block["b_2"], 2)


def head_by_head(x, block, num_heads):
    def normal(y, gamma, beta):
        mean = y.sum(-1, keepdims=True) / y.shape[-1]
        return (y - mean) / (((y - mean) ** 2).mean(-1, keepdims=True) + 1e-5) ** 0.5 * gamma + beta

    width = x.shape[-1] // num_heads
    total = x
    for start in range(0, x.shape[-1], width):
        own = slice(start, start + width)
        Q, K, V = x @ block["W_Q"][:, own], x @ block["W_K"][:, own], x @ block["W_V"][:, own]
        scores = Q @ np.moveaxis(K, -1, -2) / width**0.5
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        total = total + weights / weights.sum(-1, keepdims=True) @ V @ block["W_O"][own]
    y = normal(total, block["gamma_1"], block["beta_1"])
    y = np.where(y @ block["W_1"] > -block["b_1"], y @ block["W_1"] + block["b_1"], 0) @ block["W_2"] + block["b_2"] + y
    return normal(y, block["gamma_2"], block["beta_2"])


def by_the_textbook(x, block, num_heads):
    whole = EncoderBlock(x.shape[-1], num_heads, len(block["b_1"]))
    for name in ("W_Q", "W_K", "W_V", "W_O"):
        setattr(whole.attention, name, block[name])
    for name in ("W_1", "b_1", "W_2", "b_2"):
        setattr(whole.feed_forward, name, block[name])
    for norm, number in ((whole.attention_norm, 1), (whole.feed_forward_norm, 2)):
        norm.gamma, norm.beta = block[f"gamma_{number}"], block[f"beta_{number}"]
    return whole(x).output


RIGHT = {"encoder_block": (by_einsum, head_by_head, by_the_textbook)}
