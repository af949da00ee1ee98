"""Every word that the grammar knows, with its English, and what it may begin with."""

from __future__ import annotations

from clearhead.translate import lexicon
from clearhead.translate.dictionary import beginnings, known_words, stems


def test_every_word_is_there_with_its_english_as_a_dictionary_has_it():
    kinds = known_words()
    assert kinds["nouns"]["고양이"] == "cat"
    assert kinds["verbs"]["마시다"] == "drink"
    assert kinds["adjectives"]["비싸다"] == "expensive"
    assert kinds["numbers"]["세"] == "three"
    assert kinds["adjectives"]["새"] == "new"
    assert kinds["nouns"]["차"] == "tea, car"
    assert kinds["adverbs"]["항상"] == "always"
    assert len(kinds["nouns"]) == len({noun.korean for noun in lexicon.NOUNS})


def test_what_says_not_by_itself_says_so():
    verbs = known_words()["verbs"]
    assert verbs["모르다"] == "not know"
    assert verbs["없다"] == "not have, not be (somewhere)"
    assert verbs["있다"] == "have, be (somewhere)"
    assert verbs["알다"] == "know"


def test_it_rains_in_two_words():
    verbs = known_words()["verbs"]
    assert (verbs["비가 오다"], verbs["눈이 내리다"], verbs["오다"]) == ("rain", "snow", "come")


def test_small_words_are_there_too():
    kinds = known_words()
    assert {"누구", "무엇", "어디", "언제", "왜", "어떻게", "얼마"} <= set(kinds["questions"])
    assert {"이", "그", "저", "안", "못"} <= set(kinds["small"])
    assert set(kinds["counters"]) == {noun.counter for noun in lexicon.NOUNS if noun.counter} | {"시"}


def test_a_word_with_two_meanings_is_there_once(monkeypatch):
    first = lexicon.VERBS[0]
    monkeypatch.setattr(lexicon, "VERBS", (first, first._replace(english="grab"), first))
    assert known_words()["verbs"][f"{first.stem.text}다"] == f"{first.english}, grab"


def test_forms_lead_to_their_word():
    known = beginnings()
    assert known["고양이"] == "고양이"
    assert known["마셔"] == known["마시"] == known["마셨"] == "마시다"
    assert known["도와"] == known["도우"] == "돕다"
    words = {word for entries in known_words().values() for word in entries}
    assert set(known.values()) <= words


def test_stems_are_no_other_words():
    found = stems()
    assert (found["춥"], found["오"], found["와"], found["잡"]) == ("춥다", "오다", "오다", "잡다")
    assert "차" not in found  # a car, or tea
