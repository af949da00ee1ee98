"""The list of sentences written by hand: that it can judge a model."""

from __future__ import annotations

import re
import unicodedata

import pytest

from clearhead.translate.command import HANDWRITTEN
from clearhead.translate.dates import date_pieces
from clearhead.translate.examples import Example, Task
from clearhead.translate.recipes import make_tasks
from clearhead.translate.score import plain, read_list
from clearhead.translate.spelling import sentence_pieces
from clearhead.translate.vocabulary import Vocabulary

LINES = read_list(HANDWRITTEN)


def test_there_are_at_least_300_sentences_and_no_two_are_the_same():
    sources = [plain(line.source) for line in LINES]
    assert len(set(sources)) == len(sources) >= 300


def test_about_forty_are_dates():
    assert 35 <= sum(line.source[0].isdecimal() or line.source.startswith(("오전", "오후")) for line in LINES) <= 60


def test_every_word_is_known(unchecked):  # spelling all that the grammar says is a million calls
    vocabulary = Vocabulary(dict.fromkeys([*date_pieces(), *sentence_pieces()]))
    assert [unknown for line in LINES for unknown in vocabulary.unknown(line.source)] == []


def test_no_model_is_trained_on_it(monkeypatch):
    judge, other = Example(f"{LINES[0].source}.", "x"), Example("다른 문장", "y")
    drawn = Task("sentences", [judge, other], [judge], [])
    monkeypatch.setattr("clearhead.translate.sentences.sentences", lambda *_, **__: drawn)
    monkeypatch.setattr("clearhead.translate.dates.dates", lambda *_: drawn)
    for name, count in (("sentences", 1), ("dates", 1), ("all", 2)):
        tasks = make_tasks(name)
        assert [task.train for task in tasks] == [[other]] * count
        assert [task.test for task in tasks] == [[judge]] * count


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.source)
def test_every_line_is_well_written(line):
    assert unicodedata.is_normalized("NFC", line.source)
    assert len(set(line.accepted)) == len(line.accepted)
    for translation in line.accepted:
        assert re.fullmatch(r"[A-Z0-9][A-Za-z0-9 ,.:/'?-]*", translation)
        assert ("?" in line.source) == translation.endswith("?")
        assert not re.search(r"\b(a (?!uni)[aeiou]|an [^aeiou])|n't\b|  ", translation)
