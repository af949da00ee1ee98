"""The mistakes of train_a_copier as a learner makes them, trained; each under the name that it must get."""

from __future__ import annotations

import torch
from torch.nn import functional


def trained(texts, num_words, *, diagonal=0, places=True, shift=1, steps=True):
    """A copier in which one thing is not as it should be."""
    _, b, n = texts.shape
    shapes = {"words": (num_words + 1, 32), "places": (2 * n, 32), "Q": (32, 32), "K": (32, 32), "V": (32, 32)}
    p = {name: torch.randn(shape).mul(32**-0.5).requires_grad_() for name, shape in shapes.items()}
    p["out"] = torch.randn(32, num_words + 1).mul(32**-0.5).requires_grad_()

    def model(ids):
        x = p["words"][ids] + (p["places"][: ids.shape[1]] if places else 0)
        scores = (x @ p["Q"]) @ (x @ p["K"]).transpose(-1, -2) / 32**0.5
        seen = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril(diagonal)
        return (x + scores.masked_fill(~seen, -torch.inf).softmax(dim=-1) @ (x @ p["V"])) @ p["out"]

    optimiser = torch.optim.Adam(list(p.values()), lr=0.01)
    for text in texts:
        ids = torch.cat([text, torch.full((b, 1), num_words), text], dim=1)
        wanted = ids[:, n + shift : 2 * n + shift]
        loss = functional.cross_entropy(model(ids[:, :-1])[:, n:].flatten(0, 1), wanted.flatten())
        optimiser.zero_grad()
        loss.backward()
        if steps:
            optimiser.step()
    return model


def own_word_masked(texts, num_words):
    return trained(texts, num_words, diagonal=-1)


def the_future_is_seen(texts, num_words):
    return trained(texts, num_words, diagonal=2 * texts.shape[-1])


def target_not_shifted(texts, num_words):
    return trained(texts, num_words, shift=0)


def no_step_taken(texts, num_words):
    return trained(texts, num_words, steps=False)


def order_unknown(texts, num_words):
    return trained(texts, num_words, places=False)


def stopped_early(texts, num_words):
    return trained(texts[:25], num_words)
