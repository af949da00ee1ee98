"""Each figure of the gallery is drawn by the script beside it, and has its section in both languages."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from docs import gallery
from matplotlib.figure import Figure
from tests.documents import ROOT, read

from clearhead.languages import LANGUAGES

MOST_LINES = 28  # of a script


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_script_has_its_section(language):
    page = read(f"docs/{language}/gallery.md")
    pictures = re.findall(r"^```\{image\} gallery/(\w+)\.svg\n:alt: .+\n```$", page, re.MULTILINE)
    code = re.findall(r"^```\{literalinclude\} gallery/(\w+)\.py\n```$", page, re.MULTILINE)
    assert pictures == code
    assert sorted(pictures) == sorted(gallery.SCRIPTS)


def test_a_script_can_be_read_at_a_glance():
    long = [name for name, path in gallery.SCRIPTS.items() if len(path.read_text().splitlines()) > MOST_LINES]
    assert long == []


@pytest.mark.parametrize("name", ["heat_map", "lines"])
def test_a_figure_speaks_the_language_asked_for(name):
    words = [text_of(gallery.draw(name, language)) for language in LANGUAGES]
    assert "query" in words[0]
    assert "쿼리" in words[1]


def text_of(figure: Figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text")))


def test_the_same_file_in_every_run(tmp_path):
    first, second = (gallery.write(tmp_path / run, "ko", ["heat_map"]) for run in ("first", "second"))
    assert first[0].read_bytes() == second[0].read_bytes()
    assert b"python -m docs.gallery heat_map" in first[0].read_bytes()


def test_the_site_shows_what_was_drawn(site):
    for language in LANGUAGES:
        drawn = {path.name for path in (site / language / "_images").glob("*.svg")}
        assert {f"{name}.svg" for name in gallery.SCRIPTS} <= drawn


def test_the_command_names_what_there_is():
    command = [sys.executable, "-m", "docs.gallery", "heatmap"]
    answered = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert answered.returncode == 2
    assert "no figure is named heatmap; there are causal, cross_attention, head_grid, heat_map" in answered.stderr
