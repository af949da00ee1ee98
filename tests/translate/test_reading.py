"""What a model does not know is said, and not translated to something."""

from __future__ import annotations

import pytest

from clearhead.translate.doubt import Doubt, forms
from clearhead.translate.reading import strange_words, unread, unspelled
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


def test_a_model_of_ones_own_knows_pieces():
    assert "close to it: drink" in unspelled("drinc", VOCABULARY, "pairs").en


@pytest.mark.parametrize(
    ("task", "known"),
    [("all", "Korean sentences and dates"), ("dates", "dates, such as"), ("sentences", "Korean sentences, such as")],
)
def test_what_is_only_ever_written_is_not_read(task, known):
    said = asked("I drink water.", task)
    assert said.en.startswith("'I', characters 0 to 1, is not translated: this model translates ")
    assert known in said.en
    assert "번역하지 않는 말입니다" in said.ko
    assert asked("고양이가 drink.").en.startswith("'drink', characters 5 to 10,")


def test_what_was_read_is_read():
    assert asked("고양이가 물을 마셔요.") is None
    assert asked("December 7") is None
    assert asked("I drink water", "pairs") is None


def test_a_word_made_of_others_is_named():
    text = "물개 고양이가."
    assert strange_words(text, *VOCABULARY.encode(text), DOUBT, VOCABULARY) == ("물개",)
    assert strange_words("물개가", *VOCABULARY.encode("물개가"), DOUBT, VOCABULARY) == ("물개가",)
    assert strange_words("물을", *VOCABULARY.encode("물을"), DOUBT, VOCABULARY) == ()
