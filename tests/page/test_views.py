"""Compare, Step, Image and the groups of the model, in a browser: what they show is what the views say."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from tests.browsing import Open
from tests.page.conftest import WORDS, seen
from tests.page.driving import HOSTILE, place, state, status, until

from clearhead import look, masks, page as pages
from clearhead.page import Patches, Shown

SOURCE = ["그", "고양이", "는", "피곤", "해서", "매트", "에", "앉았다"]
EFFECTS = [[-0.5, 0.25, 0.0, 1.5], [0.75, -1.0, 0.1, 0.2]]


@pytest.fixture(scope="module")
def views():
    """Two layers before and after something, cross-attention to another text, and a layer over an image."""
    rng = np.random.default_rng(7)
    q, k = rng.standard_normal((2, 3, 13, 11), np.float32) * 2
    patches = rng.standard_normal((2, 2, 13, 7), np.float32)
    names = ["[CLS]", *(f"{r},{c}" for r in range(3) for c in range(4))]
    return {
        "before": [seen(13, 4, seed=i, tokens=WORDS) for i in range(2)],
        "after": [seen(13, 4, seed=10 + i, tokens=WORDS) for i in range(2)],
        "cross": look(q, k[:, :8], tokens=WORDS, key_tokens=SOURCE),
        "image": look(*patches, tokens=names),
    }


@pytest.fixture(scope="module")
def path(views, tmp_path_factory) -> Path:
    pixels = np.random.default_rng(1).integers(0, 255, (30, 40, 3), np.uint8)
    layers = [
        Shown(f"layer {i}", view, trace=trace, stack="decoder", prompt=5, statistics={"effect": EFFECTS[i]})
        for trace, name in enumerate(("before", "after"))
        for i, view in enumerate(views[name])
    ]
    layers.append(Shown("cross 0", views["cross"], stack="cross", prompt=0))
    layers.append(Shown("vision", views["image"], image=Patches(pixels, 3, 4, 1)))
    return pages.write(tmp_path_factory.mktemp("views") / "views.html", layers, traces=["before", "after"])


def test_two_traces_are_compared(open_page: Open, path, views):
    page = open_page(path, "l=1&h=2")
    page.keyboard.press("c")
    until(page, lambda: page.locator(".one.d h3").inner_text().startswith("A − B largest"))
    assert state(page)["other"] == ["3.2"]
    assert [x.inner_text() for x in page.locator(".one h3").all()[:2]] == [
        "A before · layer 1 · head 2", "B after · layer 1 · head 2",
    ]  # fmt: skip
    a, b = views["before"][1].weights(2), views["after"][1].weights(2)
    q, k = divmod(int(np.abs(a - b).argmax()), 13)
    sign = "+" if a[q, k] > b[q, k] else ""
    assert f"{sign}{a[q, k] - b[q, k]:.2f}: “{WORDS[q]}” → “{WORDS[k]}”" in page.locator(".one.d h3").inner_text()
    for pane in ("a", "b", "difference"):
        page.mouse.move(0, 0)
        page.mouse.move(*place(page, q, k, f"compare.{pane}"))
        assert f"A {a[q, k]:.4f}" in status(page)
        assert f"A − B {sign}{a[q, k] - b[q, k]:.4f}" in status(page)
    page.mouse.wheel(0, -500)
    until(page, lambda: state(page)["window"] is not None)
    seen_by = page.evaluate(
        """() => ["a", "b", "difference"].map((name) => {
            const { viewport, box } = document.querySelector("clearhead-page").compare[name];
            return [viewport.x, viewport.y, viewport.scale / box.height];
        })"""
    )
    np.testing.assert_allclose(seen_by[0], seen_by[1], rtol=1e-6)
    np.testing.assert_allclose(seen_by[0][:2], seen_by[2][:2], atol=0.6)
    until(page, lambda: "w=" in page.url)
    address = page.url.split("#")[1]
    page.get_by_label("Layer to compare with").select_option("0")
    page.get_by_label("Head to compare with").select_option("mean")
    until(page, lambda: state(page)["other"] == ["0.0", "0.1", "0.2", "0.3"])
    page.keyboard.press("0")
    until(page, lambda: "layer 0 · mean of all heads" in page.locator(".one.b h3").inner_text())
    mean = views["before"][0].weights().mean(0)
    page.mouse.move(*place(page, 7, 3, "compare.difference"))
    assert f"B {mean[7, 3]:.4f} · A − B {a[7, 3] - mean[7, 3]:.4f}" in status(page)
    page.get_by_label("Swap A and B").click()
    until(page, lambda: "mean of 4 heads" in page.locator(".head h2").inner_text())
    assert state(page)["other"] == ["1.2"]
    again = open_page(path, address)
    until(again, lambda: "after · layer 1 · head 2" in again.locator(".one.b h3").inner_text())
    assert state(again)["window"] is not None


def test_a_comparison_can_be_taken_away(open_page: Open, path, views):
    page = open_page(path, "l=0&h=1&v=compare")
    for kind in ("svg", "csv", "png"):
        with page.expect_download() as download:
            page.get_by_label("Save", exact=True).select_option(kind)
        file = download.value.path()
        assert "compare" in download.value.suggested_filename
        if kind == "svg":
            drawn = file.read_text(encoding="utf-8")
            assert "B after · layer 0 · head 1" in drawn
            assert "A − B (linear)" in drawn
        if kind == "csv":
            rows = list(csv.DictReader(file.read_text(encoding="utf-8-sig").splitlines()))
            a, b = views["before"][0].weights(1), views["after"][0].weights(1)
            for row in rows:
                if row["kind"] == "exact":
                    at = int(row["query"]), int(row["key"])
                    assert (np.float32(row["weight"]), np.float32(row["other_weight"])) == (a[at], b[at])


def test_steps_walk_through_what_was_generated(open_page: Open, path, views):
    page = open_page(path, "l=0&h=2&v=step")
    view = views["before"][0]

    def told(q: int) -> str:
        k = int(view.row(q, 2).argmax())
        return f"“{WORDS[q]}” looks at {WORDS[k]} {view.row(q, 2)[k]:.2f}"

    words = page.locator(".told")
    until(page, lambda: words.inner_text().startswith("step 8 of 8"))
    assert told(12) in words.inner_text()
    page.keyboard.press("ArrowLeft")
    until(page, lambda: words.inner_text().startswith("step 7 of 8"))
    assert told(11) in words.inner_text()
    assert state(page)["query"] == 11
    page.get_by_label("Step", exact=True).and_(page.locator("input")).fill("5")
    until(page, lambda: words.inner_text().startswith("step 1 of 8"))
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press(" ")
    until(page, lambda: state(page)["query"] == 6)
    page.keyboard.press(" ")
    stopped = state(page)["query"]
    page.wait_for_timeout(900)
    assert state(page)["query"] == stopped
    page.keyboard.press("a")
    mean = view.weights().mean(0)[stopped]
    until(page, lambda: f"{WORDS[mean.argmax()]} {mean.max():.2f}" in words.inner_text())


def test_steps_of_a_translation_look_at_the_source(open_page: Open, path, views):
    page = open_page(path, "l=4&h=1&v=step&q=3")
    row = views["cross"].row(3, 1)
    until(page, lambda: page.locator(".told").inner_text().startswith("step 4 of 13"))
    assert f"“we” looks at {SOURCE[row.argmax()]} {row.max():.2f}" in page.locator(".told").inner_text()
    with page.expect_download() as download:
        page.get_by_label("Save", exact=True).select_option("svg")
    drawn = download.value.path().read_text(encoding="utf-8")
    assert all(f">{word}<" in drawn for word in (*SOURCE, *WORDS[:4]))
    assert ">fed<" not in drawn  # not yet written


def test_a_patch_shows_where_it_looks(open_page: Open, path, views):
    page = open_page(path, "l=5&h=1&v=image")
    view = views["image"]

    def patch(number: int) -> tuple[float, float]:
        return page.evaluate(
            """(i) => {
                const { image } = document.querySelector("clearhead-page");
                const { left, top } = image.canvas.getBoundingClientRect();
                const [x, y, wide, tall] = image.patch(i);
                return [left + x + wide / 2, top + y + tall / 2];
            }""",
            number,
        )

    until(page, lambda: "over all queries" in page.locator(".image .pixel").inner_text())
    page.mouse.click(*patch(6))
    assert state(page)["query"] == 7
    page.mouse.move(*patch(2))
    assert f"weight {view.row(7, 1)[3]:.4f}" in status(page)
    page.keyboard.press("r")
    page.mouse.move(*patch(1))
    page.mouse.move(*patch(2))
    assert f"weight {view.row(3, 1)[7]:.4f}" in status(page)
    assert "look at “1,2”" in page.locator(".image .pixel").inner_text()
    page.get_by_role("button", name="[CLS]", exact=True).click()
    assert state(page)["query"] == 0
    with page.expect_download() as download:
        page.get_by_label("Save", exact=True).select_option("png")
    assert download.value.path().read_bytes().startswith(b"\x89PNG")


def test_heads_are_grouped_and_kept_by_any_number(open_page: Open, path):
    page = open_page(path)
    assert page.locator(".stack").all_inner_texts() == [
        "before · decoder", "after · decoder", "before · cross-attention", "before",
    ]  # fmt: skip
    page.get_by_label("Show", exact=True).select_option("effect")
    assert page.locator(".layer").first.locator(".number").all_inner_texts() == ["-0.50", "0.25", "0", "1.50"]
    page.get_by_label("Keep", exact=True).select_option("effect")
    slider = page.locator(".bounds input")
    assert page.locator(".heads button").count() == 16
    slider.fill("60")  # −1 + 0.6 · 2.5
    assert page.locator(".heads .number").all_inner_texts() == ["1.50", "0.75"] * 2
    page.get_by_label("at least", exact=True).click()
    assert page.locator(".heads button").count() == 12
    page.get_by_label("Sort", exact=True).select_option("effect")
    numbers = [float(x) for x in page.locator(".heads .number").all_inner_texts()]
    assert numbers == sorted(numbers, reverse=True)


def test_a_view_that_a_layer_has_not_is_not_offered(open_page: Open, path):
    page = open_page(path, "l=5&h=0&v=step")
    assert page.locator(".views button").all_inner_texts() == ["Map", "Lines", "Image", "Compare"]
    assert page.locator(".stage").get_attribute("data-view") == "map"


def test_tokens_are_data_in_every_view(open_page: Open, tmp_path):
    image = Patches(np.zeros((4, 8, 3), np.uint8), 2, 4)
    layers = [Shown("<img src=x onerror=alert(3)>", seen(8, tokens=HOSTILE), prompt=2, image=image, stack="decoder")]
    layers.append(Shown("b", seen(8, seed=2, tokens=HOSTILE), trace=1, statistics={"<b>x</b>": [1, 2, 3]}))
    path = pages.write(tmp_path / "hostile.html", layers, traces=["<script>alert(4)</script>", "b"])
    page = open_page(path, "q=4&k=2&l=0&h=1")
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    for view in ("lines", "step", "image", "compare", "map"):
        page.evaluate("(view) => document.querySelector('clearhead-page').context.store.set({ view })", view)
        until(page, lambda view=view: page.locator(".stage").get_attribute("data-view") == view)
        with page.expect_download() as download:
            page.get_by_label("Save", exact=True).select_option("svg")
        assert "<img" not in download.value.path().read_text(encoding="utf-8")
    page.get_by_label("Show", exact=True).select_option("<b>x</b>")
    page.keyboard.press("A")
    assert page.locator("img").count() == 0
    assert "<script>alert(4)</script>" in page.locator(".head h2").inner_text()


@pytest.mark.parametrize("odd", ["one", "masked", "nan", "no tokens"])
def test_odd_traces_have_decent_views(open_page: Open, tmp_path, odd):
    rng = np.random.default_rng(4)
    q, k = rng.standard_normal((2, 2, 6, 5), np.float32)
    tokens = None if odd == "no tokens" else list("abcdef")
    view = look(q, k, tokens=tokens)
    if odd == "one":
        view = look(q[:1, :1], k[:1, :1], tokens=["alone"])
    elif odd == "masked":
        view = look(q, k, mask=masks.array(np.zeros((6, 6), bool)), tokens=tokens)
    elif odd == "nan":
        view = look(np.where(np.arange(6)[:, None] == 2, np.nan, q).astype(np.float32), k, tokens=tokens)
    image = Patches(np.zeros((3, 5, 3), np.uint8), 1, view.n_k)
    page = open_page(pages.write(tmp_path / "odd.html", [Shown("a", view, prompt=0, image=image)]), "q=0")
    for name in page.locator(".views button").all_inner_texts():
        page.get_by_role("button", name=name, exact=True).click()
        for key in ("ArrowRight", "s", "h", "r", "a", "0"):
            page.keyboard.press(key)
        until(page, lambda name=name: page.locator(".stage").get_attribute("data-view") == name.lower())
        assert status(page)
    assert ("Compare" in page.locator(".views").inner_text()) == (odd != "one")


def test_lines_scroll_to_the_chosen_query(open_page: Open, tmp_path):
    path = seen(90, 2, tokens=[f"t{i}" for i in range(90)]).to_html(tmp_path / "long.html")
    page = open_page(path, "h=1&v=lines&q=80")
    seen_rows = """(() => {
        const { seen } = document.querySelector('clearhead-page').lines;
        return [(seen.scrolled) / 24, (seen.scrolled + seen.height - 34) / 24];
    })()"""
    until(page, lambda: page.evaluate(seen_rows)[0] > 0)
    for query in (80, 3, 40, 41):
        page.evaluate(f"document.querySelector('clearhead-page').context.store.set({{ query: {query} }})")
        until(page, lambda query=query: page.evaluate(seen_rows)[0] <= query < page.evaluate(seen_rows)[1])


def test_layers_speak_the_language_of_the_page(open_page: Open, tmp_path):
    path = pages.write(tmp_path / "names.html", [("layer 0", seen(5)), ("mine", seen(5, seed=2))], language="ko")
    page = open_page(path)
    assert page.locator(".layer-name").all_inner_texts() == ["층 0", "mine"]
    page.locator(".bar button", has_text="English").click()
    assert page.locator(".layer-name").all_inner_texts() == ["layer 0", "mine"]
    assert "layer 0" in page.locator(".head h2").inner_text() or "mine" in page.locator(".head h2").inner_text()
