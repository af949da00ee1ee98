"""Note 04: sinusoids, likeness by distance, and positions longer than trained."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import clearhead as ch
from clearhead.languages import Said
from study_notes.drawing.paper import BLUE, COLOURS, GREEN, GREY, INK, ORANGE, draws, paper, tidy

SEAT = Said(en="seat", ko="자리")
COLUMN = Said(en="column (two to a clock hand)", ko="열 (두 열이 시곗바늘 하나)")
FAR = Said(en="seats between", ko="떨어진 자리 수")
SINUSOID = Said(en="sinusoids", ko="사인·코사인")
ROPE = Said(en="RoPE", ko="RoPE")
ALIBI = Said(en="ALiBi", ko="ALiBi")
SLOPE = Said(en="slope 1/{number}", ko="경사 1/{number}")
TABLE = Said(en="learned table", ko="학습한 표")
FOUND = Said(en="weight on the word before", ko="바로 앞 단어의 가중치")
TRAINED = Said(en="trained up to here", ko="학습은 여기까지")

TRAINED_ON, LENGTH, WIDTH, STEPS = 32, 128, 32, 300


@draws("04_clock_hands")
def clock_hands(language: str) -> Figure:
    """The sinusoids of 64 positions, 32 columns wide."""
    figure, axes = paper(6.4, 3.2)
    image = axes.imshow(ch.positional_encoding(64, 32), cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
    axes.set_xlabel(COLUMN(language), color=GREY)
    axes.set_ylabel(SEAT(language), color=GREY)
    figure.colorbar(image, ticks=[-1, 0, 1]).outline.set_visible(False)
    return tidy(figure)


@draws("04_by_distance")
def by_distance(language: str) -> Figure:
    """How alike two positions are by the number of positions between them, in three encodings."""
    far, d = np.arange(65), 64
    start = np.random.default_rng(0).standard_normal((500, 1, d))
    turned = ch.rope(np.repeat(start, len(far), axis=1))
    waves = ch.positional_encoding(len(far), d)
    figure, panels = paper(9.6, 2.7, 3, sharey=True)
    panels[0].plot(far, waves @ waves[0] / (d / 2), color=BLUE)
    panels[1].plot(far, (turned @ start.swapaxes(1, 2)).mean(axis=0)[:, 0] / d, color=ORANGE)
    slopes = ch.alibi_slopes(8)
    fading = np.exp(ch.alibi(1, len(far), 8)[:, 0, ::-1])
    for head, colour in zip((0, 2, 4, 7), COLOURS, strict=False):
        label = SLOPE(language, number=round(1 / slopes[head]))
        panels[2].plot(far, fading[head], color=colour, label=label)
    panels[2].legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))
    for axes, title in zip(panels, (SINUSOID, ROPE, ALIBI), strict=True):
        axes.set_title(title(language), fontsize=11)
        axes.set(ylim=(0, 1.05), xticks=[0, 16, 32, 48, 64])
    panels[1].set_xlabel(FAR(language), color=GREY)
    return tidy(figure)


@draws("04_longer")
def longer(language: str) -> Figure:
    """A head trained on 32 positions to find the word before, seat by seat over 128."""
    figure, axes = paper(8.0, 2.9)
    styles = ((TABLE, GREEN), (SINUSOID, BLUE), (ROPE, ORANGE))
    for (name, colour), features in zip(styles, _features(), strict=True):
        axes.plot(np.arange(1, LENGTH), _weight_before(features), color=colour, label=name(language))
    axes.axvline(TRAINED_ON - 0.5, color=GREY, linestyle="--", linewidth=1)
    axes.text(TRAINED_ON + 1, 1.09, TRAINED(language), color=GREY, fontsize=9, va="center")
    axes.set(ylim=(-0.03, 1.16), yticks=[0, 0.5, 1], xlim=(0, LENGTH))
    axes.set_xlabel(SEAT(language), color=GREY)
    axes.set_ylabel(FOUND(language), color=INK)
    axes.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return tidy(figure)


def _features() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """By what numbers each encoding lets two positions enter a score, (n, n, numbers): table, sinusoids, RoPE."""
    n, d = LENGTH, WIDTH
    table, waves = np.random.default_rng(0).standard_normal((n, d)), ch.positional_encoding(n, d)
    angles = (np.arange(n)[:, None, None] - np.arange(n)[:, None]) * ch.rope_frequencies(d)
    products = (np.einsum("ia,jb->ijab", rows, rows).reshape(n, n, -1) for rows in (table, waves))
    return *products, np.concatenate([np.cos(angles), np.sin(angles)], axis=-1)


def _weight_before(features: np.ndarray, rate: float = 0.05) -> np.ndarray:
    """What each word gives the one before it, (n − 1,), after training on the first positions with Adam."""
    n = TRAINED_ON
    seen, allowed, wanted = features[:n, :n], ch.create_causal_mask(n), ch.patterns.previous_token(n)
    theta, m, v = (np.zeros(features.shape[-1]) for _ in range(3))
    for t in range(1, STEPS + 1):
        weights = ch.softmax(np.where(allowed, seen @ theta, -np.inf))
        gradient = np.einsum("ij,ijp->p", weights - wanted, seen) / n
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        theta -= rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    causal = ch.create_causal_mask(len(features))
    return np.diag(ch.softmax(np.where(causal, features @ theta, -np.inf)), -1)
