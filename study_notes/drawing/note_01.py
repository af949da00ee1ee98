"""Note 01: asking around the table, and what attention makes of a word in a trained model."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

import clearhead as ch
from clearhead.languages import Said
from clearhead.translate.vocabulary import END
from study_notes.drawing.paper import BLUE, GREY, INK, ORANGE, draws, paper, tidy

WORDS = ("고양이가", "쥐를", "잡았다")
GLOSSES = (
    Said(en="the cat", ko="누가?"),
    Said(en="the mouse", ko="무엇을?"),
    Said(en="caught (asks)", ko="묻는 단어"),
)
ANIMALS = {  # as the one that catches, and as the one that is caught
    Said(en="cat", ko="고양이"): ("고양이가", "고양이를"),
    Said(en="mouse", ko="쥐"): ("쥐가", "쥐를"),
    Said(en="rabbit", ko="토끼"): ("토끼가", "토끼를"),
    Said(en="bird", ko="새"): ("새가", "새를"),
    Said(en="dog", ko="개"): ("개가", "개를"),
    Said(en="bear", ko="곰"): ("곰이", "곰을"),
    Said(en="tiger", ko="호랑이"): ("호랑이가", "호랑이를"),
    Said(en="chicken", ko="닭"): ("닭이", "닭을"),
}
BEFORE = Said(en="before attention", ko="어텐션 이전")
AFTER = Said(en="after attention", ko="어텐션 이후")
ROLES = ((BLUE, Said(en="catches", ko="잡는 쪽")), (ORANGE, Said(en="is caught", ko="잡히는 쪽")))


@draws("01_table")
def table(language: str) -> Figure:
    """One word listens to three, with the shares 4/7, 2/7 and 1/7."""
    figure, axes = paper(5.2, 3.0)
    shares = 2.0 ** np.array([2, 1, 0])
    shares /= shares.sum()
    places = np.array([[-1.0, 0.6], [1.0, 0.6], [0.0, -0.7]])
    asking = places[2]
    turn = np.linspace(-1, 1, 60) * np.pi
    around = asking + [0.33, 0] + 0.15 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    lines = [*(np.linspace(place, asking, 60) for place in places[:2]), around]
    beside = [(-0.72, -0.12), (0.72, -0.12), (0.6, -0.7)]

    axes.add_patch(Ellipse((0, 0), 2.3, 1.35, facecolor="#f3f3f1", edgecolor="none"))
    for line, share, place in zip(lines, shares, beside, strict=True):
        axes.plot(*line.T, color=ORANGE, linewidth=14 * share, alpha=0.85)
        axes.text(*place, f"{round(7 * share)}/7", ha="center", va="center", color=INK, fontsize=12)
    for i, (word, place) in enumerate(zip(WORDS, places, strict=True)):
        edge, above = (ORANGE, -0.28) if i == 2 else (BLUE, 0.28)
        box = {"boxstyle": "round,pad=0.45", "facecolor": "white", "edgecolor": edge, "linewidth": 1.8}
        axes.text(*place, word, ha="center", va="center", fontsize=14, bbox=box, zorder=3)
        axes.text(place[0], place[1] + above, GLOSSES[i](language), ha="center", va="center", color=GREY)
    axes.set(xlim=(-1.5, 1.5), ylim=(-1.12, 1.0))
    axes.set_axis_off()
    return figure


LETTERING = 0.065  # the height of a name, of that of the picture


@draws("01_before_and_after")
def before_and_after(language: str) -> Figure:
    """Eight animals that catch and are caught: their vectors in the translator, before attention and after."""
    before, after = _animals()
    figure, (left, right) = paper(7.2, 3.4, 2)
    for axes, vectors, title in ((left, before[:, :1, :1], BEFORE), (right, after, AFTER)):
        flat = _flattened(vectors)  # (animals, roles, others, 2)
        for role, (colour, words) in zip(range(flat.shape[1]), ROLES, strict=False):
            colour, label = (colour, words(language)) if axes is right else (INK, None)
            axes.scatter(*flat[:, role].reshape(-1, 2).T, s=13, color=colour, label=label, linewidth=0)
        places = []
        for points in flat:
            centres = points.mean(axis=1)  # (roles, 2)
            axes.plot(*centres.T, color=GREY, linewidth=0.7, alpha=0.6, zorder=0)
            places.append((points.reshape(-1, 2)[:, 0].max(), centres[centres[:, 0].argmax(), 1]))
        for name, place in zip(ANIMALS, _apart(places, LETTERING * np.ptp(flat[..., 1])), strict=True):
            axes.annotate(name(language), place, xytext=(5, 0), textcoords="offset points", va="center")
        axes.set_title(title(language), fontsize=11)
        axes.set(xticks=[], yticks=[])
        axes.margins(x=0.25, y=0.1)
    right.legend(frameon=False, fontsize=9, loc="best", handletextpad=0.1)
    return tidy(figure)


def _apart(places: list[tuple[float, float]], least: float) -> list[tuple[float, float]]:
    """The same places, those that lie closer above each other than `least` moved upwards."""
    moved = dict(enumerate(places))
    below = -np.inf
    for number in sorted(moved, key=lambda number: places[number][1]):
        x, y = places[number]
        below = max(y, below + least)
        moved[number] = (x, below)
    return list(moved.values())


def _animals() -> tuple[np.ndarray, np.ndarray]:
    """The first word of each sentence "A B 잡았다" as it enters the encoder and as it leaves it.

    → before and after (animals, 2, animals − 1, d): every animal in both roles, with each of the others
    """
    translator = ch.Translator.load()
    model, found = translator.model, []
    for name in ANIMALS:
        for role in (0, 1):
            for other in (animal for animal in ANIMALS if animal != name):
                ids, _ = translator.vocabulary.encode(f"{ANIMALS[name][role]} {ANIMALS[other][1 - role]} 잡았다")
                found.append((model.source_embedding[ids[0]], model.encode(np.array([*ids, END])).memory[0]))
    shape = (len(ANIMALS), 2, len(ANIMALS) - 1, model.d_model)
    before, after = (np.array(column).reshape(shape) for column in zip(*found, strict=True))
    return before, after


def _flattened(vectors: np.ndarray) -> np.ndarray:
    """The two directions in which the vectors differ most: (…, d) → (…, 2)."""
    centred = vectors - vectors.reshape(-1, vectors.shape[-1]).mean(axis=0)
    directions = np.linalg.svd(centred.reshape(-1, vectors.shape[-1]), full_matrices=False)[2][:2]
    return centred @ directions.T
