from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from fontTools.subset import Subsetter
from fontTools.ttLib import TTFont
from matplotlib.font_manager import FontProperties

from clearhead.figures import fonts, visualize_attention

KOREAN = ["뷁", "쌻", "안녕", "ㅋㅋ", "훈민정음", "English"]
CARRIED = Path(find_spec("koreanize_matplotlib").submodule_search_locations[0]) / "fonts" / "NanumGothic.ttf"


def make_font(path: Path, family: str, *, characters: range | None = None, weight: int = 400) -> Path:
    """The carried font under another name, with only some of its characters or another weight."""
    font = TTFont(CARRIED)
    if characters is not None:
        subsetter = Subsetter()
        subsetter.populate(unicodes=characters)
        subsetter.subset(font)
    for record in font["name"].names:
        if record.nameID in (1, 16):
            record.string = family
    font["OS/2"].usWeightClass = weight
    font.save(path)
    return path


def draw_everywhere(tmp_path: Path) -> None:
    """Warnings are errors here, so a glyph that no font has would fail the test."""
    for suffix in (".png", ".svg", ".pdf"):
        path = tmp_path / f"map{suffix}"
        visualize_attention(np.full((6, 6), 1 / 6), KOREAN, title="훈민정음", save=path)
        assert path.stat().st_size > 5000


def test_hangul_is_drawn_on_this_machine(tmp_path):
    assert fonts.drawable_characters() >= fonts.HANGUL
    draw_everywhere(tmp_path)


def test_hangul_is_drawn_where_there_is_no_korean_font(bare_fonts, tmp_path):
    assert fonts.coverage("NanumGothic") == frozenset()
    assert fonts.families() == ("DejaVu Sans", "NanumGothic")
    assert bare_fonts.findfont(FontProperties(family=["NanumGothic"])) == str(CARRIED)
    draw_everywhere(tmp_path)
    assert "koreanize_matplotlib" not in sys.modules


def test_labels_are_drawn_with_hangul_glyphs_and_not_with_boxes(bare_fonts, tmp_path):
    path = tmp_path / "map.svg"
    visualize_attention(np.ones((1, 1)), ["뷁"], save=path)
    glyphs = {line.split('"')[1] for line in path.read_text().splitlines() if 'path id="NanumGothic' in line}
    assert glyphs, "no glyph of the Hangul font is in the picture"
    assert "LastResort" not in path.read_text()


def test_a_korean_font_of_the_system_comes_before_the_carried_one(bare_fonts, tmp_path):
    bare_fonts.addfont(str(make_font(tmp_path / "malgun.ttf", "Malgun Gothic")))
    assert fonts.families() == ("DejaVu Sans", "Malgun Gothic")
    draw_everywhere(tmp_path)


@pytest.mark.parametrize("fault", [{"characters": range(0xAC00, 0xB000)}, {"weight": 100}], ids=["gaps", "hairline"])
def test_a_font_is_not_trusted_for_its_name(bare_fonts, tmp_path, fault):
    bare_fonts.addfont(str(make_font(tmp_path / "noto.ttf", "Noto Sans KR", **fault)))
    assert fonts.families() == ("DejaVu Sans", "NanumGothic")


def test_without_any_hangul_font_a_label_gives_code_points(bare_fonts, monkeypatch):
    monkeypatch.setattr(fonts, "find_spec", lambda name: None)
    assert fonts.families() == ("DejaVu Sans",)
    figure = visualize_attention(np.ones((1, 1)), ["가"])
    figure.canvas.draw()
    assert figure.axes[0].get_xticklabels()[0].get_text() == "U+AC00"
