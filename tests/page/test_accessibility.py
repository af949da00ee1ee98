"""Every view, light and dark, wide and narrow, judged by axe-core, which a developer gets with `npm install`."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from playwright.sync_api import Page
from tests.browsing import Open
from tests.documents import ROOT
from tests.page.conftest import WORDS, seen

from clearhead import look, page as pages
from clearhead.page import Patches, Shown

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"


@functools.cache
def axe() -> str:
    assert AXE.exists(), "pages are judged by axe-core, which is not installed: npm install --no-package-lock"
    return AXE.read_text(encoding="utf-8")


def violations(page: Page) -> list[str]:
    """What axe finds wrong with what is shown now: the rule, and the first elements that break it."""
    found = page.evaluate(
        """async () => (await axe.run({ resultTypes: ['violations'] })).violations.map(
            ({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(" | ")}`)"""
    )
    return list(found)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(3)
    pixels = rng.integers(0, 255, (30, 40, 3), np.uint8)
    cross = look(*rng.standard_normal((2, 2, 5, 7), np.float32), tokens=list("abcde"), key_tokens=list("vwxyz"))
    layers = [
        Shown("layer 0", seen(13, 3, tokens=WORDS), prompt=4, statistics={"effect": [0.5, -1, 2]}),
        Shown("layer 1", seen(13, 3, seed=2, tokens=WORDS), image=Patches(pixels, 3, 4, 1)),
        Shown("cross", cross, stack="cross", prompt=0),
    ]
    return pages.write(tmp_path_factory.mktemp("axe") / "page.html", layers, title="a page for everybody")


STATES = {
    "map": {"layer": 0, "head": 1, "view": "map", "query": 8, "key": 3},
    "mean": {"choice": ["0.0", "0.1", "0.2"], "where": "effect", "limit": -1},
    "lines": {"view": "lines", "choice": []},
    "step": {"view": "step"},
    "compare": {"view": "compare", "other": ["0.2"], "show": "effect"},
    "cross": {"layer": 2, "head": 0, "view": "step", "sort": "entropy", "where": ""},
    "image": {"layer": 1, "head": 0, "view": "image", "language": "ko"},
}


TABS = dict.fromkeys(STATES, "head") | {"map": "text", "mean": "model"}  # a narrow page shows one part at a time


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 400)])
def test_nothing_keeps_anybody_out(open_page: Open, path, scheme, width):
    page = open_page(path, scheme=scheme, width=width)
    page.evaluate(axe())
    found = {}
    for name, changes in STATES.items():
        page.evaluate("(x) => document.querySelector('clearhead-page').context.store.set(x)", changes)
        page.evaluate("(tab) => document.querySelector('clearhead-page').context.store.set({ tab })", TABS[name])
        page.wait_for_selector("clearhead-page:not([data-opening])")
        page.wait_for_timeout(60)
        found[name] = violations(page)
    page.keyboard.press("?")
    found["help"] = violations(page)
    assert [f"{name}: {rule}" for name, rules in found.items() for rule in rules] == []
