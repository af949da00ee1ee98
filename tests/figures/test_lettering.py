from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from fontTools.subset import Subsetter
from fontTools.ttLib import TTFont
from hypothesis import given, strategies as st
from matplotlib.font_manager import FontProperties

from clearhead.figures import lettering, visualize_attention
from clearhead.figures.lettering import drawable, drawable_characters, text_size, text_style, token_label, wrap
from clearhead.figures.sheet import Sheet
from clearhead.text.clusters import display_width

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


# Fonts


def test_hangul_is_drawn_on_this_machine(tmp_path):
    assert lettering.drawable_characters() >= lettering.HANGUL
    draw_everywhere(tmp_path)


def test_hangul_is_drawn_where_there_is_no_korean_font(bare_fonts, tmp_path):
    assert lettering.coverage("NanumGothic") == frozenset()
    assert lettering.families() == ("DejaVu Sans", "NanumGothic")
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
    assert lettering.families() == ("DejaVu Sans", "Malgun Gothic")
    draw_everywhere(tmp_path)


@pytest.mark.parametrize("fault", [{"characters": range(0xAC00, 0xB000)}, {"weight": 100}], ids=["gaps", "hairline"])
def test_a_font_is_not_trusted_for_its_name(bare_fonts, tmp_path, fault):
    bare_fonts.addfont(str(make_font(tmp_path / "noto.ttf", "Noto Sans KR", **fault)))
    assert lettering.families() == ("DejaVu Sans", "NanumGothic")


def test_without_any_hangul_font_a_label_gives_code_points(bare_fonts, monkeypatch):
    monkeypatch.setattr(lettering, "find_spec", lambda name: None)
    assert lettering.families() == ("DejaVu Sans",)
    figure = visualize_attention(np.ones((1, 1)), ["가"])
    figure.canvas.draw()
    assert figure.axes[0].get_xticklabels()[0].get_text() == "U+AC00"


# Room


@pytest.mark.parametrize("text", ["attention", "어텐션", "gj", "a", "mixed 한글 Å"])
def test_measured_is_what_is_drawn(text):
    sheet = Sheet(5.0, 2.0)
    box = sheet.write(text, 1.0, 1.0, 9.0).get_window_extent()
    width, height = text_size(text, 9.0)
    assert box.width / sheet.dpi == pytest.approx(width, abs=0.02)
    assert box.height / sheet.dpi == pytest.approx(height, abs=0.02)


def test_lines_are_broken_at_spaces_and_long_words_anywhere():
    assert wrap("one two", 10.0, 5.0) == ["one two"]
    assert wrap("one two", 10.0, text_size("one t", 10.0)[0]) == ["one", "two"]
    assert wrap("one\ntwo", 10.0, 5.0) == ["one", "two"]
    lines = wrap("어텐션" * 30, 10.0, 2.0)
    assert "".join(lines) == "어텐션" * 30
    assert all(text_size(line, 10.0)[0] <= 2.0 for line in lines)
    assert 5 <= len(lines) <= 8  # by the font this machine has


def test_a_style_is_complete():
    assert set(text_style(9.0)) == {"fontfamily", "fontsize", "fontstyle", "fontweight", "parse_math", "usetex"}


# Tokens


@pytest.mark.parametrize(
    ("token", "label"),
    [
        ("word", "word"),
        (" word", "␣word"),
        ("word  ", "word␣␣"),
        ("New York", "New York"),
        ("   ", "␣␣␣"),
        ("\n", "⏎"),
        (" \n ", "␣⏎␣"),
        ("a\r\n\tb", "a↵⏎⇥b"),
        ("", "∅"),
        ("Ġthe", "Ġthe"),
        ("▁한국", "▁한국"),
        ("\u1112\u1161\u11ab", "한"),  # three letters that are one syllable
        ("\x00", "U+0000"),
        ("a\u200bb", "aU+200Bb"),
        ("\u00a0", "U+00A0"),
        ("\u202eabc", "U+202Eabc"),  # would turn the rest around
        ("\udced", "U+DCED"),  # a byte that is no text
        ("\U0001f9ff", "U+1F9FF"),
        ("👩\u200d👧", "U+1F469-1F467"),  # an emoji joined from two is one
        ("👩\u200d👩\u200d👧\u200d👦", "U+1F469-1F46…1F466"),
        ("👍🏽", "U+1F44D-1F3FD"),
        ("🇰🇷!", "U+1F1F0-1F1F7!"),
        ("\u0301", "◌\u0301"),
        ("❤\ufe0f", "❤"),
        ("\ufe0f", "U+FE0F"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        (7, "7"),
        (b"\xed", "b'\\xed'"),
    ],
)
def test_a_token_can_be_seen(token, label):
    assert token_label(token) == label


@given(st.text(st.characters(codec=None), max_size=40), st.integers(1, 30))
def test_any_token_can_be_drawn_and_fits(token, columns):
    label = token_label(token, columns=columns)
    assert label
    assert display_width(label) <= columns
    assert {ord(c) for c in label} <= drawable_characters()
    label.encode()  # no half of a surrogate pair is left


def test_line_breaks_of_a_title_stay():
    assert drawable("첫째 줄\n\x01 둘째") == "첫째 줄\nU+0001 둘째"
