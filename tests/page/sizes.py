"""How large pages are and how fast they open in Chromium: python -m tests.page.sizes

A file of the translator, and one of a model of 12 layers with 12 heads over 512 tokens. A line for each: megabytes, and
the median and the slowest of five openings, each in a browser that has not seen the page, in seconds: from the address
to the first head drawn.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser
from tests.browsing import started
from tests.page.conftest import WORDS, seen

from clearhead import Translator
from clearhead.page import write
from clearhead.showcase.exploring import explore_translation

TOKENS, LAYERS, HEADS = 512, 12, 12
OPENINGS = 5
SENTENCE = "고양이 세 마리가 공원에서 물을 마셨다"


def translator_page(folder: Path) -> Path:
    return explore_translation(Translator.load().attention(SENTENCE), folder, "en")


def model_page(folder: Path, layers: int = LAYERS, heads: int = HEADS, tokens: int = TOKENS) -> Path:
    """A page of a whole model; no two of its heads look alike."""
    names = [WORDS[i % 13] for i in range(tokens)]
    views = [(f"layer {i}", seen(tokens, heads, seed=i, tokens=names)) for i in range(layers)]
    return write(folder / "model.html", views)


def opening_time(browser: Browser, path: Path) -> float:
    """Seconds until a page is ready, in a context of its own."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    start = time.perf_counter()
    page.goto(path.as_uri())
    page.wait_for_selector("clearhead-page[data-ready]")
    took = time.perf_counter() - start
    context.close()
    return took


def main() -> None:
    with tempfile.TemporaryDirectory() as made, started() as browser:
        folder = Path(made)
        for name, path in (("translator", translator_page(folder)), ("512 × 12 × 12", model_page(folder))):
            times = [opening_time(browser, path) for _ in range(OPENINGS)]
            told = f"opens in {np.median(times):.2f} s, at most {max(times):.2f} s"
            print(f"{name:>14}  {path.stat().st_size / 1e6:5.2f} MB  {told}", flush=True)


if __name__ == "__main__":
    main()
