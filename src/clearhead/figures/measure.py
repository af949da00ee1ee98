"""How much room a text takes, asked of the renderer before anything is placed. All lengths are inches."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any

from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties

from clearhead.figures.fonts import families

DPI = 120  # of the figure on a screen: 9 point text is then as large as the text around it in a notebook
NOTE_SIZE = 8.0  # points, of the smallest text that is not a label


def text_style(size: float) -> dict[str, Any]:
    """The keywords every text of a figure is drawn with.

    A token may hold dollar signs and is still no formula, whatever the settings of the process say.
    """
    return {
        "fontfamily": list(families()),
        "fontsize": size,
        "fontstyle": "normal",
        "fontweight": "normal",
        "parse_math": False,
        "usetex": False,
    }


@cache
def _renderer() -> Any:
    return RendererAgg(8, 8, DPI)  # type: ignore[no-untyped-call]


def text_size(text: str, size: float) -> tuple[float, float]:
    """Width and height of one line, the height never below that of a line with tall and deep letters."""
    width, rise, depth = _extent(text, size, families())
    _, usual_rise, usual_depth = _extent("lp", size, families())  # matplotlib makes no line lower than these two
    return width, max(rise, usual_rise) + max(depth, usual_depth)


@lru_cache(maxsize=4096)  # tokens repeat, and are measured again for each size and each axis
def _extent(text: str, size: float, fonts: tuple[str, ...]) -> tuple[float, float, float]:
    """Width, height above the baseline, depth below it."""
    properties = FontProperties(family=list(fonts), size=size)
    width, height, depth = _renderer().get_text_width_height_descent(text, properties, ismath=False)
    return width / DPI, (height - depth) / DPI, depth / DPI


def largest(texts: Iterable[str], size: float) -> tuple[float, float]:
    """The width of the widest and the height of the tallest."""
    sizes = [text_size(text, size) for text in texts] or [(0.0, 0.0)]
    return max(width for width, _ in sizes), max(height for _, height in sizes)


def wrap(text: str, size: float, width: float) -> list[str]:
    """Lines no wider than `width`: broken at spaces, or anywhere in a word that is wider than a line."""
    lines = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}" if line else word
            if text_size(longer, size)[0] <= width:
                line = longer
                continue
            if line:
                lines.append(line)
            line = ""
            for c in word:
                if line and text_size(line + c, size)[0] > width:
                    lines.append(line)
                    line = ""
                line += c
        lines.append(line)
    return lines
