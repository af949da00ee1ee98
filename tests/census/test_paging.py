"""The page of a census, in a browser: numbers as the tables have them, nothing asked of anybody, nothing run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from tests.browsing import Open, opening
from tests.english import english_in
from tests.page.test_accessibility import axe, violations
from tests.test_study_notes import other_terms

from clearhead.census import load
from clearhead.census.paging import layers_of, pieces
from clearhead.census.survey import Settings
from clearhead.page.bundle import WEB

from . import small

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    with opening(browser) as open_address:

        def opened(path: Path, address: str = "", **options) -> Page:
            page = open_address(path.as_uri() + (f"#{address}" if address else ""), **options)
            page.wait_for_selector("clearhead-census[data-ready]")
            return page

        yield opened


@pytest.fixture(scope="module")
def census(taken):
    return load(taken)


@pytest.fixture(scope="module")
def path(census, tmp_path_factory):
    return census.to_html(tmp_path_factory.mktemp("page") / "index.html")


@pytest.fixture(scope="module")
def compared(census, corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    other = small.taken_plainly(small.model(folder / "other", seed=1), [corpus / "d"], folder / "out")
    return census.to_html(folder / "index.html", other=load(other)), load(other)


def test_every_number_of_the_grid_is_that_of_the_tables(open_page, path, census):
    page = open_page(path, "measure=entropy")
    shown = page.locator(".census-cell .census-number").all_inner_texts()
    assert shown == [f"{value:.2f}".removeprefix("0") for value in census.mean("entropy").ravel()]
    page.locator(".census-cell").nth(6).click()
    assert "layer 1 · head 2" in page.locator(".census-one h2").inner_text()
    row = [x for x in census.measures.to_pylist() if (x["head"], x["measure"]) == (2, "entropy")][1]
    told = page.locator(".census-numbers dd").all_inner_texts()
    assert f"{row['mean']:.3f} ± {row['spread']:.3f}".replace("0.", ".") in told
    assert page.locator(".census-figure").count() == 3
    again = open_page(path, page.url.partition("#")[2])  # the address has what is not as at first
    assert "layer 1 · head 2" in again.locator(".census-one h2").inner_text()


def test_orders_and_examples(open_page, path, census):
    page = open_page(path, "measure=local&order=most")
    numbers = [float(x) for x in page.locator(".census-number").all_inner_texts()]
    assert numbers == sorted(numbers, reverse=True)
    page.locator(".census-some select").select_option("punctuation")
    files = page.locator(".census-example .census-file").all_inner_texts()
    assert files
    assert all("document" in text and "character" in text for text in files)
    assert page.locator(".census-example .word.chosen").count() == len(files)
    page.get_by_text("9 documents not counted").click()
    assert "c.parquet, document 0 cannot be read: it is no Parquet file" in page.locator(".census-notes").inner_text()


def test_korean_and_dark_at_once(open_page, path):
    page = open_page(path, width=400, scheme="dark")
    page.get_by_role("button", name="한국어").click()
    assert "문서 28개 · 토큰 453개" in page.locator(".bar").inner_text()
    page.get_by_text("세지 못한 문서 9개").click()
    notes = page.locator(".census-notes").inner_text()
    assert "a.jsonl, 10번 문서 너무 김: 토큰 65개. 모델은 64개까지 읽습니다" in notes
    assert english_in(notes.replace("0xff", "")) == []
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_two_models(open_page, compared, census):
    path, other = compared
    page = open_page(path, "measure=sink&side=difference")
    shown = [float(x) for x in page.locator(".census-number").all_inner_texts()]
    expected = (census.mean("sink") - other.mean("sink")).ravel()
    assert shown == pytest.approx(expected.tolist(), abs=0.0051)
    page.get_by_role("button", name="B: other").click()
    assert "1 document · 10 tokens" in page.locator(".bar").inner_text()
    assert ", over 1 document" in page.locator(".census-histograms").inner_text()
    assert page.locator(".census-notes summary").inner_text() == "1 document not counted"


def test_layers_have_their_own_numbers():
    heads = [f"model.layers.{number}.self_attn" for number in (3, 3, 12)]
    assert [(x["number"], x["label"], x["heads"]) for x in layers_of(heads)] == [(3, "3", 2), (12, "12", 1)]
    shared = ["layers.0.attention", "layers.0.attention:1", "layers.0.attention:2"]  # one module, used three times
    assert [x["label"] for x in layers_of(shared)] == ["0", "1", "2"]
    assert [x["label"] for x in layers_of(["blocks.0.0.attention", "blocks.0.1.attention"])] == ["0.0", "0.1"]
    assert [x["label"] for x in layers_of(["h.0.near", "h.0.far"])] == ["h.0.near", "h.0.far"]


def test_a_layer_is_told_and_compared_by_its_own_number(open_page, census, model, corpus, tmp_path):
    """One census has the second layer only, which is the first of those that it counted."""
    second = load(
        small.taken_plainly(model, [corpus / "d"], tmp_path / "out", Settings(layers=(1,), shard=small.SHARD))
    )
    page = open_page(second.to_html(tmp_path / "second.html"), "layer=1&head=3")
    assert page.locator(".census-layer").all_inner_texts() == ["layer 1"]
    assert "layer 1 · head 3" in page.locator(".census-one h2").inner_text()
    page = open_page(census.to_html(tmp_path / "both.html", other=second), "measure=sink&side=difference&layer=1")
    shown = page.locator(".census-number").all_inner_texts()
    assert shown[:4] == ["–"] * 4  # there is no first layer to take away
    expected = census.mean("sink")[1] - second.mean("sink")[0]
    assert [float(x) for x in shown[4:]] == pytest.approx(expected.tolist(), abs=0.0051)
    assert "B has no such head" not in page.locator(".census-one").inner_text()
    page.get_by_role("button", name="B: ").click()
    assert "layer 1 · head" in page.locator(".census-one h2").inner_text()
    page.get_by_role("button", name="A − B").click()
    page.locator(".census-cell").first.click()
    assert "layer 0 · head 0" in page.locator(".census-one h2").inner_text()
    assert "B has no such head" in page.locator(".census-one").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_used_without_seeing_it(open_page, compared, scheme):
    page = open_page(compared[0], width=1280 if scheme == "light" else 400, scheme=scheme)
    page.evaluate(axe())
    assert violations(page) == []


def test_tokens_are_only_ever_text(open_page, model, tmp_path, monkeypatch):
    (tmp_path / f"{HOSTILE.replace('/', '-')}.txt").write_text("the cat sat on the mat")
    (tmp_path / "b.jsonl").write_text(json.dumps({"text": "the cat"}) + "\n{" + HOSTILE)
    census = load(small.taken_plainly(model, [tmp_path], tmp_path / "out"))
    rows = census.examples.to_pylist()
    places = [range(i, i + len(r["tokens"]) * len(HOSTILE), len(HOSTILE)) for i in (0, len(HOSTILE)) for r in rows]
    hostile = [
        {**r, "text": HOSTILE * len(r["tokens"]), "starts": list(starts), "stops": list(stops)}
        for r, starts, stops in zip(rows, places[: len(rows)], places[len(rows) :], strict=True)
    ]
    census.examples = type(census.examples).from_pylist(hostile)
    page = open_page(census.to_html(tmp_path / "page.html"))
    assert HOSTILE in page.locator(".census-text").first.inner_text()
    assert page.locator("img").count() == 0


def test_examples_are_shown_as_they_stand_in_the_text(open_page, model, tmp_path):
    """Joined token by token, a price would read $ 3. 42."""
    text = "it was $3.42, the dog's;\nthe cat sat ... 고양이가 ran"
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    census = load(small.taken_plainly(model, [tmp_path / "a.txt"], tmp_path / "out"))
    rows = census.examples.to_pylist()
    assert rows
    for row in rows:
        assert row["text"] == text
        own = [row["text"][start:stop] for start, stop in zip(row["starts"], row["stops"], strict=True)]
        assert own[:8] == ["it", "was", "$", "3", ".", "42", ",", "the"]
        assert text[row["offset"] :].startswith(own[row["query"]])
    shown = open_page(census.to_html(tmp_path / "page.html")).locator(".census-text").first
    assert shown.inner_text() == text.replace("\n", " ")


@pytest.mark.parametrize(
    ("text", "tokens", "places", "expected"),
    [
        ("the cat", ["the", "␣cat"], [(0, 3), (3, 7)], [("", "the"), (" ", "cat")]),
        ("cats", ["cat", "##s"], [(0, 3), (3, 4)], [("", "cat"), ("", "s")]),
        ("a", ["[CLS]", "a", "[SEP]"], [(0, 0), (0, 1), (1, 1)], [("", "[CLS]"), (" ", "a"), (" ", "[SEP]")]),
        ("a\nb", ["a", "⏎", "b"], [(0, 1), (1, 2), (2, 3)], [("", "a"), ("", "⏎"), ("", "b")]),
        ("뷁 b", ["뷁›", "‹뷁", "␣b"], [(0, 1), (0, 1), (1, 3)], [("", "뷁"), ("", ""), (" ", "b")]),
        ("😀 $3", ["😀", "$", "3"], [(0, 1), (2, 3), (3, 4)], [("", "😀"), (" ", "$"), ("", "3")]),
    ],
)
def test_a_text_is_cut_up_by_its_tokens(text, tokens, places, expected):
    starts, stops = ([place[side] for place in places] for side in (0, 1))
    assert pieces({"text": text, "tokens": tokens, "starts": starts, "stops": stops}) == expected


def test_a_census_of_nothing_is_not_shown(model, tmp_path):
    (tmp_path / "a.txt").write_text(" ")
    census = load(small.taken_plainly(model, [tmp_path / "a.txt"], tmp_path / "out"))
    with pytest.raises(ValueError, match="not one of its documents was counted"):
        census.to_html(tmp_path / "page.html")


def test_every_text_is_there_in_both_languages_and_keeps_to_the_glossary():
    table = (WEB / "census_strings.js").read_text(encoding="utf-8")
    found = re.findall(r'^  (\w+): \["(.*?)", "(.*?)"\],$', table, re.MULTILINE)
    assert len(found) == len(re.findall(r"^  \w+: \[", table, re.MULTILINE)) > 50
    for name, english, korean in found:
        assert sorted(re.findall(r"\{\w+\}", english)) == sorted(re.findall(r"\{\w+\}", korean)), name
        assert other_terms(english, "en") + other_terms(korean, "ko") == [], name
    asked = {
        name
        for module in WEB.glob("census*.js")
        for name in re.findall(r'\btell\(language, "(\w+)"', module.read_text(encoding="utf-8"))
    }
    assert asked - {name for name, *_ in found} == set()
