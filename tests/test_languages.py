"""Which language is spoken, and texts that are there in both."""

from __future__ import annotations

import importlib
import os
import pickle
import pkgutil
import string
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.test_study_notes import other_terms

import clearhead
from clearhead.languages import LANGUAGES, NotThereError, RefusedError, Said, speaking, spoken


@pytest.fixture(autouse=True)
def nowhere(monkeypatch):
    for name in ("CLEARHEAD_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, "en"),
        ({"LANG": "ko_KR.UTF-8"}, "ko"),
        ({"LANG": "ko"}, "ko"),
        ({"LANG": "ko.UTF-8"}, "ko"),
        ({"LANG": "kok_IN"}, "en"),  # Konkani
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({"LANG": "ko_KR.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "ko_KR.UTF-8", "LC_ALL": ""}, "ko"),
        ({"LANG": "ko_KR.UTF-8", "CLEARHEAD_LANG": "en"}, "en"),
        ({"LANG": "en_US.UTF-8", "CLEARHEAD_LANG": "ko"}, "ko"),
    ],
)
def test_the_environment_chooses_the_language(monkeypatch, variables, expected):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert spoken() == expected


def test_what_is_asked_for_comes_first(monkeypatch):
    monkeypatch.setenv("CLEARHEAD_LANG", "ko")
    assert spoken("en") == "en"


def test_a_language_that_is_not_spoken_is_refused(monkeypatch):
    with pytest.raises(ValueError, match="language must be"):
        spoken("fr")
    monkeypatch.setenv("CLEARHEAD_LANG", "french")
    with pytest.raises(ValueError, match="CLEARHEAD_LANG must be"):
        spoken()


def test_a_text_is_said_in_one_language_with_its_values(monkeypatch):
    greeting = Said("{count} heads", "헤드 {count}개")
    assert greeting(count=3) == "3 heads"
    assert greeting("ko", count=3) == "헤드 3개"
    monkeypatch.setenv("CLEARHEAD_LANG", "ko")
    assert greeting(count=3) == "헤드 3개"


def test_what_is_put_in_is_said_in_the_same_language():
    asked = Said("{reader} looks", "{reader}이 봅니다").filled(reader=Said("head {{1}}", "헤드 {{1}}"))
    assert asked == ("head {{1}} looks", "헤드 {{1}}이 봅니다")
    assert Said("{x:.2f} {{}}", "{x:g} {{}}").filled(x=0.5) == ("0.50 {}", "0.5 {}")


def test_a_refusal_is_english_and_can_be_said_in_korean(monkeypatch):
    monkeypatch.setenv("CLEARHEAD_LANG", "ko")
    refusal = RefusedError(Said("no file {path}", "{path} 파일이 없습니다").filled(path="x"))
    for error in (refusal, pickle.loads(pickle.dumps(refusal))):
        assert isinstance(error, ValueError)
        assert str(error) == "no file x"
        assert error.said() == "x 파일이 없습니다"


@pytest.mark.parametrize("before", [None, "en"])
def test_a_language_is_spoken_for_a_while(monkeypatch, before):
    if before:
        monkeypatch.setenv("CLEARHEAD_LANG", before)
    with speaking("ko") as language:
        assert (language, spoken()) == ("ko", "ko")
        assert os.environ.get("CLEARHEAD_LANG") == before
        with speaking(None) as same:
            assert (same, spoken()) == ("ko", "ko")
    assert spoken() == "en"
    with pytest.raises(ValueError, match="language must be one of 'en', 'ko', got 'fr'"), speaking("fr"):
        pass


def test_threads_that_speak_at_once_do_not_hear_each_other():
    both_speak = threading.Barrier(2, timeout=20)

    def speak(language):
        with speaking(language):
            both_speak.wait()
            heard = spoken()
            both_speak.wait()
        return heard, spoken()

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(speak, ["ko", "en"])) == [("ko", "en"), ("en", "en")]


def test_something_that_is_not_there_is_a_missing_file_and_said_in_korean():
    missing = NotThereError(Said("no folder x", "x 폴더가 없습니다"))
    for error in (missing, pickle.loads(pickle.dumps(missing))):
        assert isinstance(error, FileNotFoundError)
        assert str(error) == "no folder x"
        assert error.said("ko") == "x 폴더가 없습니다"


def every_text() -> Iterator[tuple[str, Said]]:
    """All texts at the top of any module, alone or in tables, with where they stand."""
    for module in pkgutil.walk_packages(clearhead.__path__, "clearhead."):
        if module.name.endswith("__main__"):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            yield from _texts(f"{module.name}.{name}", value)


def _texts(place: str, value: object) -> Iterator[tuple[str, Said]]:
    if isinstance(value, Said):
        yield place, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(f"{place}[{key!r}]", inner)
    elif isinstance(value, (tuple, list)):
        for number, inner in enumerate(value):
            yield from _texts(f"{place}[{number}]", inner)


def test_every_text_is_there_in_every_language_with_the_same_places():
    for place, said in every_text():
        for language, text in zip(LANGUAGES, said, strict=True):
            assert text.strip(), f"{place} says nothing in {language}"
        fields = [sorted({field for _, field, _, _ in string.Formatter().parse(text) if field}) for text in said]
        assert fields[0] == fields[1], f"{place} puts in {fields[0]} in English and {fields[1]} in Korean"


def test_korean_leaves_no_particle_to_choose():
    """A value may end in a vowel or not: the sentence is made so that it need not matter."""
    for place, said in every_text():
        assert not [both for both in ("은(는)", "이(가)", "을(를)", "(으)로", "와(과)") if both in said.ko], place


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_keeps_to_the_terms_of_the_glossary(language):
    """What the command line, figures, pages, exercises and the translator's own words say; not words it translates."""
    others = {place: other_terms(said(language), language) for place, said in every_text() if ".lexicon" not in place}
    assert {place: terms for place, terms in others.items() if terms} == {}
