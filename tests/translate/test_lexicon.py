"""The tables are whole: every word they refer to is there, and every one can be used."""

from __future__ import annotations

import pytest

from clearhead.translate.english import with_ed, with_ing, with_s
from clearhead.translate.lexicon import (
    ADJECTIVES,
    ADVERBS,
    HOURS,
    MEANS,
    NOUNS,
    NUMBERS,
    PLACES,
    TIMES,
    VERBS,
    nouns,
    places,
)

# By hand: what the rules and the exceptions of the tables come to, where they are not just -s, -ed and -ing.
PLURALS = """children women men people babies puppies foxes mice fish butterflies boxes watches glasses photos potatoes
strawberries buses police\u00a0officers college\u00a0students older\u00a0brothers younger\u00a0sisters"""
PASTS = """caught ate took drank read wrote wore drew saw met knew forgot bought sold chose found lost threw made cut
built rode drove sang did spoke taught slept got sat ran went swam flew began blew came gave sent lent had became"""
GOING = """making taking writing riding driving dancing running cutting swimming getting sitting dying using
closing moving baking choosing receiving preparing"""


def test_plurals_by_hand():
    made = set()
    for noun in NOUNS:
        *before, last = noun.english.split()
        made.add(noun.plural or "\u00a0".join([*before, "".join(with_s(last))]))
        made |= {"".join(with_s(noun.measure))} if noun.measure else set()
    assert {plural for line in PLURALS.split("\n") for plural in line.split(" ")} <= made


def test_verbs_by_hand():
    irregular = {verb.past.split()[0] for verb in VERBS if verb.past}
    assert irregular == set(PASTS.split())
    regular = {verb.english.split()[0] for verb in VERBS if not verb.past}
    assert {"chase", "study", "play", "cry", "die"} <= regular
    assert "".join(with_ed("study")) == "studied"
    assert set(GOING.split()) <= {"".join(with_ing(verb.english.split()[0])) for verb in VERBS}


def test_there_are_four_hundred_stems():
    stems = {noun.korean for noun in NOUNS} | {one.stem.text for one in (*VERBS, *ADJECTIVES)}
    stems |= {word for time in TIMES for word in time.korean.split()} | {adverb.korean for adverb in ADVERBS}
    assert len(stems) >= 400
    everyday = "엄마 아빠 저 날씨 비 눈 친구 커피 회사 버스 예쁘 좋아하 일어나 매일 항상 자주"
    assert set(everyday.split()) <= stems


def test_no_meaning_is_there_twice():
    for table in (PLACES, TIMES, MEANS):
        assert len({entry.korean for entry in table}) == len(table)
    told_apart = {(entry.korean, kind) for entry in ADVERBS for kind in entry.goes.split()}  # by what they go with
    assert len(told_apart) == sum(len(entry.goes.split()) for entry in ADVERBS)
    for table in (VERBS, ADJECTIVES):
        assert len({entry[:2] + entry[3:4] + entry[6:7] for entry in table}) == len(table)
    assert len({(noun.korean, noun.english) for noun in NOUNS}) == len(NOUNS)


def test_everything_referred_to_is_there():
    means = {entry.korean for entry in MEANS}
    for verb in VERBS:
        assert set(verb.means.split()) <= means
        assert all(nouns(subjects) for subjects, _ in verb.takes)
        assert bool(places(verb.places)) == bool(verb.places)
        assert verb.places or verb.shape not in ("to", "into", "in")
    assert all(len(nouns(adjective.nouns)) > 1 for adjective in ADJECTIVES)


def test_numbers():
    assert len(NUMBERS) == 10
    assert len(HOURS) == 12


def test_nouns_by_kind_and_by_name():
    assert [noun.korean for noun in nouns("pet 새")] == ["고양이", "개", "강아지", "토끼", "새"]
    assert [noun.korean for noun in nouns("pet 새 -개 -토끼")] == ["고양이", "강아지", "새"]
    assert nouns("") == ()


def test_an_object_tells_which_sense_of_a_verb_is_meant():
    """텔레비전을 보다 is to watch, and not to see as well; otherwise a sentence would have two translations."""
    for one in VERBS:
        for other in VERBS:
            if one.stem == other.stem and one.shape == other.shape and one.english != other.english:
                theirs = [{noun.korean for _, what in verb.takes for noun in nouns(what)} for verb in (one, other)]
                assert not theirs[0] & theirs[1], (one.stem.text, one.english, other.english)


def test_an_unknown_kind():
    with pytest.raises(ValueError, match="no noun is, or is a kind of, furry, 용"):
        nouns("pet 용 furry")
    with pytest.raises(ValueError, match="no noun is, or is a kind of, 용"):
        nouns("pet -용")
    with pytest.raises(ValueError, match="no place is, or is a kind of, 달나라"):
        places("home 달나라")
