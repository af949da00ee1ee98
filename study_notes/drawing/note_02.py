"""Note 02: the five steps in numbers, and what dividing by √d is good for."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import clearhead as ch
from clearhead.languages import Said
from study_notes.drawing.paper import BLUE, GREY, INK, ORANGE, draws, paper, tidy

WORDS = ("고양이가", "쥐를", "잡았다")
X = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 0]], float)
W_Q = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [4, 2, 0, 0], [0, 0, 4, 0]], float)
W_K = np.diag([1.0, 1.0, 1.0, 0.0])
W_V = np.array([[7, 0], [0, 7], [7, 7], [0, 0]], float)
NAMES = (
    Said(en="words X", ko="단어 X"),
    Said(en="queries Q", ko="쿼리 Q"),
    Said(en="keys K", ko="키 K"),
    Said(en="scores / √4", ko="점수 / √4"),
    Said(en="weights", ko="가중치"),
    Said(en="values V", ko="값 V"),
    Said(en="output", ko="출력"),
)

WIDTHS = (1, 4, 16, 64, 256, 1024)
QUERIES, KEYS = 300, 16
WIDTH = Said(en="width d of queries and keys", ko="쿼리와 키의 폭 d")
MEASURES = (
    Said(en="variance of the scores", ko="점수의 분산"),
    Said(en="largest of 16 weights", ko="가중치 16개 가운데 최댓값"),
    Said(en="gradient of the weights", ko="가중치의 그래디언트"),
)
SCALED = Said(en="divided by √d", ko="√d로 나눔")
BARE = Said(en="not scaled", ko="나누지 않음")


@draws("02_five_steps")
def five_steps(language: str) -> Figure:
    """Every matrix of self-attention over three words, with its numbers; the last word's row is framed."""
    scores = ch.attention_scores(X @ W_Q, X @ W_K)
    weights = ch.attention_weights(scores)
    V = X @ W_V
    matrices = (X, X @ W_Q, X @ W_K, scores, weights, V, ch.mix_values(weights, V))
    framed = (True, True, False, True, True, False, True)  # keys and values are all heard
    figure, panels = paper(9.6, 1.75, len(matrices), gridspec_kw={"width_ratios": [m.shape[1] for m in matrices]})
    for axes, matrix, name, frame in zip(panels, matrices, NAMES, framed, strict=True):
        n, d = matrix.shape
        axes.imshow(matrix / matrix.max(), cmap="Blues", vmin=0, vmax=1.7, aspect="auto")
        for i, j in np.ndindex(n, d):
            number = f"{matrix[i, j]:g}" if matrix[i, j] == round(matrix[i, j]) else f"{matrix[i, j]:.2f}"
            axes.text(j, i, number, ha="center", va="center", fontsize=9, color=INK)
        if frame:
            box = Rectangle((-0.5, n - 1.5), d, 1, fill=False, edgecolor=ORANGE, linewidth=2, clip_on=False, zorder=3)
            axes.add_patch(box)
        axes.set_title(name(language), fontsize=10)
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
    figure.get_layout_engine().set(w_pad=0.08)
    panels[0].set_yticks(range(len(WORDS)), WORDS)
    panels[0].tick_params(length=0)
    return figure


@draws("02_why_scale")
def why_scale(language: str) -> Figure:
    """Variance, largest weight and gradient against the width, with √d and without."""
    figure, panels = paper(9.0, 2.7, 3)
    for scale, words, colour, marker in ((1.0, BARE, ORANGE, "s"), (None, SCALED, BLUE, "o")):
        curves = zip(*(measure(d, scale) for d in WIDTHS), strict=True)
        for axes, curve in zip(panels, curves, strict=True):
            axes.plot(WIDTHS, curve, color=colour, marker=marker, markersize=5, label=words(language))
    for axes, name in zip(panels, MEASURES, strict=True):
        axes.set_xscale("log", base=2)
        axes.set_xticks(WIDTHS, [f"{d:,}" for d in WIDTHS])
        axes.minorticks_off()
        axes.set_title(name(language), fontsize=11)
        axes.set_ylim(0, 1)
    panels[0].set_yscale("log", base=10)
    panels[0].set_ylim(0.5, 2000)
    panels[0].legend(frameon=False, loc="upper left", fontsize=9)
    panels[1].set_xlabel(WIDTH(language), color=GREY)
    return tidy(figure)


def measure(d: int, scale: float | None) -> tuple[float, float, float]:
    """Variance of the scores, the largest weight, and the sum of the slopes of each weight against its own score."""
    rng = np.random.default_rng(0)
    q, k = rng.standard_normal((QUERIES, 1, d)), rng.standard_normal((QUERIES, KEYS, d))
    scores = ch.attention_scores(q, k, scale=scale)
    weights = ch.attention_weights(scores)
    slopes = (weights * (1 - weights)).sum(axis=-1)
    return float(scores.var()), float(weights.max(axis=-1).mean()), float(slopes.mean())
