"""The letters of a figure: fonts that have them, how much room they take, and tokens as labels. All lengths are inches.

matplotlib looks for each glyph along a list of families. DejaVu Sans, which matplotlib carries, comes first; after
it a Hangul font of the system or, where there is none, the one that koreanize-matplotlib carries. Of that package
only the font file is used: importing it would change the settings of every other figure in the process.

Room is asked of the renderer before anything is placed. How a token reads is said in text/labels.py; a figure has one
concern more, scripts that no installed font knows.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontEntry, FontProperties, fontManager, get_font

from clearhead.text.clusters import clusters, display_width, shorten
from clearhead.text.labels import JOINERS, escaped, visible

HANGUL_FAMILIES = (
    "Noto Sans CJK KR",
    "Noto Sans KR",
    "NanumGothic",
    "NanumBarunGothic",
    "Apple SD Gothic Neo",
    "Malgun Gothic",
    "AppleGothic",
    "Noto Sans CJK JP",  # the face by which matplotlib before 3.11 knows the whole CJK collection
)
OTHER_FAMILIES = ("Noto Sans CJK SC", "Arial Unicode MS", "Hiragino Sans", "Microsoft YaHei", "Segoe UI Symbol")
HANGUL = frozenset(range(0xAC00, 0xD7A4))  # 가 … 힣, and a font with only the common ones will not do
DPI = 120  # of the figure on a screen: 9 point text is then as large as the text around it in a notebook
SAVED_DPI = 200  # of PNG files, and of the maps inside SVG and PDF
NOTE_SIZE = 8.0  # points, of the smallest text that is not a label
NAME_SIZES = (10.0, 9.0, 8.0, 7.0)
LONGEST_LABEL = 18  # columns, of which a Hangul syllable takes two


@cache
def families() -> tuple[str, ...]:
    """The families to draw with, in the order in which a glyph is looked for."""
    hangul = next((family for family in HANGUL_FAMILIES if coverage(family) >= HANGUL), None)
    if hangul is None:
        hangul = carried_family()
    others = [family for family in OTHER_FAMILIES if coverage(family)]
    return ("DejaVu Sans", *([hangul] if hangul else []), *others)


@cache
def drawable_characters() -> frozenset[int]:
    """The code points that at least one of the families has a glyph for."""
    return frozenset().union(*(coverage(family) for family in families()))


def coverage(family: str) -> frozenset[int]:
    """The code points a family can draw; none if matplotlib does not know it in a weight for reading."""
    if not any(entry.name == family and _readable(entry) for entry in fontManager.ttflist):
        return frozenset()
    path = fontManager.findfont(FontProperties(family=[family]), fallback_to_default=False)
    return frozenset(get_font(path).get_charmap())


def carried_family() -> str | None:
    """Make the Hangul font of koreanize-matplotlib known to matplotlib and return its family."""
    package = find_spec("koreanize_matplotlib")  # finds the folder and runs nothing in it
    for folder in (package and package.submodule_search_locations) or ():
        path = Path(folder) / "fonts" / "NanumGothic.ttf"
        if path.is_file():
            fontManager.addfont(str(path))
            return str(get_font(str(path)).family_name)
    return None


def _readable(entry: FontEntry) -> bool:
    """Neither hairline nor black: a variable font is drawn in its default weight, which is often Thin."""
    weight = entry.weight
    return 300 <= weight <= 600 if isinstance(weight, int) else weight in ("normal", "regular", "book", "medium")


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
def _renderer(dpi: int) -> Any:
    return RendererAgg(8, 8, dpi)  # type: ignore[no-untyped-call]


def text_size(text: str, size: float) -> tuple[float, float]:
    """Width and height of one line, the height never below that of a line with tall and deep letters."""
    width, rise, depth = _extent(text, size, families(), DPI)
    _, usual_rise, usual_depth = _extent("lp", size, families(), DPI)  # matplotlib makes no line lower than these two
    return width, max(rise, usual_rise) + max(depth, usual_depth)


@lru_cache(maxsize=4096)  # tokens repeat, and are measured again for each size and each axis
def _extent(text: str, size: float, fonts: tuple[str, ...], dpi: int) -> tuple[float, float, float]:
    """Width, height above the baseline, depth below it."""
    properties = FontProperties(family=list(fonts), size=size)
    width, height, depth = _renderer(dpi).get_text_width_height_descent(text, properties, ismath=False)
    return width / dpi, (height - depth) / dpi, depth / dpi


def largest(texts: Iterable[str], size: float) -> tuple[float, float]:
    """The width of the widest and the height of the tallest."""
    sizes = [text_size(text, size) for text in texts] or [(0.0, 0.0)]
    return max(width for width, _ in sizes), max(height for _, height in sizes)


def wrap(text: str, size: float, width: float) -> list[str]:
    """Lines no wider than `width`: broken at spaces, or anywhere in a word that is wider than a line.

    Letters are fitted to pixels, so a line may be some percent wider in a file than on the screen; both must fit.
    """

    def fits(line: str) -> bool:
        return max(_extent(line, size, families(), dpi)[0] for dpi in (DPI, SAVED_DPI)) <= width

    lines = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}" if line else word
            if fits(longer):
                line = longer
                continue
            if line:
                lines.append(line)
            line = ""
            for c in word:
                if line and not fits(line + c):
                    lines.append(line)
                    line = ""
                line += c
        lines.append(line)
    return lines


def token_label(token: object, *, columns: int = LONGEST_LABEL) -> str:
    """One token as a label of at most `columns` columns.

    Spaces at either end show as ␣ (inside they stay spaces), a line break as ⏎, a tab as ⇥, an empty token as ∅,
    and a character that cannot be drawn as its code point, U+XXXX.
    """
    return shorten(drawable(visible(str(token))), columns)


def drawable(text: str) -> str:
    """The text with every character that no font can draw replaced by its code point. Line breaks stay.

    An emoji joined from several is replaced as one: U+1F469-1F467, in place of a code for each of its parts.
    """
    return "".join(map(_draw, clusters(escaped(unicodedata.normalize("NFC", text)))))


def _draw(cluster: str) -> str:
    parts = [c for c in cluster if c not in JOINERS and not "\ufe00" <= c <= "\ufe0f"]  # a style no font here has
    missing = [c for c in parts if c != "\n" and ord(c) not in drawable_characters()]
    if missing and len(parts) > 1 and all(unicodedata.category(c) in ("So", "Sk") for c in parts):
        return "U+" + "-".join(f"{ord(c):04X}" for c in parts)
    return "".join(_code(c) if c in missing else c for c in cluster if c in parts or _is_drawn_joiner(c))


def _is_drawn_joiner(c: str) -> bool:
    return c in JOINERS and ord(c) in drawable_characters()


def _code(c: str) -> str:
    return f"U+{ord(c):04X}"


def fitted(names: list[str], width: float, sizes: tuple[float, ...] = NAME_SIZES) -> tuple[list[str], float]:
    """Names made to fit above their maps: all of them smaller at first, then the long ones shorter."""
    names = [drawable(name.replace("\n", " ")) for name in names]
    size = next((size for size in sizes if largest(names, size)[0] <= width), sizes[-1])
    return [_shortened(name, size, width) for name in names], size


def _shortened(name: str, size: float, width: float) -> str:
    """As many columns of the name as fit."""
    if text_size(name, size)[0] <= width:
        return name
    short, long = 1, display_width(name)
    while short + 1 < long:
        columns = (short + long) // 2
        fits = text_size(shorten(name, columns), size)[0] <= width
        short, long = (columns, long) if fits else (short, columns)
    return shorten(name, short)
