"""The tables are whole: every word they refer to is there, and every one can be used."""

from __future__ import annotations

import pytest

from clearhead.translate.english import with_ed, with_s
from clearhead.translate.lexicon import ADJECTIVES, MEANS, NOUNS, NUMBERS, PLACES, TIMES, VERBS, nouns

# By hand: what the rules and the exceptions of the tables come to.
PLURALS = """students teachers friends children girls boys doctors women men singers farmers painters reporters kings
babies cats dogs puppies tigers bears monkeys mice rabbits birds chickens horses cows pigs fish butterflies apples
bananas watermelons carrots potatoes eggs cakes glasses cups books novels letters poems movies pictures
photos songs balls bags hats umbrellas watches dolls pencils plates chairs boxes bicycles cars computers cameras
televisions shirts skirts coats sheets flowers trees stones doors windows houses rooms"""
VERB_FORMS = """catches caught, chases chased, eats ate, drinks drank, reads read, writes wrote, draws drew, sees saw,
meets met, waits waited, helps helped, likes liked, loves loved, raises raised, buys bought, sells sold, chooses chose,
borrows borrowed, loses lost, picks picked, throws threw, kicks kicked, makes made, bakes baked, cooks cooked, cuts cut,
washes washed, cleans cleaned, builds built, opens opened, closes closed, turns turned, moves moved, wears wore,
rides rode, listens listened, sings sang, studies studied, learns learned, teaches taught, gives gave, sends sent,
shows showed, sleeps slept, rests rested, laughs laughed, cries cried, runs ran, walks walked, plays played,
works worked, dances danced, swims swam, lives lived, goes went, comes came"""


def test_plurals_by_hand():
    made = {noun.plural or "".join(with_s(noun.measure or noun.english)) for noun in NOUNS if noun.counter}
    assert made == set(PLURALS.split())


def test_verbs_by_hand():
    made = set()
    for verb in VERBS:
        first = verb.english.split()[0]
        past = verb.past.split()[0] if verb.past else "".join(with_ed(first))
        made.add(f"{''.join(with_s(first))} {past}")
    assert made == set(VERB_FORMS.replace("\n", " ").split(", "))


def test_no_korean_word_is_there_twice():
    for table in (NOUNS, PLACES, TIMES, MEANS):
        assert len({entry.korean for entry in table}) == len(table)
    for table in (VERBS, ADJECTIVES):
        assert len({entry.stem.text for entry in table}) == len(table)


def test_everything_referred_to_is_there():
    places, means = ({entry.korean for entry in table} for table in (PLACES, MEANS))
    for verb in VERBS:
        assert set(verb.places.split()) <= places
        assert set(verb.means.split()) <= means
        assert all(nouns(subjects) for subjects, _ in verb.takes)
        assert verb.places or verb.shape not in ("to", "in")
    assert all(len(nouns(adjective.nouns)) > 3 for adjective in ADJECTIVES)


def test_everything_there_is_used():
    used = {noun for verb in VERBS for takes in verb.takes for kinds in takes for noun in nouns(kinds)}
    assert used == set(NOUNS)
    assert {place for verb in VERBS for place in verb.places.split()} == {place.korean for place in PLACES}
    assert {means for verb in VERBS for means in verb.means.split()} == {means.korean for means in MEANS}
    assert {tense for time in TIMES for tense in time.tenses.split()} == {"past", "present", "future"}
    assert len(NUMBERS) == 10


def test_subjects_have_an_article_and_live():
    """No sentence begins with Math, and no chair reads."""
    living = nouns("person baby animal")
    for verb in VERBS:
        for subjects, _ in verb.takes:
            assert set(nouns(subjects)) <= set(living)
    for adjective in ADJECTIVES:
        assert all(noun.article or noun.oblique for noun in nouns(adjective.nouns))


def test_nouns_by_kind_and_by_name():
    assert [noun.korean for noun in nouns("pet 새")] == ["고양이", "개", "강아지", "토끼", "새"]
    assert nouns("") == ()


def test_an_unknown_kind():
    with pytest.raises(ValueError, match="no noun is, or is a kind of, furry, 용"):
        nouns("pet 용 furry")
