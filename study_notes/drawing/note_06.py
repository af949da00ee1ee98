"""The figures of note 06: the Transformer as boxes, the alignment of one sentence, and how alignment is learned."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

import clearhead as ch
from clearhead.languages import Said
from study_notes.drawing.paper import BLUE, GREY, INK, ORANGE, draws, paper, tidy

SOURCE, TARGET = "고양이가 쥐를 잡았다", "The cat caught the mouse"
STEPS, LOOK_EVERY, JUDGED = 600, 50, 200
FILMED = (0, 100, 200, STEPS)

ENCODER = Said(en="encoder, once for a sentence", ko="인코더: 문장마다 한 번")
DECODER = Said(en="decoder, once for a word", ko="디코더: 단어마다 한 번")
EMBEDDING = Said(en="embedding + positions", ko="임베딩 + 위치")
SELF = Said(en="self-attention", ko="셀프 어텐션")
CAUSAL = Said(en="self-attention, causal", ko="셀프 어텐션 (코잘 마스크)")
CROSS = Said(en="cross-attention", ko="크로스 어텐션")
FEED_FORWARD = Said(en="feed-forward", ko="피드 포워드")
NEXT = Said(en="most probable next word", ko="가장 확률이 높은 다음 단어")
MEMORY = Said(en="memory:\nkeys, values", ko="메모리:\n키, 값")
AROUND = Said(
    en="every box inside a frame has a residual connection and a layer normalisation of its own",
    ko="테두리 안의 상자마다 잔차 연결과 층 정규화가 하나씩 있습니다",
)
ALIGNMENT = Said(en="Which word is looked at while each word is written", ko="단어를 쓸 때 보는 단어")
STEP = Said(en="training step", ko="학습 단계")
ERRORS = Said(en="errors on unseen sentences", ko="본 적 없는 문장의 오류")
OF_WORDS = Said(en="look at the wrong word", ko="엉뚱한 단어를 봄")
OF_SENTENCES = Said(en="sentences not right", ko="틀린 문장")
AT_STEP = Said(en="step {step}", ko="{step}단계")


@draws("06_transformer", suffix=".png")
def transformer(language: str) -> Figure:
    """Encoder and decoder side by side, with the one road between them."""
    figure, axes = paper(6.8, 4.0)
    axes.set(xlim=(0, 10), ylim=(-0.6, 5.6))
    axes.set_axis_off()
    frame(axes, 0.2, 1.4, 3.6, 1.95)
    frame(axes, 6.05, 1.4, 3.6, 2.8)
    left = [box(axes, 2.0, y, text(language)) for y, text in ((1.95, SELF), (2.8, FEED_FORWARD))]
    right = [
        box(axes, 7.85, y, text(language), ORANGE if text is CROSS else BLUE)
        for y, text in ((1.95, CAUSAL), (2.8, CROSS), (3.65, FEED_FORWARD))
    ]
    for x, words, stack, name in ((2.0, SOURCE, left, ENCODER), (7.85, "<begin> The cat", right, DECODER)):
        ends = [0.35, box(axes, x, 0.9, EMBEDDING(language), GREY), *stack]
        for low, high in itertools.pairwise(ends):
            arrow(axes, (x, low + (0 if low == ends[0] else 0.28)), (x, high - 0.28))
        axes.text(x, 0.12, words, ha="center", va="center", fontsize=11, color=INK)
        axes.text(x, -0.4, name(language), ha="center", va="center", fontsize=9, color=GREY)
    arrow(axes, (7.85, 3.93), (7.85, 4.7))
    axes.text(7.85, 4.92, f"{NEXT(language)}: caught", ha="center", va="center", fontsize=11, color=INK)
    arrow(axes, (3.69, 2.8), (6.16, 2.8), ORANGE)
    axes.text(4.92, 3.15, MEMORY(language), ha="center", va="center", fontsize=9, color=ORANGE)
    axes.text(5, 5.45, AROUND(language), ha="center", va="center", fontsize=8.5, color=GREY)
    return figure


def frame(axes: Axes, x: float, y: float, width: float, height: float) -> None:
    """The frame around a block."""
    style = {"boxstyle": "round,pad=0.05", "facecolor": "#f5f5f5", "edgecolor": GREY, "linewidth": 1}
    axes.add_patch(FancyBboxPatch((x, y), width, height, **style))


def box(axes: Axes, x: float, y: float, text: str, colour: str = BLUE) -> float:
    """A box around (x, y) with a text in it; gives back y."""
    style = {"boxstyle": "round,pad=0.04", "facecolor": "white", "edgecolor": colour, "linewidth": 1.6}
    axes.add_patch(FancyBboxPatch((x - 1.65, y - 0.24), 3.3, 0.48, **style))
    axes.text(x, y, text, ha="center", va="center", fontsize=10, color=INK)
    return y


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str = INK) -> None:
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=11, color=colour, linewidth=1.3))


@draws("06_alignment")
def alignment(language: str) -> Figure:
    """The words of one sentence pair and the weights between them."""
    translator = ch.Translator.load()
    (found,) = translator.translate([SOURCE])
    aligned = found.aligned()
    return ch.visualize_cross_attention(
        aligned.between_words(translator.reader),
        [found.text[slice(*span)] for span in aligned.target_words],
        [SOURCE[slice(*span)] for span in aligned.source_words],
        title=ALIGNMENT(language),
    )


class Learned(NamedTuple):
    """Steps with the two error rates at each, and the weights between the words of our sentence at some of them."""

    steps: list[int]
    of_words: list[float]
    of_sentences: list[float]
    film: dict[int, np.ndarray]
    words: tuple[list[str], list[str]]  # target and source


@draws("06_learning", slow=True)
def learning(language: str) -> Figure:
    """Errors falling while a translator is trained, and one sentence as it looks meanwhile."""
    learned = training()
    figure, _ = paper(7.6, 3.6)
    figure.clear()
    left, *maps = (figure.add_subplot(place) for place in _places(figure))
    left.plot(learned.steps, learned.of_words, color=ORANGE, marker="o", markersize=3, label=OF_WORDS(language))
    left.plot(learned.steps, learned.of_sentences, color=BLUE, marker="o", markersize=3, label=OF_SENTENCES(language))
    left.set(xlabel=STEP(language), ylabel=ERRORS(language), ylim=(-0.02, 1.04))
    left.yaxis.set_major_formatter("{x:.0%}")
    left.legend(frameon=False, fontsize=9)
    tidy(figure)
    for axes, (step, weights) in zip(maps, learned.film.items(), strict=True):
        axes.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axes.set_title(AT_STEP(language, step=step), fontsize=9)
        targets, sources = learned.words
        axes.set_yticks(range(len(targets)), targets if axes in maps[::2] else [""] * len(targets))
        axes.set_xticks(range(len(sources)), sources if axes in maps[2:] else [""] * len(sources))
        axes.tick_params(length=0, labelsize=8)
        axes.spines[:].set_visible(True)
    return figure


def _places(figure: Figure) -> list[object]:
    """One large place at the left, and two rows of two at the right."""
    grid = figure.add_gridspec(2, 3, width_ratios=(1.7, 1, 1))
    return [grid[:, 0], grid[0, 1], grid[0, 2], grid[1, 1], grid[1, 2]]


@functools.cache
def training() -> Learned:
    """Train a translator of sentences, stopping now and then to judge it by sentences it has never seen."""
    from clearhead.translate.alignment import Reader
    from clearhead.translate.batches import Corpus
    from clearhead.translate.recipes import RECIPES, make_tasks
    from clearhead.translate.report import judge
    from clearhead.translate.training import Trainer, torch_threads
    from clearhead.translate.translator import Translator
    from clearhead.translate.vocabulary import Vocabulary

    (task,) = make_tasks("sentences")
    recipe, vocabulary = RECIPES["sentences"], Vocabulary(task.pieces)
    settings = replace(recipe.settings, steps=STEPS)
    trainer = Trainer(task.name, Corpus.encoded(task.train, vocabulary), vocabulary, recipe.shape, settings)
    learned, pictures = Learned([], [], [], {}, ([], [])), {}
    reader: Reader | None = None
    with torch_threads(settings.threads):
        while True:
            if trainer.step % LOOK_EVERY == 0:
                translator = Translator(trainer.model.to_textbook(), vocabulary, task.name, trainer.corpus.longest)
                verdict = judge(translator, task.test[:JUDGED])
                heads = [score for score in verdict.scores if score.reader.head is not None]
                learned.steps.append(trainer.step)
                learned.of_words.append(heads[0].error_rate)
                learned.of_sentences.append(1 - verdict.exact)
                reader = heads[0].reader
                if trainer.step in FILMED:
                    pictures[trainer.step] = translator.forced(SOURCE, TARGET).aligned()
            if trainer.step >= STEPS:
                break
            trainer.advance()
    assert reader is not None
    for step, aligned in pictures.items():
        learned.film[step] = aligned.between_words(reader)  # the head that is best in the end, all along
        learned.words[0][:] = [TARGET[slice(*span)] for span in aligned.target_words]
        learned.words[1][:] = [SOURCE[slice(*span)] for span in aligned.source_words]
    return learned
