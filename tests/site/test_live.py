"""The live examples: what the site links to opens, shows the view it is named after, and is small."""

from __future__ import annotations

import pytest
from docs.site import live
from playwright.sync_api import Page
from tests.page.driving import state, status, until
from tests.site.conftest import Open

from clearhead import Translator
from clearhead.languages import LANGUAGES

LINKS = f'a[href^="{live.FOLDER}/"]'
VIEWS = ("Model", "Head", "Text", "Lines", "Step", "Image", "Compare")


def followed(page: Page, number: int) -> str:
    """Click a link of the live page, and wait until what it leads to is there. → what the link was called"""
    link = page.locator(LINKS).nth(number)
    name = link.inner_text()
    link.click()
    page.wait_for_selector("clearhead-page[data-ready]")
    return name


def shown(page: Page) -> str:
    """Which view a link was for, by what is on the screen."""
    if page.locator(".heads:not(.in-layers)").is_visible():
        return "Model"
    if state(page)["tab"] == "text":
        until(page, lambda: page.locator(".chip").count() > 0)
        return "Text"
    name = state(page)["view"]
    assert page.locator(f".{name}").first.is_visible()
    return {"map": "Head"}.get(name, name.capitalize())


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_link_opens_the_view_it_is_named_after(open_page: Open, language):
    page = open_page(f"{language}/live.html", width=1440)
    assert page.locator(LINKS).count() == len(VIEWS)
    for number, view in enumerate(VIEWS):
        name = followed(page, number)
        assert shown(page) == view
        assert page.evaluate("document.documentElement.lang") == language
        assert name == page.evaluate(f"document.querySelector('clearhead-page').context.say('{view.lower()}')")
        page.go_back()


def test_the_weights_are_those_of_the_shipped_translator(open_page: Open):
    page = open_page("en/live.html", width=1440)
    followed(page, VIEWS.index("Head"))
    page.evaluate("document.querySelector('clearhead-page').context.point({ q: 3, k: 5 })")
    weight = Translator.load().attention(live.SENTENCE).encoder[0, 0, 3, 5]
    assert f"weight {weight:.4f} ·" in status(page)


def test_each_file_is_small(site):
    for language in LANGUAGES:
        files = sorted((site / language / live.FOLDER).iterdir())
        assert [path.name for path in files] == ["compare.html", "image.html", "translation.html"]
        assert all(path.stat().st_size < 1_000_000 for path in files)
