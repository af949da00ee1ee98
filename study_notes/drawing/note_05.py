"""The figure of note 05: masks, side by side."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from clearhead import masks
from clearhead.languages import Said
from study_notes.drawing.paper import BLUE, GREY, draws, paper

N = 6
GRAIN = 20  # dots along a side of a cell
SHOWN = (
    (Said(en="causal", ko="코잘"), masks.causal()),
    (Said(en="padding: 4 real keys", ko="패딩: 진짜 키 4개"), masks.key_lengths(4)),
    (Said(en="window of 3", ko="크기가 3인 윈도"), masks.window(3)),
    (Said(en="two documents", ko="문서 두 개"), masks.documents([0, 0, 0, 1, 1, 1])),
    (
        Said(en="causal, within documents", ko="문서 안에서만 코잘"),
        masks.causal() & masks.documents([0, 0, 0, 1, 1, 1]),
    ),
    (Said(en="causal, with a prefix of 3", ko="앞 3개는 양방향인 코잘"), masks.causal() | masks.prefix(3)),
)
QUERIES, KEYS = Said(en="query: who asks", ko="쿼리: 묻는 쪽"), Said(en="key: who is asked", ko="키: 답하는 쪽")


@draws("05_masks")
def six_masks(language: str) -> Figure:
    """Which key each query may ask under six rules."""
    figure, _ = paper(6.8, 4.9)
    figure.clear()
    for axes, (name, mask) in zip(figure.subplots(2, 3).flat, SHOWN, strict=True):
        cells(axes, mask)
        axes.set_title(name(language), fontsize=10)
    figure.supxlabel(f"{KEYS(language)} →", fontsize=10, color=GREY)
    figure.supylabel(f"← {QUERIES(language)}", fontsize=10, color=GREY)
    return figure


def cells(axes: Axes, mask: masks.Mask) -> None:
    """A filled square for each key that may be asked."""
    square = np.pad(np.ones((GRAIN - 2, GRAIN - 2)), 1)  # with a white edge
    image = np.kron(mask.array(N), square)
    sides = (-0.5, N - 0.5, N - 0.5, -0.5)
    axes.imshow(image, cmap=ListedColormap(["white", BLUE]), vmin=0, vmax=1, interpolation="nearest", extent=sides)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_color(GREY)
