"""Particles come off Korean words, in Python and in the browser alike."""

from __future__ import annotations

import pytest
from docs.site.korean import PARTICLES, SearchKorean, ending, fits, forms
from tests.documents import tables
from tests.site.conftest import Open


@pytest.mark.parametrize(
    ("word", "bare"),
    [
        ("쿼리를", "쿼리"),
        ("어텐션의", "어텐션"),
        ("가중치는", "가중치"),
        ("값은", "값"),
        ("키와", "키"),
        ("쿼리에서는", "쿼리"),
        ("소프트맥스입니다", "소프트맥스"),
        ("커널로", "커널"),  # after ㄹ as after a vowel
        ("Q와", "Q"),
        ("고양이를", "고양이"),
        ("고양이라는", "고양이"),
    ],
)
def test_a_word_is_also_there_without_its_particles(word, bare):
    assert forms(word)[0] == word
    assert bare in forms(word)


@pytest.mark.parametrize("word", ["나이", "효과", "쿼리", "어텐션", "를", "softmax", "값"])
def test_what_is_no_particle_stays(word):
    assert forms(word) == [word]


@pytest.mark.parametrize(("word", "number"), [("키", 0), ("값", 18), ("커널", 8), ("Q", None), ("2", None)])
def test_the_sound_a_word_ends_with(word, number):
    assert ending(word) == number


def test_a_sentence_is_split_into_all_of_them():
    assert SearchKorean({}).split("쿼리는 키를 봅니다.") == ["쿼리는", "쿼리", "키를", "키", "봅니다"]


def test_what_is_typed_is_found_in_whatever_is_written(open_page: Open):
    """What is looked up for a term of the glossary is among the forms of that term with any particle."""
    (rows,) = tables("study_notes/glossary.md")
    terms = {word for row in rows for word in SearchKorean._word_re.findall(row["한국어"])}
    with_particles = {term: [p for p in PARTICLES if fits(p, ending(term))] for term in terms}
    page = open_page("ko/search.html")
    typed = page.evaluate("(terms) => Object.fromEntries(terms.map((t) => [t, splitQuery(t)]))", sorted(terms))
    for term, (looked_up,) in typed.items():
        written = [term, *(term + particle for particle in with_particles[term])]
        assert [word for word in written if looked_up not in forms(word)] == []


def test_what_is_typed_is_looked_up_without_particles(open_page: Open):
    looked_up = {
        "쿼리를": ["쿼리"],
        "키는 값을": ["키", "값"],
        "결과": ["결과"],  # which may be 결 + 과, but is more likely itself
        "결과를": ["결과"],
        "나이": ["나이"],
        "가중치에서는": ["가중치"],
        "softmax의": ["softmax"],
        "이란": ["이란"],
    }
    page = open_page("ko/search.html")
    assert {typed: page.evaluate("(query) => splitQuery(query)", typed) for typed in looked_up} == looked_up
