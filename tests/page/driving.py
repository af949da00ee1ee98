"""Using a page as a person would, and asking what it shows: what the tests of all views share."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "<b>",
    "\u202eevil",
    "a\u2066b",
    "'\"&amp;",
    "{{x}}",
    "\u0000",
    "가나",
]


def status(page: Page) -> str:
    return page.locator(".status").inner_text()


def state(page: Page) -> dict:
    return page.evaluate("document.querySelector('clearhead-page').context.state")


def place(page: Page, q: int, k: int, pane: str = "head") -> tuple[float, float]:
    """Where the middle of a place is on the screen; pane: which map, as the page's object has it."""
    return page.evaluate(
        """([q, k, path]) => {
            const pane = path.split(".").reduce((part, name) => part[name], document.querySelector("clearhead-page"));
            const { left, top } = pane.canvas.getBoundingClientRect();
            const { x, y, scale } = pane.viewport;
            const across = pane.box.x + (k + 0.5 - x) * scale, down = pane.box.y + (q + 0.5 - y) * scale;
            return [left + pane.unit * across, top + pane.unit * down];
        }""",
        [q, k, pane],
    )


def until(page: Page, condition: Callable[[], bool]) -> None:
    """Wait for something; playwright's own way asks the page to evaluate a text, which its policy forbids."""
    for _ in range(200):
        if condition():
            return
        page.wait_for_timeout(25)
    pytest.fail("what was waited for did not come")


def choose(page: Page, layer: int, head: int) -> None:
    page.locator(".layer").nth(layer).locator("button").nth(head).click()
    until(page, lambda: f"layer {layer} · head {head}" in page.locator(".head h2").inner_text())
