"""The site, built once for all tests of a run, and a browser to open it in from file://, as a reader does offline."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from playwright.sync_api import Browser, Page, sync_playwright
from tests.documents import ROOT

Open = Callable[..., Page]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The folder of the site's pages. The worker that comes first builds it for all."""
    own = tmp_path_factory.getbasetemp()
    shared = own if worker_id == "master" else own.parent
    log = shared / "site.log"
    with FileLock(shared / "site.lock"):
        if not log.exists():
            command = [sys.executable, "-m", "docs.site", "--out", str(shared / "site")]
            built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            log.write_text("" if built.returncode == 0 else f"{built.stdout}\n{built.stderr}", encoding="utf-8")
    assert not log.read_text(encoding="utf-8"), "python -m docs.site does not build the site"
    return shared / "site" / "html"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    assert chromium, "the site is tested in Chromium, which is not installed: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-background-networking"]
        )
        yield browser
        browser.close()


@pytest.fixture
def open_page(site: Path, browser: Browser) -> Iterator[Open]:
    """Open a page of the site. When the test ends, none of them may have complained or asked for more than files."""
    complaints: list[str] = []
    contexts = []

    def complain(what: str) -> None:
        complaints.append(what)

    def opened(path: str, *, width: int = 1280, scheme: str = "light", locale: str = "en-US") -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, locale=locale, service_workers="block"
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: complain(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complain(str(error)))
        page.on("request", lambda request: None if request.url.startswith("file:") else complain(request.url))
        page.on("requestfailed", lambda request: complain(f"not found: {request.url}"))
        page.goto((site / path).as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
