"""The served page in a browser: a long map walked through down to one weight, computed as it is looked at."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Page
from tests.browsing import opening
from tests.page.conftest import WORDS, seen
from tests.page.test_page import HOSTILE, place, state, status, until

from clearhead import masks
from clearhead.page.content import gathered
from clearhead.page.server import Server
from clearhead.page.shown import Shown

N = 8191


@pytest.fixture(scope="module")
def long_view():
    return seen(N, 2, tokens=[WORDS[i % 13] + str(i) for i in range(N)], top_k=4)


@pytest.fixture(scope="module")
def server(long_view) -> Iterator[Server]:
    hostile = seen(len(HOSTILE), 2, tokens=HOSTILE)
    layers = [("long", long_view), Shown("hostile", hostile)]
    server = Server(gathered(layers, title="</script><b>"))
    server.start()
    yield server
    server.close()


@pytest.fixture
def open_served(browser: Browser, server):
    with opening(browser) as open_address:

        def opened(address: str = "", **options) -> Page:
            url = server.url + (f"#{address}" if address else "")
            page = open_address(url, served=server.url, **options)
            page.wait_for_selector("clearhead-page[data-ready]")
            return page

        yield opened


def tiles(page: Page) -> list[str]:
    """The tiles that are here, as level, row and column."""
    return page.evaluate("[...document.querySelector('clearhead-page').context.map.tiles.here.keys()]")


def test_from_the_whole_map_to_one_weight(open_served, long_view):
    page = open_served("l=0&h=1")
    assert "mean of 16 × 16 weights, computed as you look" in page.locator(".map > .pixel").first.inner_text()
    q, k = 7001, 4242
    for _ in range(14):
        page.mouse.move(*place(page, q, k))
        page.mouse.wheel(0, -600)
        page.wait_for_timeout(20)
    assert state(page)["window"][2] == 96
    page.mouse.move(*place(page, q, k))
    row = long_view.row(q, 1)
    rank = 1 + int((row > row[k]).sum())
    until(page, lambda: f"rank {rank:,} of {q + 1:,}" in status(page))
    weight = f"{row[k]:.4f}" if row[k] >= 5e-5 else f"{row[k]:.1e}".replace("e-0", "e-")
    assert f"weight {weight} ·" in status(page)
    assert (
        page.locator(".map > .pixel").first.inner_text()
        == "every weight is exact · strips: means of 16 queries and 16 keys"
    )
    until(page, lambda: f"0 {q // 256} {k // 256}" in tiles(page))
    shown = page.evaluate(
        """([q, k]) => {
            const { map } = document.querySelector('clearhead-page').context;
            return [0, 1, 2, 3].map((i) => map.weight(q + i, k + i));
        }""",
        [q, k],
    )
    expected = [long_view.weights(1, q + i, k + i).item() for i in range(4)]
    assert [x["kind"] for x in shown] == ["exact"] * 4
    np.testing.assert_allclose([x["value"] for x in shown], expected, rtol=1e-6)
    page.keyboard.press("0")
    assert state(page)["window"] is None


def test_what_is_drawn_at_every_level_is_what_the_view_says(open_served, long_view):
    page = open_served(f"l=0&h=1&w={4000},{5000},0.26")
    until(page, lambda: len(tiles(page)) >= 2)
    for name in tiles(page):
        level, row, column = map(int, name.split())
        side = 256 << level
        rows = slice(row * side, min((row + 1) * side, N))
        cols = slice(column * side, min((column + 1) * side, N))
        cells = tuple(-(-(x.stop - x.start) >> level) for x in (rows, cols))
        expected = long_view.tile(1, rows, cols, cells)
        if np.isnan(expected).all():  # all of it is masked
            continue
        codes, values = page.evaluate(
            """([level, row, column]) => {
                const tile = document.querySelector('clearhead-page').context.map.tiles.get(level, row, column);
                return [Array.from(tile.codes), Array.from(tile.values, (x) => (Number.isNaN(x) ? -1 : x))];
            }""",
            [level, row, column],
        )
        found = np.array(values)[np.array(codes)].reshape(cells)
        assert np.array_equal(found < 0, np.isnan(expected))
        kept = np.nan_to_num(expected) > np.nanmax(expected) / 1e5
        np.testing.assert_allclose(found[kept], expected[kept], rtol=0.03)


def test_a_coarser_tile_stands_in_and_what_is_out_of_sight_is_called_off(open_served, server):
    page = open_served("l=0&h=1")
    page.evaluate(
        """() => {
            const { map } = document.querySelector('clearhead-page').context;
            const ask = map.tiles.ask;
            window.asked = [], window.calledOff = [];
            map.tiles.ask = (level, row, column, signal) => {
                window.asked.push([level, row, column]);
                signal.addEventListener("abort", () => window.calledOff.push([level, row, column]));
                if (level > 1) return ask(level, row, column, signal);
                return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("off"))));
            };
        }"""
    )
    look = "document.querySelector('clearhead-page').context.store.set({ window: [3000, 5000, %s] })"
    shown = """() => {
        const { context, head } = document.querySelector('clearhead-page');
        return context.map.tiles.see(head.viewport, head.box).map(({ tile }) => tile && tile.level);
    }"""
    page.evaluate(look % 0.3)
    until(page, lambda: set(page.evaluate(shown)) == {2})
    page.evaluate(look % 0.6)
    until(page, lambda: any(level == 1 for level, _, _ in page.evaluate("window.asked")))
    assert set(page.evaluate(shown)) == {2}
    page.evaluate(look.replace("3000, 5000", "0, 100") % 0.6)
    until(page, lambda: len(page.evaluate("window.calledOff")) > 0)
    assert not any(name.startswith("1 ") for name in tiles(page))


WEIGHTS = """([q, k, path]) => {
    const found = path.split(".").reduce((part, name) => part[name], document.querySelector("clearhead-page"));
    return [0, 1, 2, 3].map((i) => found.weight(q + i, k + i));
}"""


def test_a_mean_of_heads_is_exact_at_every_zoom(open_served, long_view):
    q, k = 7001, 4242
    page = open_served(f"l=0&h=0&mean=0.0,0.1&w={k - 5},{q - 5},20")
    until(page, lambda: f"0 {q // 256} {k // 256}" in tiles(page))
    mean = long_view.average().weights(rows=slice(q, q + 4), cols=slice(k, k + 4))
    shown = page.evaluate(WEIGHTS, [q, k, "context.map"])
    assert [x["kind"] for x in shown] == ["exact"] * 4
    np.testing.assert_allclose([x["value"] for x in shown], np.diagonal(mean), rtol=1e-6)
    page.evaluate(f"document.querySelector('clearhead-page').context.point({{ q: {q}, k: {k} }})")
    row = long_view.average().weights(rows=slice(q, q + 1))[0]
    rank = 1 + int((row > row[k]).sum())
    until(page, lambda: f"rank {rank:,} of {q + 1:,}" in status(page))
    page.evaluate("document.querySelector('clearhead-page').context.store.set({ window: [4000, 5000, 0.26] })")
    until(page, lambda: any(name.startswith("2 ") for name in tiles(page)))
    level, row_of_tiles, column = map(int, next(name for name in tiles(page) if name.startswith("2 ")).split())
    rows, cols = (slice(at * 1024, min((at + 1) * 1024, N)) for at in (row_of_tiles, column))
    expected = long_view.average().tile(
        rows=rows, cols=cols, size=tuple(-(-(x.stop - x.start) // 4) for x in (rows, cols))
    )
    found = page.evaluate(
        "place => Array.from(document.querySelector('clearhead-page').context.map.tiles.get(...place).weights)",
        [level, row_of_tiles, column],
    )
    np.testing.assert_allclose(np.array(found).reshape(expected.shape), np.nan_to_num(expected, nan=-1), rtol=2e-6)


def test_a_difference_is_exact_at_every_zoom(open_served, long_view):
    q, k = 7001, 4242
    page = open_served(f"l=0&h=0&v=compare&with=0.1&w={k - 5},{q - 5},20")
    here = "[...document.querySelector('clearhead-page').compare.map.tiles.here.keys()]"
    until(page, lambda: f"0 {q // 256} {k // 256}" in page.evaluate(here))
    rows, cols = slice(q, q + 4), slice(k, k + 4)
    expected = np.diagonal(long_view.weights(0, rows, cols) - long_view.weights(1, rows, cols))
    shown = page.evaluate(WEIGHTS, [q, k, "compare.map"])
    assert [x["kind"] for x in shown] == ["exact"] * 4
    np.testing.assert_allclose([x["value"] for x in shown], expected, rtol=1e-5, atol=1e-9)
    scales = page.evaluate(
        """['a', 'b'].map((name) => {
            const { scale, peak } = document.querySelector('clearhead-page').compare[name].scene();
            return [scale.low, scale.high, peak];
        })"""
    )
    assert scales[0] == scales[1]  # one legend for both


def test_rows_and_columns_of_a_chosen_word_are_exact(open_served, long_view):
    page = open_served("l=0&h=0&q=5000")
    strongest = np.argsort(-long_view.row(5000, 0), kind="stable")[:8]
    expected = [f"{WORDS[i % 13]}{i}" for i in strongest]
    until(page, lambda: [x.split(" ")[0] for x in page.locator(".chip").all_inner_texts()] == expected)
    assert "≈" not in page.locator(".strongest").inner_text()
    page.keyboard.press("r")
    column = long_view.weights(0, cols=5000)
    strongest = np.argsort(-column, kind="stable")[:8]
    expected = [f"{WORDS[i % 13]}{i}" for i in strongest]
    until(page, lambda: [x.split(" ")[0] for x in page.locator(".chip").all_inner_texts()] == expected)


def test_hostile_tokens_and_a_link_that_restores_what_was_seen(open_served):
    page = open_served("l=1&h=1")
    assert page.locator("img, b script").count() == 0
    assert page.locator(".title").inner_text() == "</script><b>"
    page.mouse.click(*place(page, 6, 3))
    until(page, lambda: "q=6" in page.url)
    again = open_served(page.url.split("#")[1])
    assert state(again) == state(page)
    assert page.title() == "</script><b>"


def test_a_wide_and_a_tall_map(browser: Browser, rng):
    from clearhead import look

    q, k = rng.standard_normal((1, 3001, 7), np.float32), rng.standard_normal((1, 40, 7), np.float32)
    layers = [("tall", look(q, k)), ("wide", look(k, q)), ("odd", look(q, q, mask=masks.window(3)))]
    server = Server(gathered(layers))
    server.start()
    with opening(browser) as open_address:
        for number, view in enumerate([layers[0][1], layers[1][1], layers[2][1]]):
            page = open_address(f"{server.url}#l={number}&h=0", served=server.url, width=900)
            page.wait_for_selector("clearhead-page[data-ready]")
            at = (view.n_q - 1, view.n_k - 1)
            page.evaluate(f"document.querySelector('clearhead-page').context.point({{ q: {at[0]}, k: {at[1]} }})")
            weight = view.weights(0, *at).item()
            until(page, lambda weight=weight, page=page: f"weight {weight:.4f} · rank" in status(page) or weight < 5e-5)
            assert re.search(r"mean of|every weight", page.locator(".map > .pixel").first.inner_text())
    server.close()
