"""The page in a browser, used as a person would: what it shows is what the view says."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from tests.browsing import Open
from tests.page.conftest import WORDS, seen
from tests.page.driving import HOSTILE, choose, place, state, status, until

from clearhead import look, masks, page as pages
from clearhead.page.reading import Layer


@pytest.fixture(scope="module")
def views():
    return [seen(13, 4, seed=i, tokens=WORDS) for i in range(3)]


@pytest.fixture(scope="module")
def path(views, tmp_path_factory) -> Path:
    layers = [(f"layer {i}", view) for i, view in enumerate(views)]
    return pages.write(tmp_path_factory.mktemp("page") / "short.html", layers, title="a cat")


@pytest.fixture(scope="module")
def long_view():
    """Nearly 5,000 tokens, which a small file has in cells of many places."""
    return seen(4999, 2, tokens=[WORDS[i % 13] + str(i) for i in range(4999)], top_k=4, map_size=256)


@pytest.fixture(scope="module")
def long_path(long_view, tmp_path_factory) -> Path:
    return long_view.to_html(tmp_path_factory.mktemp("page") / "long.html", megabytes=1.5)


def test_pointing_tells_the_exact_weight_and_its_rank(open_page: Open, path, views):
    page = open_page(path)
    for layer, head, q, k in [(0, 1, 9, 4), (2, 3, 12, 0), (1, 2, 7, 7)]:
        choose(page, layer, head)
        page.mouse.move(*place(page, q, k))
        row = views[layer].row(q, head)
        rank = 1 + int((row > row[k]).sum())
        told = (
            f"weight {row[k]:.4f} · rank {rank} of {q + 1}"
            if row[k] >= 5e-5
            else f"weight {row[k]:.1e}".replace("e-0", "e-")
        )
        assert told in status(page)
        assert re.match(rf"query {q} “.*{WORDS[q]}.*” → key {k} “.*{WORDS[k]}.*”", status(page))
    page.mouse.move(*place(page, 3, 8))
    assert "masked: no weight is possible" in status(page)


def test_zooming_to_one_weight_keeps_it_under_the_pointer(open_page: Open, long_path, long_view):
    view = long_view
    page = open_page(long_path)
    q = 4321
    k = int(view.top_k.indices[1, q, 0])
    page.evaluate("document.querySelector('clearhead-page').context.store.set({ layer: 0, head: 1 })")
    for _ in range(12):
        page.mouse.move(*place(page, q, k))
        page.mouse.wheel(0, -600)
        page.wait_for_timeout(30)
    page.mouse.move(*place(page, q, k))
    assert state(page)["window"][2] == 96
    assert f"query {q:,}" in status(page)
    assert f"weight {view.row(q, 1)[k]:.4f} · rank 1" in status(page)
    beyond = next(j for j in range(q) if j not in view.top_k.indices[1, q])
    page.evaluate(f"document.querySelector('clearhead-page').context.point({{ q: {q}, k: {beyond} }})")
    assert re.search(r"≈ .*, mean of \d+ × \d+ around it · not among the 4 strongest", status(page))
    page.keyboard.press("0")
    assert state(page)["window"] is None


def test_a_head_that_is_not_looked_at_is_not_opened(open_page: Open, path):
    page = open_page(path)
    opened = page.evaluate("document.querySelector('clearhead-page').context.source.opened")
    assert len([name for name in opened if re.fullmatch(r"\d+\.\d+", name)]) == 1
    choose(page, 2, 2)
    assert "2.2" in page.evaluate("document.querySelector('clearhead-page').context.source.opened")


def test_nothing_is_told_of_a_head_before_it_is_open(open_page: Open, path):
    page = open_page(path)
    page.evaluate(
        """() => {
            const { source, store } = document.querySelector("clearhead-page").context;
            const head = source.head.bind(source);
            source.head = (...place) => new Promise((done) => { window.release = () => done(head(...place)); });
            store.set({ head: (store.state.head + 1) % 3, query: 3, key: 1 });
        }"""
    )
    assert page.locator(".status").inner_text() == "opening …"
    page.evaluate("window.release()")
    until(page, lambda: page.locator(".status").inner_text().startswith("query 3 "))
    page.evaluate(
        """() => {
            const { source, store } = document.querySelector("clearhead-page").context;
            source.head = () => Promise.reject(new Error("the server has gone"));
            store.set({ head: (store.state.head + 1) % 3 });
        }"""
    )
    until(page, lambda: page.locator(".status").inner_text() == "This head could not be opened: the server has gone")


def test_the_first_glance_says_something(open_page: Open, path, views):
    page = open_page(path)
    shown = state(page)
    found = [(value, i, h) for i, view in enumerate(views) for h, value in enumerate(Layer("", view).telling)]
    assert max(found)[1:] == (shown["layer"], shown["head"])
    sentence = page.locator(".sentence").inner_text()
    assert re.search(r"score 0\.\d\d of 1|closest are", sentence)
    assert "not why" in sentence


def test_the_keyboard_does_everything(open_page: Open, path):
    page = open_page(path, "l=0&h=1")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert (state(page)["query"], state(page)["key"]) == (1, 0)
    for key, name, value in [
        ("Shift+ArrowRight", "head", 2), ("]", "layer", 1), ("[", "layer", 0), ("s", "scale", "log"),
        ("h", "first", False), ("k", "palette", "sea"), ("d", "theme", "dark"), ("l", "view", "lines"),
        ("r", "direction", "to"), ("Escape", "query", None),
    ]:  # fmt: skip
        page.keyboard.press(key)
        assert state(page)[name] == value, key
    page.keyboard.press("+")
    assert state(page)["window"] is not None
    page.keyboard.press("?")
    sheet = page.locator("dialog")
    assert sheet.is_visible()
    assert "zoom at the pointer" in sheet.inner_text()
    page.keyboard.press("Escape")
    assert not sheet.is_visible()
    page.keyboard.press("/")
    page.keyboard.type("mat")
    page.keyboard.press("Enter")
    assert state(page)["query"] == WORDS.index("mat")


def test_heads_are_sorted_and_filtered(open_page: Open, path, views):
    page = open_page(path)
    page.get_by_label("Sort", exact=True).select_option("entropy")
    order = [x.split(",")[0] for x in page.locator(".heads button").evaluate_all("all => all.map((x) => x.ariaLabel)")]
    means = {f"layer {i} · head {h}": view.entropy[h].mean() for i, view in enumerate(views) for h in range(4)}
    assert order == sorted(means, key=means.get)
    names = [str(x) for view in views for x in view.patterns().labels]
    page.get_by_label("Pattern", exact=True).select_option(names[0])
    assert page.locator(".heads button").count() == names.count(names[0])
    page.get_by_label("Pattern", exact=True).select_option("all")
    page.get_by_label("Show", exact=True).select_option("max_weight")
    page.get_by_label("Sort", exact=True).select_option("layer")
    assert page.locator(".heads .number").first.inner_text() == f"{views[0].max_weight[0].mean():.2f}"


def test_heads_are_averaged_as_they_are_chosen(open_page: Open, path, views):
    page = open_page(path, "l=0&h=1")
    tiles = page.locator(".heads button")
    tiles.nth(6).click(modifiers=["Shift"])
    tiles.nth(11).hover()
    tiles.nth(11).locator(".check").click()
    until(page, lambda: "mean of 3 heads" in page.locator(".head h2").inner_text())
    assert "layer 0: 1 · layer 1: 2 · layer 2: 3" in page.locator(".sentence").inner_text()
    mean = (views[0].weights(1) + views[1].weights(2) + views[2].weights(3)) / 3
    for q, k in [(9, 4), (12, 0)]:
        page.mouse.move(*place(page, q, k))
        assert f"weight {mean[q, k]:.4f} · rank {1 + int((mean[q] > mean[q, k]).sum())} of {q + 1}" in status(page)
    entropy = -(mean[9] * np.log(np.where(mean[9] > 0, mean[9], 1))).sum()
    page.locator(".word").nth(9).click()
    page.mouse.move(0, 0)
    assert f"entropy {entropy:.2f} nats" in status(page)
    assert page.locator(".chip").first.inner_text().split() == [WORDS[mean[9].argmax()], f"{mean[9].max():.2f}"]
    tiles.nth(1).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("x")
    until(page, lambda: state(page)["choice"] == ["0.1", "0.2", "1.2", "2.3"])
    four = page.url.split("#")[1]
    page.keyboard.press("a")
    until(page, lambda: state(page)["choice"] == [f"0.{i}" for i in range(4)])
    page.get_by_label("Of", exact=True).select_option("all")
    until(page, lambda: "mean of 12 heads" in page.locator(".head h2").inner_text())
    mean = np.mean([view.weights() for view in views], axis=(0, 1))
    page.mouse.move(*place(page, 7, 2))
    assert f"weight {mean[7, 2]:.4f}" in status(page)
    choose(page, 1, 1)
    assert state(page)["choice"] == []
    again = open_page(path, four)
    assert "mean of 4 heads" in again.locator(".head h2").inner_text()
    assert again.locator('.heads [aria-selected="true"]').count() == 4


def test_an_address_shows_the_same_again(open_page: Open, path):
    page = open_page(path)
    choose(page, 1, 2)
    page.mouse.click(*place(page, 8, 3))
    page.mouse.click(*place(page, 8, 3))
    page.keyboard.press("s")
    page.keyboard.press("+")
    until(page, lambda: "w=" in page.url and "s=log" in page.url)
    again = open_page(path, page.url.split("#")[1])
    first, second = state(page), state(again)
    np.testing.assert_allclose(first.pop("window"), second.pop("window"), atol=2e-3)
    assert first == second
    assert (second["query"], second["key"], second["scale"]) == (8, 3, "log")
    page.go_back()
    until(page, lambda: state(page)["key"] is None)
    page.go_forward()
    until(page, lambda: state(page)["key"] == 3)


def test_what_is_seen_can_be_taken_away(open_page: Open, path, views):
    page = open_page(path, "l=1&h=2")
    for kind in ("png", "svg", "csv"):
        with page.expect_download() as download:
            page.get_by_label("Save", exact=True).select_option(kind)
        file = Path(download.value.path())
        assert download.value.suggested_filename == f"layer-1-head-2.{kind}"
        if kind == "png":
            assert file.read_bytes().startswith(b"\x89PNG")
        elif kind == "svg":
            drawn = file.read_text(encoding="utf-8")
            assert "layer 1 · head 2" in drawn
            assert drawn.count(">because<") == 2
        else:
            rows = list(csv.DictReader(file.read_text(encoding="utf-8-sig").splitlines()))
            assert len(rows) == 13 * 13
            expected = views[1].weights(2)
            for row in rows:
                if row["kind"] == "exact":
                    assert np.float32(row["weight"]) == expected[int(row["query"]), int(row["key"])]
            assert sum(row["kind"] == "masked" for row in rows) == 13 * 12 / 2


def test_a_word_shows_what_it_looks_at(open_page: Open, path, views):
    page = open_page(path, "l=1&h=2")
    page.locator(".word").nth(10).click()
    order = np.argsort(-views[1].row(10, 2), kind="stable")

    def chips() -> list[list[str]]:
        return [chip.split() for chip in page.locator(".chip").all_inner_texts()[:3]]

    until(page, lambda: [chip[0] for chip in chips()] == [WORDS[k] for k in order[:3]])
    page.get_by_role("button", name="seen by").click()
    column = views[1].weights(2, cols=10)
    until(page, lambda: chips()[0] == [WORDS[column.argmax()], f"{column.max():.2f}"])


def test_dark_korean_and_narrow(open_page: Open, path):
    page = open_page(path, "lang=ko", scheme="dark", width=400, height=800)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert "쿼리" in page.locator(".sentence").inner_text() or "패턴" in page.locator(".sentence").inner_text()
    assert page.locator(".panel:visible").count() == 1
    page.get_by_role("button", name="모델", exact=True).click()
    assert page.locator(".heads").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.get_by_role("button", name="English").click()
    assert page.get_by_role("button", name="Model", exact=True).is_visible()


def test_tokens_are_data(open_page: Open, tmp_path):
    view = seen(8, tokens=HOSTILE)
    path = view.to_html(tmp_path / "hostile.html", title="</title><script>alert(2)</script>")
    page = open_page(path, "q=0&k=0")
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    assert page.locator("img").count() == 0
    assert "</script><img src=x" in status(page)
    text = page.locator(".running").inner_text()
    assert "\u202e" not in text
    assert "U+202E" in text
    for key in ("l", "ArrowDown", "ArrowRight", "r"):
        page.keyboard.press(key)
    assert page.locator(".word").count() == 8


def test_long_texts_have_words_only_where_they_are_seen(open_page: Open, long_path):
    page = open_page(long_path)
    assert page.locator(".word").count() < 2500
    page.keyboard.press("/")
    page.keyboard.type("cat4889")
    page.keyboard.press("Enter")
    page.wait_for_selector(".word.chosen")
    assert page.locator(".word.chosen").inner_text() == "cat4889"
    assert "mean of" in page.locator(".map .pixel").inner_text()


@pytest.mark.parametrize("odd", ["one", "masked", "nan", "no tokens", "cross"])
def test_odd_views_have_a_decent_page(open_page: Open, tmp_path, odd):
    rng = np.random.default_rng(4)
    q, k = rng.standard_normal((2, 2, 6, 5), np.float32)
    if odd == "one":
        view = look(q[:1, :1], k[:1, :1], tokens=["alone"])
    elif odd == "masked":
        view = look(q, k, mask=masks.array(np.zeros((6, 6), bool)), tokens=list("abcdef"))
    elif odd == "nan":
        view = look(np.where(np.arange(6)[:, None] == 2, np.nan, q).astype(np.float32), k, tokens=list("abcdef"))
    elif odd == "cross":
        view = look(q[:, :4], k, tokens=list("abcd"), key_tokens=list("uvwxyz"))
    else:
        view = look(q, k)
    page = open_page(view.to_html(tmp_path / "odd.html"), "q=0&k=0")
    assert page.locator(".sentence").inner_text()
    told = {
        "one": "weight 1.0000 · rank 1 of 1",
        "masked": "masked",
        "nan": "weight",
        "no tokens": "weight",
        "cross": "weight",
    }
    assert told[odd] in status(page)
    if odd == "nan":
        page.evaluate("document.querySelector('clearhead-page').context.point({ q: 2, k: 1 })")
        assert "not a number" in status(page)
    if odd == "cross":
        assert page.locator(".running").count() == 2
        page.locator(".running").nth(1).locator(".word").nth(3).click()
        assert page.locator(".strongest").inner_text().startswith("“x” is seen by")
