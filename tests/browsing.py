"""A browser to open pages in as a reader does: from files, offline, and with an eye on what they complain about."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, Request, sync_playwright

Open = Callable[..., Page]


@contextmanager
def started() -> Iterator[Browser]:
    """The Chromium that the machine has."""
    chromium = shutil.which("chromium")
    assert chromium, "pages are tested in Chromium, which is not installed: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-background-networking"]
        )
        yield browser
        browser.close()


@contextmanager
def opening(browser: Browser) -> Iterator[Open]:
    """Open addresses. In the end, none of the pages may have complained, or asked for more than files or its server."""
    complaints: list[str] = []
    contexts = []

    def complain(what: str) -> None:
        complaints.append(what)

    def opened(
        address: str,
        *,
        width: int = 1280,
        height: int = 900,
        scheme: str = "light",
        locale: str = "en-US",
        served: str | None = None,
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, locale=locale, service_workers="block"
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: complain(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complain(str(error)))
        inside = (served or "file:", "blob:", "data:")

        def failed(request: Request) -> None:
            if not (
                served and request.failure == "net::ERR_ABORTED"
            ):  # a page calls off what it need not know any more
                complain(f"not found: {request.url}")

        page.on("request", lambda request: None if request.url.startswith(inside) else complain(request.url))
        page.on("requestfailed", failed)
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == [], complaints
