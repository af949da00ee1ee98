"""The model that is trained, and how it writes translations for many sentences at once.

It is `clearhead.torch.Transformer` with one vocabulary for both languages. Whether it has learned anything is found out
by letting it write on its own, greedily: with the right words put before it at every step, a broken model can look
perfect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch
from jaxtyping import Int

from clearhead import checks
from clearhead.torch.transformer import Transformer
from clearhead.translate.vocabulary import BEGIN, END, PAD

SENTENCES_AT_ONCE = 256


@dataclass(frozen=True)
class Shape:
    """How large the model is. Pre-norm, and one embedding for source, target and output.

    One encoder layer, two decoder layers: with more layers in the encoder what a word says moves to its neighbours, and
    cross-attention follows it there. Measured on dates, the best reader aligns 100 % of the content words with one
    layer and 94 % with two, at the same accuracy.
    """

    d_model: int = 64
    num_heads: int = 4
    num_layers: int = 1
    num_decoder_layers: int = 2
    d_ff: int = 192
    dropout: float = 0.0

    def build(self, vocabulary_size: int, seed: int) -> Transformer:
        """A model that knows nothing yet; the same seed gives the same weights."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(checks.count("seed", seed, least=0))
            return Transformer(vocabulary_size, vocabulary_size, norm_first=True, tie="all", pad_id=PAD, **asdict(self))


def padded(rows: Sequence[Sequence[int]]) -> Int[np.ndarray, "b n"]:
    """Rows of ids of any lengths, filled up with PAD → (b, n), n being the longest."""
    ids = np.full((len(rows), max(map(len, rows), default=0)), PAD, np.int64)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
    return ids


def write(model: Transformer, sources: Sequence[Sequence[int]], *, max_len: int) -> list[list[int]]:
    """The most probable next piece, again and again until END: the translation of each source, without END.

    sources: rows of ids → rows of ids, at most `max_len` each. Sentences of similar length are written together, and
    each leaves the batch when it ends. PAD is never written.
    """
    max_len = checks.count("max_len", max_len)
    order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
    written: dict[int, list[int]] = {}
    training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            for start in range(0, len(order), SENTENCES_AT_ONCE):
                rows = order[start : start + SENTENCES_AT_ONCE]
                written |= zip(rows, _write(model, [sources[i] for i in rows], max_len), strict=True)
    finally:
        model.train(training)
    return [written[i] for i in range(len(sources))]


def _write(model: Transformer, sources: Sequence[Sequence[int]], max_len: int) -> list[list[int]]:
    memory, real = model.encode(torch.from_numpy(padded(sources)))
    cache = model.new_cache()
    written: list[list[int]] = [[] for _ in sources]
    running = torch.arange(len(sources))
    last = torch.full((len(sources), 1), BEGIN)
    for _ in range(max_len):
        logits = model.decode(last, memory, real, cache=cache)[:, 0]  # (running, vocabulary)
        logits[:, PAD] = -torch.inf
        last = logits.argmax(dim=-1, keepdim=True)
        for row, piece in zip(running.tolist(), last[:, 0].tolist(), strict=True):
            if piece != END:
                written[row].append(piece)
        (going,) = torch.nonzero(last[:, 0] != END, as_tuple=True)
        if len(going) == 0:
            break
        if len(going) < len(running):
            running, last, memory, real = running[going], last[going], memory[going], real[going]
            cache = cache.select(going)
    return written
