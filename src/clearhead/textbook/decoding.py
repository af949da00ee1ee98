"""Writing a translation, word by word: greedily, or with a beam of several drafts.

Sentences of equal length are decoded together and others apart, each without its padding. So the arithmetic for a
sentence is the same alone and in any batch, and its translation does not depend on its neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from clearhead import checks
from clearhead.textbook.softmax import log_sum_exp
from clearhead.textbook.transformer import DecoderCache, Transformer, checked_ids


class Translation(NamedTuple):
    """What was written for each sentence of (…), and what each word looked at.

    ids (…, n_t), without the start and with the end token, filled up with pad_id after the first `lengths` (…)
    log_probability (…), of the whole sequence; least_log_probability (…), of its least probable word
    cross_weights (…, blocks, h, n_t, n_s): row t is what was looked at when ids[t] was written, 0 where it is padding
    """

    ids: np.ndarray
    lengths: np.ndarray
    log_probability: np.ndarray
    least_log_probability: np.ndarray
    cross_weights: np.ndarray


class Drafts(NamedTuple):
    """k sequences of t words: ids (k, t), log_probability (k,) of each and least_log_probability (k,) of a word of it,
    cross_weights (k, blocks, h, t, n_s)."""

    ids: np.ndarray
    log_probability: np.ndarray
    least_log_probability: np.ndarray
    cross_weights: np.ndarray

    def select(self, indices: np.ndarray) -> Drafts:
        return Drafts(*(field[indices] for field in self))

    def extended(self, words: np.ndarray, log_probability: np.ndarray, weights: np.ndarray) -> Drafts:
        """One word longer: words (k,), the new log_probability (k,), weights (k, blocks, h, 1, n_s)."""
        ids = np.concatenate([self.ids, words[:, None]], axis=-1)
        least = np.minimum(self.least_log_probability, log_probability - self.log_probability)
        return Drafts(ids, log_probability, least, np.concatenate([self.cross_weights, weights], axis=-2))


def greedy(model: Transformer, source_ids: ArrayLike, *, bos_id: int, eos_id: int, max_len: int) -> Translation:
    """Write the most probable next word until the end token, or until there are `max_len` of them.

    source_ids (…, n_s), one sentence or any batch → Translation

    Of equally probable words the one with the lowest id is taken; pad_id is never written.
    """
    bos_id, eos_id, max_len = checked_limits(model, bos_id, eos_id, max_len)

    def search(sentences: np.ndarray) -> list[Drafts]:
        drafts, memory, mask, cache = beginning(model, sentences)
        running = np.ones(len(sentences), bool)
        while running.any() and drafts.ids.shape[-1] < max_len:
            totals, weights = next_words(model, drafts, bos_id, memory, mask, cache)
            words = np.where(running, totals.argmax(axis=-1), model.pad_id)
            log_probability = np.where(running, totals.max(axis=-1), drafts.log_probability)
            drafts = drafts.extended(words, log_probability, weights)
            running = running & (words != eos_id)
        return [drafts.select(np.array([i])) for i in range(len(sentences))]

    return translate(model, source_ids, search)


def beam(
    model: Transformer,
    source_ids: ArrayLike,
    *,
    bos_id: int,
    eos_id: int,
    max_len: int,
    width: int = 4,
    length_penalty: float = 0.6,
) -> Translation:
    """Keep the `width` best drafts at every step, and take the best of those that end.

    source_ids (…, n_s), one sentence or any batch → Translation

    Each step ranks all continuations of all drafts by probability, equal ones by draft and then by id. Those with the
    end token among the first `width` are finished; the first `width` without it live on. The search is over after
    `width` finished drafts, after `max_len` words, or when no live draft can win any more. The winner has the highest
    log_probability / ((5 + length) / 6) ** length_penalty, where 0 compares plain probabilities and so favours short
    sentences. Drafts cut off at `max_len` take part. A width of 1 does what `greedy` does.
    """
    bos_id, eos_id, max_len = checked_limits(model, bos_id, eos_id, max_len)
    width = checks.count("width", width)
    length_penalty = checks.number("length_penalty", length_penalty)
    if length_penalty < 0:
        raise ValueError(f"length_penalty must be at least 0, got {length_penalty:g} (0 compares plain probabilities)")

    def score(drafts: Drafts, length: int) -> float:
        """Of the best draft, were it to end at this length."""
        best = float(drafts.log_probability.max(initial=-np.inf))
        return best / math.pow((5 + length) / 6, length_penalty)

    def search(sentence: np.ndarray) -> Drafts:
        live, memory, mask, cache = beginning(model, sentence[None])
        best, best_score, num_finished = live, -np.inf, 0
        for length in range(1, max_len + 1):
            totals, weights = next_words(model, live, bos_id, memory, mask, cache)
            ranked = np.argsort(-totals, axis=None, kind="stable")[: 2 * width]
            ranked = ranked[~np.isneginf(totals.flat[ranked])]
            parents, words = np.divmod(ranked, totals.shape[-1])
            candidates = live.select(parents).extended(words, totals.flat[ranked], weights[parents])
            ending = np.flatnonzero(words[:width] == eos_id)
            living = np.flatnonzero(words != eos_id)[:width]
            for ended in [ending, living] if length == max_len else [ending]:
                if score(candidates.select(ended), length) > best_score:
                    best, best_score = candidates.select(ended[:1]), score(candidates.select(ended), length)
            num_finished += len(ending)
            live, parents = candidates.select(living), parents[living]
            # Words to come only lower the probability, and no length divides it by more than max_len does.
            if num_finished >= width or score(live, max_len) <= best_score:
                break
            memory, mask, cache = memory[parents], mask[parents], cache.select(parents)
        return best

    return translate(model, source_ids, lambda sentences: [search(sentence) for sentence in sentences])


def beginning(model: Transformer, sentences: np.ndarray) -> tuple[Drafts, np.ndarray, np.ndarray, DecoderCache]:
    """Empty drafts for sentences (k, n_s), and the memory, mask and cache to continue them with."""
    k, n_s = sentences.shape
    weights = np.zeros((k, model.num_decoder_layers, model.num_heads, 0, n_s), model.dtype)
    encoded = model.encode(sentences)
    return (
        Drafts(np.zeros((k, 0), int), np.zeros(k), np.zeros(k), weights),
        encoded.memory,
        encoded.mask,
        model.new_cache(),
    )


def next_words(
    model: Transformer, drafts: Drafts, bos_id: int, memory: np.ndarray, mask: np.ndarray, cache: DecoderCache
) -> tuple[np.ndarray, np.ndarray]:
    """The log-probability of every draft with every next word, and what the drafts look at to choose it.

    memory (k, n_s, d_model) → totals (k, target_vocab), weights (k, blocks, h, 1, n_s)
    """
    last = drafts.ids[:, -1:] if drafts.ids.shape[-1] else np.full((len(drafts.ids), 1), bos_id)
    logits, _, cross_weights = model.decode(last, memory, mask, cache=cache)
    logits = logits[:, 0].astype(np.float64)
    if np.isnan(logits).any() or np.isposinf(logits).any():
        raise ValueError("the model's logits contain NaN or +inf; its weights are broken, or its type is too narrow")
    if np.isneginf(np.delete(logits, model.pad_id, axis=-1)).all(axis=-1).any():
        raise ValueError("the model's logits are -inf for every word but padding, so there is nothing to write")
    log_probabilities = logits - log_sum_exp(logits)[:, None]
    log_probabilities[:, model.pad_id] = -np.inf
    return drafts.log_probability[:, None] + log_probabilities, np.stack(cross_weights, axis=1)


def translate(model: Transformer, source_ids: ArrayLike, search: Callable[[np.ndarray], list[Drafts]]) -> Translation:
    """Give `search` sentences (k, n) of one length at a time, and put what it finds for each back in its place."""
    source_ids = checked_ids("source_ids", source_ids, model.source_vocab)
    *leading, n_s = source_ids.shape
    if n_s == 0:
        raise ValueError(f"source_ids need at least 1 position to translate, got shape {source_ids.shape}")
    sentences = source_ids.reshape(-1, n_s)
    # A sentence of nothing but padding keeps one position, all of it masked.
    lengths = np.where(sentences != model.pad_id, np.arange(1, n_s + 1), 1).max(axis=-1)
    found: dict[int, Drafts] = {}
    for n in np.unique(lengths):
        rows = np.flatnonzero(lengths == n)
        found |= zip(rows.tolist(), search(sentences[rows, :n]), strict=True)

    b, n_t = len(sentences), max((np.count_nonzero(draft.ids != model.pad_id) for draft in found.values()), default=0)
    ids = np.full((b, n_t), model.pad_id)
    log_probability, least = np.zeros(b), np.zeros(b)
    weights = np.zeros((b, model.num_decoder_layers, model.num_heads, n_t, n_s), model.dtype)
    for row, draft in found.items():
        t = np.count_nonzero(draft.ids != model.pad_id)
        ids[row, :t] = draft.ids[0, :t]
        log_probability[row], least[row] = draft.log_probability[0], draft.least_log_probability[0]
        weights[row, :, :, :t, : lengths[row]] = draft.cross_weights[0, :, :, :t]
    return Translation(
        ids.reshape(*leading, n_t),
        (ids != model.pad_id).sum(axis=-1).reshape(leading),
        log_probability.reshape(leading),
        least.reshape(leading),
        weights.reshape(*leading, *weights.shape[1:]),
    )


def checked_limits(model: Transformer, bos_id: int, eos_id: int, max_len: int) -> tuple[int, int, int]:
    """Start and end tokens of the target vocabulary that are not padding, and a number of words."""
    for name, token in (("bos_id", bos_id), ("eos_id", eos_id)):
        if checks.count(name, token, least=0) >= model.target_vocab:
            raise ValueError(f"{name} must be in [0, {model.target_vocab - 1}], the target vocabulary, got {token}")
        if token == model.pad_id:
            raise ValueError(f"{name} must differ from pad_id, got {token} for both: padding is never looked at")
    return bos_id, eos_id, checks.count("max_len", max_len)
