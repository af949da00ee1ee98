"""The fonts of a figure: one for most scripts, then one that really has Hangul.

matplotlib looks for each glyph along a list of families. DejaVu Sans, which matplotlib carries, comes first; after
it a Hangul font of the system or, where there is none, the one that koreanize-matplotlib carries. Of that package
only the font file is used: importing it would change the settings of every other figure in the process.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from matplotlib.font_manager import FontEntry, FontProperties, fontManager, get_font

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
