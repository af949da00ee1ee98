"""The pictures of `clearhead visualize`: what a trained translator looks at while it reads and writes.

What each one is said to show is read off the weights, so that it is true of any other sentence or model as well.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from clearhead.figures import (
    visualize_attention,
    visualize_cross_attention,
    visualize_head,
    visualize_layers,
    visualize_lines,
)
from clearhead.languages import LANGUAGES, RefusedError, Said, speaking
from clearhead.matrices import StoredMatrix
from clearhead.showcase import captions
from clearhead.showcase.captions import Words
from clearhead.textbook.patterns import name_pattern
from clearhead.translate.alignment import Reader, looks
from clearhead.translate.translator import Attention, Translator
from clearhead.translate.words import NO_WORD, doubt, reader_name

MOST_LINES = 40  # words on a side


class Picture(NamedTuple):
    """A figure, the name of its file, and the words that go with it."""

    name: str
    figure: Figure
    words: Words


class Subject(NamedTuple):
    """What the pictures are of: a translation, all attention in it, and the same between words."""

    attention: Attention
    source_words: list[str]
    target_words: list[str]
    between_words: Float[np.ndarray, "t s"]
    reader: Said  # which heads between_words are of


def read(translator: Translator, text: str) -> Subject:
    """Translate a text and keep all that was looked at. Raises ValueError for a text the translator cannot read."""
    attention = translator.attention(text)
    translated = attention.translated
    if not translated.target_ids:
        raise RefusedError(captions.WRITES_NOTHING.filled(text=text))
    aligned = translated.aligned()
    return Subject(
        attention,
        source_words=[translated.source[start:stop] for start, stop in aligned.source_words],
        target_words=[translated.text[start:stop] for start, stop in aligned.target_words],
        between_words=aligned.between_words(translator.reader),
        reader=reader_name(translator.reader),
    )


def pictures(subject: Subject, language: str) -> list[Picture]:
    """All of them, with everything that is written on them in one language."""
    makers = (_self_attention, _causal_attention, _heads, _cross_attention, _lines, _every_head)
    with speaking(language):
        return [make(subject) for make in makers]


def _self_attention(subject: Subject) -> Picture:
    layer, head = telling_head(subject.attention.encoder)
    weights, pieces = subject.attention.encoder[layer, head], subject.attention.source
    query, key, weight = strongest(weights, pieces)
    words = captions.SELF_ATTENTION.filled(layer=layer, head=head, query=query, key=key, weight=weight)
    figure = visualize_head(weights, pieces, title=words.heading())
    return Picture("self-attention", figure, words)


def _causal_attention(subject: Subject) -> Picture:
    layer, head = telling_head(subject.attention.decoder)
    weights, pieces = subject.attention.decoder[layer, head], subject.attention.given
    query, key, weight = strongest(weights, pieces)
    future = float(np.triu(weights, 1).max(initial=0.0))
    words = captions.CAUSAL_ATTENTION.filled(layer=layer, head=head, query=query, key=key, weight=weight, future=future)
    figure = visualize_head(weights, pieces, title=words.heading())
    return Picture("causal-attention", figure, words)


def _heads(subject: Subject) -> Picture:
    encoder = subject.attention.encoder
    blocks, h = encoder.shape[:2]
    maps = encoder.reshape(-1, *encoder.shape[2:])
    counted = Counter(str(name) for name in np.ravel(name_pattern(maps).name)).most_common()
    found = Said(
        *(
            ", ".join(f"{captions.PATTERNS[name](language)} ({count})" for name, count in counted)
            for language in LANGUAGES
        )
    )
    words = captions.HEADS.filled(count=blocks * h, found=found)
    names = [reader_name(Reader(layer, head))() for layer in range(blocks) for head in range(h)]
    figure = visualize_attention(maps, subject.attention.source, head_names=names, title=words.heading())
    return Picture("heads", figure, words)


def _cross_attention(subject: Subject) -> Picture:
    translated = subject.attention.translated
    doubted = (
        Said("", "") if translated.sure else captions.DOUBT.filled(doubt=doubt(translated.strange, translated.unusual))
    )
    pairs = Said(*(", ".join(_pairs(subject, language)) for language in LANGUAGES))
    words = captions.CROSS_ATTENTION.filled(reader=subject.reader, pairs=pairs, doubt=doubted)
    figure = visualize_cross_attention(
        subject.between_words,
        subject.target_words,
        subject.source_words,
        source_text=translated.source,
        target_text=translated.text,
        title=words.heading(),
    )
    return Picture("cross-attention", figure, words)


def _pairs(subject: Subject, language: str) -> list[str]:
    """Each word of the translation and the word that it looked at most, or that it was none."""
    return [
        f"{word} → {NO_WORD(language) if look.word is None else subject.source_words[look.word]}"
        for word, look in zip(subject.target_words, looks(subject.between_words), strict=True)
        if any(c.isalnum() for c in word)
    ]


def _lines(subject: Subject) -> Picture:
    figure = visualize_lines(
        subject.between_words[:MOST_LINES, :MOST_LINES],
        subject.target_words[:MOST_LINES],
        key_tokens=subject.source_words[:MOST_LINES],
        title=captions.LINES.heading(),
    )
    return Picture("lines", figure, captions.LINES)


def _every_head(subject: Subject) -> Picture:
    attention = subject.attention
    stacks = {"encoder": attention.encoder, "decoder": attention.decoder, "cross": attention.cross}
    layers = {
        captions.STACKS[name].filled(layer=i): weights
        for name, stack in stacks.items()
        for i, weights in enumerate(stack)
    }
    means = {name: StoredMatrix(weights).entropy.mean(axis=-1) for name, weights in layers.items()}
    entropy = {(name, i): float(mean) for name, heads in means.items() for i, mean in enumerate(heads)}
    name, head = min(entropy, key=lambda place: entropy[place])
    words = captions.EVERY_HEAD.filled(name=name, head=head, least=entropy[name, head])
    figure = visualize_layers(list(layers.values()), layer_names=[said() for said in layers], title=words.heading())
    return Picture("every-head", figure, words)


def telling_head(weights: Float[np.ndarray, "blocks h n n"]) -> tuple[int, int]:
    """The layer and head whose queries look most decidedly elsewhere than at themselves and at the first position."""
    n = weights.shape[-1]
    elsewhere = ~np.eye(n, dtype=bool) & (np.arange(n) > 0)
    scores = np.where(elsewhere, weights, 0).max(axis=-1).mean(axis=-1)
    layer, head = np.unravel_index(int(scores.argmax()), scores.shape)
    return int(layer), int(head)


def strongest(weights: Float[np.ndarray, "n n"], pieces: list[str]) -> tuple[str, str, float]:
    """Of all pairs of two different positions, beginning and end included, the one with the largest weight."""
    others = np.where(np.eye(len(pieces), dtype=bool), -1.0, weights)
    query, key = np.unravel_index(int(others.argmax()), others.shape)
    return pieces[query], pieces[key], float(weights[query, key])
