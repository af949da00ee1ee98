"""The table of what a model knows."""

from __future__ import annotations

import dataclasses

import pytest

from clearhead.cli import main
from clearhead.text.clusters import display_width
from clearhead.translate import lexicon
from clearhead.translate.dictionary import known_words
from clearhead.translate.listing import in_columns, listed

from . import toys


@pytest.mark.parametrize("width", [50, 80, 200])
def test_the_table_is_as_wide_as_the_terminal(width):
    lines = list(listed(dataclasses.replace(toys.translator(), task="all"), width))
    assert max(map(display_width, lines)) <= width
    heading = lines.index(f"nouns and pronouns ({len(known_words()['nouns'])})")
    assert lines[heading + 1].startswith(f"  {lexicon.NOUNS[0].korean} {lexicon.NOUNS[0].english}")


def test_entries_stand_below_each_other():
    assert list(in_columns(["가 a", "나라 bc", "c"], 20)) == ["  가 a      나라 bc", "  c"]
    assert list(in_columns([], 20)) == []


def test_a_model_of_ones_own_has_pieces(capsys, tmp_path):
    path = tmp_path / "toy.safetensors"
    toys.translator().save(path)
    assert main(["translate", "--words", "--model", str(path)]) == 0
    heading, *rest = capsys.readouterr().out.splitlines()
    assert heading == "words and beginnings of words (14)"
    assert "ba" in rest[0].split()


def test_the_table_is_headed_in_korean(capsys):
    assert main(["translate", "--words", "--language", "ko"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("명사와 대명사 (")
    assert "\n동사 (" in out
    assert "\n날짜" in out
