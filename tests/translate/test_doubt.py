"""A sure answer has no improbable piece and loses no word."""

from __future__ import annotations

from clearhead.translate.doubt import OFTEN, UNCALIBRATED, Answer, Doubt, forms, meanings, threshold
from clearhead.translate.examples import Example, Link
from clearhead.translate.vocabulary import Vocabulary

VOCABULARY = Vocabulary(["커피", "##를", "마셔요", "개", "I", "drink", "coffee", "dog"])
CUP = Example("커피를 마셔요", "I drink coffee", (Link((0, 2), (8, 14)), Link((4, 7), (2, 7))))


def ids(text):
    return VOCABULARY.encode(text).ids


def test_a_stem_means_what_it_is_linked_with_and_a_particle_nothing():
    found = meanings([CUP] * OFTEN, VOCABULARY)
    named = {VOCABULARY.decode([piece]): VOCABULARY.decode(sorted(found[piece])) for piece in found}
    assert named == {"커피": "coffee", "마셔요": "drink"}


def test_what_is_rare_or_often_without_a_link_means_nothing_certain():
    assert meanings([CUP] * (OFTEN - 1), VOCABULARY) == {}
    unlinked = CUP._replace(links=CUP.links[1:])
    assert list(meanings([CUP] * OFTEN + [unlinked] * OFTEN, VOCABULARY)) == ids("마셔요")


def test_a_lost_word_is_found():
    doubt = Doubt(0.5, meanings([CUP] * OFTEN, VOCABULARY))
    assert doubt.lost(ids("커피를 마셔요"), ids("I drink coffee")) == []
    assert doubt.lost(ids("커피를 마셔요"), ids("I drink dog")) == [0]
    assert doubt.lost(ids("커피를 마셔요"), ids("coffee")) == [2]


def test_a_word_that_is_there_twice_has_to_be_meant_twice():
    doubt = Doubt(0.5, meanings([CUP] * OFTEN, VOCABULARY))
    assert doubt.lost(ids("커피 커피를 마셔요"), ids("I drink coffee")) == [1]
    assert doubt.lost(ids("커피 커피를 마셔요"), ids("I drink coffee coffee")) == []


def test_sure_is_probable_and_whole():
    doubt = Doubt(0.5, meanings([CUP] * OFTEN, VOCABULARY))
    source = ids("커피를 마셔요")
    assert doubt.sure(0.51, source, ids("I drink coffee"))
    assert not doubt.sure(0.5, source, ids("I drink coffee"))
    assert not doubt.sure(0.99, source, ids("I drink"))


def test_written_and_read():
    doubt = Doubt(0.25, meanings([CUP] * OFTEN, VOCABULARY))
    assert Doubt.from_json(doubt.to_json()) == doubt
    assert Doubt.from_json(None) == Doubt(UNCALIBRATED, {})


def test_the_threshold_is_the_lowest_that_keeps_both_promises():
    right = [Answer(0.5 + number / 1000, False, True) for number in range(200)]
    wrong = [Answer(0.1 + number / 1000, False, False) for number in range(10)]
    assert round(threshold(right + wrong), 6) == 0.108  # two of ten wrong ones may pass, and 200 of 202 is enough
    assert threshold([*right, *([Answer(0.6, False, False)] * 10)]) > 0.6


def test_a_lost_word_is_noticed_at_any_confidence():
    right = [Answer(0.5 + number / 1000, False, True) for number in range(200)]
    least = threshold([*right, *([Answer(0.9, True, False)] * 10)])
    assert 0.4999 < least < 0.5  # so that the least confident of the right ones is sure


def test_where_nothing_can_be_promised_nothing_is_sure():
    never = Doubt(threshold([Answer(1.0, False, False)] * 3))
    assert never.threshold == 1.0
    assert not never.sure(1.0, [], [])


PIECES = Vocabulary(["물", "개", "##개", "##을", "##가", "20", "##20", "##28", "##년", "water"])
SOURCES = [PIECES.encode(text).ids for text in ("물을 2028년", "개가 물", "개 물을")]


def strange(text):
    ids = PIECES.encode(text).ids
    doubt = Doubt(forms=forms(SOURCES, PIECES))
    return doubt.strange(ids, PIECES)


def test_a_word_put_together_from_others_is_strange():
    assert strange("물을") == []
    assert strange("개가 물을 2028년") == []
    assert strange("물개") == [0]  # a seal is not made of water and dog
    assert strange("개을") == [0]
    assert strange("개가 물가") == [2]


def test_numbers_are_never_strange():
    assert strange("2020년") == []


def test_what_was_never_read_is_not_known():
    doubt = Doubt(forms=forms(SOURCES, PIECES))
    assert doubt.never_read(PIECES.encode("물 water 20").ids) == [1]
    assert Doubt().never_read(PIECES.encode("water").ids) == []


def test_forms_are_written_and_read():
    doubt = Doubt(forms=forms(SOURCES, PIECES))
    assert Doubt.from_json(doubt.to_json()) == doubt
    assert Doubt.from_json({"threshold": 0.5, "meanings": {}}) == Doubt(0.5)
