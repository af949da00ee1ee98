"""Pages made of small views, opened in a browser."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Page
from tests.browsing import Open, opening

from clearhead import look, masks
from clearhead.views import View

WORDS = ["The", "cat", "that", "we", "fed", "sat", "on", "the", "mat", "because", "it", "was", "tired"]


def seen(n: int, h: int = 3, *, seed: int = 1, tokens: list[str] | None = None, causal: bool = True, **options) -> View:
    """A view with heads of several kinds: decided, spread out, and resting on the first token."""
    rng = np.random.default_rng(seed)
    q, k = rng.standard_normal((2, h, n, 11), np.float32) * np.linspace(0.4, 3, h, dtype=np.float32)[:, None, None]
    k[-1, 0] += 1
    return look(q, k, mask=masks.causal() if causal else None, tokens=tokens, **options)


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Open a page of clearhead's, and wait until it is ready."""
    with opening(browser) as open_address:

        def opened(path, address: str = "", **options) -> Page:
            page = open_address(path.as_uri() + (f"#{address}" if address else ""), **options)
            page.wait_for_selector("clearhead-page[data-ready]")
            return page

        yield opened
