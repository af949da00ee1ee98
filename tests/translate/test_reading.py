"""What a model does not know is said, and not translated to something."""

from __future__ import annotations

import pytest

from clearhead.translate.doubt import Doubt, forms
from clearhead.translate.reading import in_other_form, strange_words, unread, unspelled
from clearhead.translate.vocabulary import Vocabulary

VOCABULARY = Vocabulary(
    [
        "고양이",
        "##가",
        "물",
        "##개",
        "##을",
        "마셔",
        "##요",
        "##다",
        "여",
        "##우",
        "I",
        "drink",
        "water",
        "December",
        "7",
        "##.",
    ]
)
DOUBT = Doubt(forms=forms([VOCABULARY.encode("고양이가 물을 마셔요. December 7").ids], VOCABULARY))


def asked(text, task="all"):
    ids, spans = VOCABULARY.encode(text)
    return unread(text, ids, spans, task, DOUBT)


def test_a_misspelled_word_is_answered_with_words_of_the_list():
    """여 and 물 are pieces too, and no help."""
    assert "close to it: 고양이" in unspelled("고냥이가 물을 마셔요", VOCABULARY, "all").en
    assert "비슷한 단어: 마시다" in unspelled("물을 마셧다", VOCABULARY, "sentences").ko
    assert "nothing close to it is known" in unspelled("쀍이", VOCABULARY, "all").en
    assert unspelled("고양이가 물을", VOCABULARY, "all") is None


@pytest.mark.parametrize(
    ("word", "meant"), [("춥네요", "춥다"), ("쫓겼다", "쫓다"), ("잡혔다", "잡다"), ("오면", "오다"), ("울기", "울다")]
)
def test_a_form_that_is_not_known_of_a_word_that_is(word, meant):
    vocabulary = Vocabulary(["춥", "쫓", "잡", "오", "울", "나", "##다"])
    assert unspelled(word, vocabulary, "all").ko.endswith(f"비슷한 단어: {meant}")


@pytest.mark.parametrize("word", ["배를", "나섰다"])
def test_what_only_looks_like_a_verb(word):
    assert "비슷한 단어도 없습니다" in unspelled(word, Vocabulary(["나", "##를", "##다"]), "all").ko


def test_english_is_not_translated_even_if_it_cannot_be_spelled():
    said = unspelled("고양이가 hello!", Vocabulary(["고양이", "##가", "he"]), "all")
    assert said.en.startswith("'hello', characters 6 to 10, is not translated: this model translates ")
    assert said.ko.startswith("'hello'(6–10번째 글자): 번역하지 않는 말입니다")
    assert "close to it: December" in unspelled("Decembr 7", VOCABULARY, "all").en


def test_a_model_of_ones_own_knows_pieces():
    assert "close to it: drink" in unspelled("drinc", VOCABULARY, "pairs").en


@pytest.mark.parametrize(
    ("task", "known"),
    [("all", "Korean sentences and dates"), ("dates", "dates, such as"), ("sentences", "Korean sentences, such as")],
)
def test_what_is_only_ever_written_is_not_read(task, known):
    said = asked("I drink water.", task)
    assert said.en.startswith("'I', character 1, is not translated: this model translates ")
    assert known in said.en
    assert "번역하지 않는 말입니다" in said.ko
    assert asked("고양이가 drink.").en.startswith("'drink', characters 6 to 10,")


def test_what_was_read_is_read():
    assert asked("고양이가 물을 마셔요.") is None
    assert asked("December 7") is None
    assert asked("I drink water", "pairs") is None


@pytest.mark.parametrize("word", ["엄마", "동물이다", "밤이", "키우다", "굽다", "있는", "와서"])
def test_a_known_word_in_another_form_is_known(word):
    assert in_other_form(word)


@pytest.mark.parametrize("word", ["물개", "물개가", "친고를", "그림자"])
def test_what_only_begins_like_a_known_word_is_not(word):
    assert not in_other_form(word)


def test_a_word_made_of_others_is_named():
    text = "물개 고양이가."
    assert strange_words(text, *VOCABULARY.encode(text), DOUBT, VOCABULARY) == ("물개",)
    assert strange_words("물개가", *VOCABULARY.encode("물개가"), DOUBT, VOCABULARY) == ("물개가",)
    assert strange_words("물을", *VOCABULARY.encode("물을"), DOUBT, VOCABULARY) == ()
