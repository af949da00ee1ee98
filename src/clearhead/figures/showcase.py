"""The pictures of `clearhead visualize`: what a trained translator looks at while it reads and writes.

What each one is said to show is read off the weights, so that it is true of any other sentence or model as well.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from clearhead.figures import captions
from clearhead.figures.captions import LANGUAGES, Words
from clearhead.figures.cross import visualize_cross_attention
from clearhead.figures.head import visualize_head
from clearhead.figures.heatmap import visualize_attention
from clearhead.figures.layers import visualize_layers
from clearhead.figures.lines import visualize_lines
from clearhead.textbook.patterns import name_pattern

MOST_LINES = 40  # words on a side
BEGIN, END = "<begin>", "<end>"


class Picture(NamedTuple):
    """A figure, the name of its file, and the words that go with it."""

    name: str
    figure: Figure
    words: Words


class Read(NamedTuple):
    """A sentence, its translation, and all weights between their pieces, each (blocks, h, n, n)."""

    source: str
    target: str
    source_pieces: list[str]
    target_pieces: list[str]
    encoder: Float[np.ndarray, "blocks h n_s n_s"]
    decoder: Float[np.ndarray, "blocks h n_t n_t"]
    cross: Float[np.ndarray, "blocks h n_t n_s"]
    source_words: list[str]
    target_words: list[str]
    between_words: Float[np.ndarray, "t s"]
    reader: tuple[str, str]  # which heads between_words are of, in both languages


def read(translator: Any, text: str) -> Read:
    """Translate a text and keep all that was looked at. Raises ValueError for a text the translator cannot read."""
    from clearhead.translate import alignment, vocabulary  # a room further down, which only this command needs

    translated = translator.translate([text])[0]
    if not translated.target_ids:
        raise ValueError(f"the translator writes nothing for {text!r}, so nothing can be seen; try another text")
    given = [vocabulary.BEGIN, *translated.target_ids]
    output = translator.model(np.array([*translated.source_ids, vocabulary.END]), np.array(given))
    aligned = translated.aligned()

    def cut(text: str, spans: Any) -> list[str]:
        return [text[start:stop] for start, stop in spans]

    return Read(
        source=translated.source,
        target=translated.text,
        source_pieces=[*cut(translated.source, translated.source_spans), END],
        target_pieces=[BEGIN, *cut(translated.text, translated.target_spans)],
        encoder=np.stack(output.encoder_weights),
        decoder=np.stack(output.self_weights),
        cross=np.stack(output.cross_weights),
        source_words=cut(translated.source, aligned.source_words),
        target_words=cut(translated.text, aligned.target_words),
        between_words=alignment.between_words(
            translator.reader.of(aligned.weights),
            alignment.parts(aligned.target_spans, aligned.target_words),
            alignment.parts(aligned.source_spans, aligned.source_words),
        ),
        reader=captions.reader_name(translator.reader.layer, translator.reader.head),
    )


def pictures(seen: Read, language: str) -> list[Picture]:
    """All of them, with titles in one language."""
    of_one = LANGUAGES.index(language)
    return [
        _self_attention(seen, of_one),
        _causal_attention(seen, of_one),
        _heads(seen, of_one),
        _cross_attention(seen, of_one),
        _lines(seen, of_one),
        _every_head(seen, of_one),
    ]


def _self_attention(seen: Read, of_one: int) -> Picture:
    layer, head = telling_head(seen.encoder)
    weights = seen.encoder[layer, head]
    query, key, weight = strongest(weights, seen.source_pieces)
    words = captions.SELF_ATTENTION.filled(layer=layer, head=head, query=query, key=key, weight=weight)
    figure = visualize_head(weights, seen.source_pieces, title=words.heading[of_one])
    return Picture("self-attention", figure, words)


def _causal_attention(seen: Read, of_one: int) -> Picture:
    layer, head = telling_head(seen.decoder)
    weights = seen.decoder[layer, head]
    query, key, weight = strongest(weights, seen.target_pieces)
    future = float(np.triu(weights, 1).max(initial=0.0))
    words = captions.CAUSAL_ATTENTION.filled(layer=layer, head=head, query=query, key=key, weight=weight, future=future)
    figure = visualize_head(weights, seen.target_pieces, title=words.heading[of_one])
    return Picture("causal-attention", figure, words)


def _heads(seen: Read, of_one: int) -> Picture:
    blocks, h = seen.encoder.shape[:2]
    maps = seen.encoder.reshape(-1, *seen.encoder.shape[2:])
    counted = Counter(str(name) for name in np.ravel(name_pattern(maps).name)).most_common()
    found = tuple(", ".join(f"{captions.PATTERNS[name][i]} ({count})" for name, count in counted) for i in range(2))
    words = captions.HEADS.filled(count=blocks * h, found=found)
    names = [f"layer {layer}, head {head}" for layer in range(blocks) for head in range(h)]
    figure = visualize_attention(maps, seen.source_pieces, head_names=names, title=words.heading[of_one])
    return Picture("heads", figure, words)


def _cross_attention(seen: Read, of_one: int) -> Picture:
    looked_at = [seen.source_words[int(row.argmax())] for row in seen.between_words]
    pairs = [
        f"{word} → {there}"
        for word, there in zip(seen.target_words, looked_at, strict=True)
        if any(c.isalnum() for c in word)
    ]
    words = captions.CROSS_ATTENTION.filled(reader=seen.reader, pairs=", ".join(pairs))
    figure = visualize_cross_attention(
        seen.between_words,
        seen.target_words,
        seen.source_words,
        source_text=seen.source,
        target_text=seen.target,
        title=words.heading[of_one],
    )
    return Picture("cross-attention", figure, words)


def _lines(seen: Read, of_one: int) -> Picture:
    figure = visualize_lines(
        seen.between_words[:MOST_LINES, :MOST_LINES],
        seen.target_words[:MOST_LINES],
        key_tokens=seen.source_words[:MOST_LINES],
        title=captions.LINES.heading[of_one],
    )
    return Picture("lines", figure, captions.LINES)


def _every_head(seen: Read, of_one: int) -> Picture:
    stacks = {"encoder": seen.encoder, "decoder": seen.decoder, "cross": seen.cross}
    layers = {f"{name} {i}": weights for name, stack in stacks.items() for i, weights in enumerate(stack)}
    entropy = {(name, i): _entropy(head) for name, weights in layers.items() for i, head in enumerate(weights)}
    name, head = min(entropy, key=lambda place: entropy[place])
    words = captions.EVERY_HEAD.filled(name=name, head=head, least=entropy[name, head])
    figure = visualize_layers(list(layers.values()), layer_names=list(layers), title=words.heading[of_one])
    return Picture("every-head", figure, words)


def telling_head(weights: Float[np.ndarray, "blocks h n n"]) -> tuple[int, int]:
    """The layer and head whose queries look most decidedly elsewhere than at themselves and at the first position."""
    n = weights.shape[-1]
    elsewhere = ~np.eye(n, dtype=bool) & (np.arange(n) > 0)
    scores = np.where(elsewhere, weights, 0).max(axis=-1).mean(axis=-1)
    layer, head = np.unravel_index(int(scores.argmax()), scores.shape)
    return int(layer), int(head)


def strongest(weights: Float[np.ndarray, "n n"], pieces: list[str]) -> tuple[str, str, float]:
    """Of all pairs of two different pieces, not counting beginning and end, the one with the largest weight."""
    real = np.array([piece not in (BEGIN, END) for piece in pieces])
    others = np.where(real[:, None] & real & ~np.eye(len(pieces), dtype=bool), weights, -1.0)
    query, key = np.unravel_index(int(others.argmax()), others.shape)
    return pieces[query], pieces[key], float(weights[query, key])


def _entropy(weights: Float[np.ndarray, "n_q n_k"]) -> float:
    logarithms = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return float(0.0 - (weights * logarithms).sum(axis=-1).mean())
