"""The figures of note 08: real heads, two heads over a long text, and what silencing each head changes."""

from __future__ import annotations

import functools

import numpy as np
from matplotlib.figure import Figure

import clearhead as ch
from clearhead import masks
from clearhead.languages import Said
from clearhead.translate.sentences import sentences
from clearhead.translate.vocabulary import BEGIN, END
from study_notes.drawing.paper import BLUE, GREEN, GREY, ORANGE, draws, paper, tidy

SENTENCE = "고양이가 쥐를 잡았다"
UNSEEN = 24
LONG, WIDTH = 4096, 64

HEADS = Said(en="Self-attention of the decoder", ko="디코더의 셀프 어텐션")
HEAD = Said(en="block {block}, head {head}", ko="블록 {block}, 헤드 {head}")
LONG_HEADS = Said(en="4,096 positions", ko="위치 4,096개")
PREVIOUS, SINK = Said(en="the word before", ko="바로 앞 단어"), Said(en="a sink", ko="싱크")
SHARP = Said(en="mean of the largest weight of each row", ko="각 행에서 가장 큰 가중치의 평균")
CHANGED = Said(en="sentences that change without the head", ko="헤드가 없을 때 바뀌는 문장")
KINDS = {
    "encoder": (Said(en="encoder, self-attention", ko="인코더 셀프 어텐션"), GREEN, "s"),
    "decoder": (Said(en="decoder, self-attention", ko="디코더 셀프 어텐션"), BLUE, "^"),
    "cross": (Said(en="cross-attention", ko="크로스 어텐션"), ORANGE, "o"),
}


@draws("08_heads", suffix=".png")
def heads(language: str) -> Figure:
    """The four self-attention heads of the decoder that look most like a pattern, over one sentence."""
    seen = ch.Translator.load().attention(SENTENCE)
    score = ch.patterns.name_pattern(seen.decoder).score
    clearest = sorted(np.ndindex(score.shape), key=lambda at: -score[at])[:4]
    return ch.visualize_attention(
        np.stack([seen.decoder[at] for at in clearest]),
        seen.given,
        head_names=[HEAD(language, block=block, head=head) for block, head in clearest],
        title=HEADS(language),
        values=False,
    )


@draws("08_long", suffix=".png")
def long(language: str) -> Figure:
    """Two heads made by hand, over as many positions as would fill a sheet of 16 million weights."""
    angles = np.arange(LONG)[:, None] / 10000 ** (np.arange(WIDTH // 2) / (WIDTH // 2))
    place = 5 * np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    noise = 0.1 * np.random.default_rng(0).standard_normal((LONG, WIDTH))
    sink = np.where(np.arange(LONG)[:, None] == 0, 3.0, 0.0) + noise
    q = np.stack([np.roll(place, 1, axis=0), np.ones((LONG, WIDTH))]).astype(np.float32)
    k = np.stack([place, sink]).astype(np.float32)
    view = ch.look(q, k, mask=masks.causal())
    names = [PREVIOUS(language), SINK(language)]
    return view.plot(head_names=names, title=LONG_HEADS(language), scale="row", reduce="max")


@draws("08_silenced")
def silenced(language: str) -> Figure:
    """How sharply each head looks, against how many sentences change without it."""
    figure, axes = paper(6.0, 3.8)
    for kind, (name, colour, marker) in KINDS.items():
        sharp, changed = np.array([(s, c) for k, s, c in effects() if k == kind]).T
        axes.scatter(sharp, changed, s=42, color=colour, marker=marker, alpha=0.75, label=name(language))
    axes.set(xlabel=SHARP(language), ylabel=CHANGED(language))
    axes.yaxis.set_major_formatter("{x:.0%}")
    axes.set_ylim(bottom=-0.03, top=max(0.3, 1.1 * max(c for _, _, c in effects())))
    axes.grid(color=GREY, alpha=0.2, linewidth=0.6)
    axes.legend(frameon=False, fontsize=9)
    return tidy(figure)


@functools.cache
def effects() -> list[tuple[str, float, float]]:
    """Of every head: its kind, the mean of its rows' largest weights, and the share of texts that change without it.

    A greedy translation changes just where another word becomes the most probable after the words that were written.
    """
    translator = ch.Translator.load()
    model = translator.model
    texts = [SENTENCE, *(example.source for example in sentences(count_train=1, count_test=UNSEEN).test)]
    found = translator.translate(texts)
    sources = padded([[*each.source_ids, END] for each in found])
    given, wanted = (padded([[*a, *each.target_ids, *b] for each in found]) for a, b in (([BEGIN], []), ([], [END])))
    output = model(sources, given)
    kinds = {
        "encoder": ([block.attention for block in model.encoder], output.encoder_weights, sources != 0),
        "decoder": ([block.self_attention for block in model.decoder], output.self_weights, wanted != 0),
        "cross": ([block.cross_attention for block in model.decoder], output.cross_weights, wanted != 0),
    }
    seen = []
    for kind, (layers, weights, real) in kinds.items():
        for layer, of_layer in zip(layers, weights, strict=True):
            width = layer.d_model // layer.num_heads
            for head in range(layer.num_heads):
                kept, layer.W_O = layer.W_O, layer.W_O.copy()
                layer.W_O[head * width : (head + 1) * width] = 0
                chosen = model(sources, given).logits.argmax(axis=-1)
                layer.W_O = kept
                changed = ((chosen != wanted) & (wanted != 0)).any(axis=-1).mean()
                seen.append((kind, float(of_layer[:, head].max(axis=-1)[real].mean()), float(changed)))
    return seen


def padded(rows: list[list[int]]) -> np.ndarray:
    """Rows of token ids as one array, filled up with 0."""
    longest = max(map(len, rows))
    return np.array([[*row, *[0] * (longest - len(row))] for row in rows])
