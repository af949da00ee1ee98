"""train_a_copier, written otherwise."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional


class TwoHeads(nn.Module):
    def __init__(self, num_words, length):
        super().__init__()
        self.words, self.places = nn.Embedding(num_words + 1, 32), nn.Embedding(length, 32)
        self.project, self.join, self.out = nn.Linear(32, 96), nn.Linear(32, 32), nn.Linear(32, num_words + 1)

    def forward(self, ids):
        b, m = ids.shape
        x = self.words(ids) + self.places(torch.arange(m))
        q, k, v = self.project(x).view(b, m, 3, 2, 16).permute(2, 0, 3, 1, 4)
        heard = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(x + self.join(heard.transpose(1, 2).reshape(b, m, 32)))


def as_a_module(texts, num_words):
    n = texts.shape[2]
    model = TwoHeads(num_words, 2 * n)
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.02)
    for text in texts:
        ids = functional.pad(text, (0, 1), value=num_words)
        ids = torch.cat([ids, text], dim=-1)
        logits = model(ids[:, :-1])[:, n:]
        loss = -logits.log_softmax(-1).gather(-1, text[..., None]).mean()
        model.zero_grad()
        loss.backward()
        optimiser.step()
    return model.eval()


def by_einsum_and_one_hot(texts, num_words):
    n = texts.shape[-1]
    sizes = [(num_words + 1, 48), (2 * n, 48), (48, 48), (48, 48), (48, 48), (48, num_words + 1)]
    parts = [nn.Parameter(torch.randn(size) * (0.5 if place < 2 else 48**-0.5)) for place, size in enumerate(sizes)]
    words, places, A, B, C, D = parts

    def model(ids):
        x = functional.one_hot(ids, num_words + 1).float() @ words + places[: ids.size(1)]
        scores = torch.einsum("bie,bje->bij", x @ A, x @ B) / 48**0.5
        scores = scores + torch.full_like(scores, -torch.inf).triu(1)
        return (x + torch.einsum("bij,bjd->bid", torch.softmax(scores, -1), x @ C)) @ D

    optimiser = torch.optim.Adam(parts, lr=0.02)
    for text in texts:
        ids = torch.cat([text, torch.full_like(text[:, :1], num_words), text], 1)
        loss = functional.cross_entropy(model(ids[:, :-1]).transpose(1, 2)[..., n:], ids[:, n + 1 :])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return model


RIGHT = {"train_a_copier": (as_a_module, by_einsum_and_one_hot)}
