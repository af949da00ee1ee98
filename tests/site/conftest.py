"""The site, built once for all tests of a run, and a browser to open it in from file://, as a reader does offline."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from playwright.sync_api import Browser, Page
from tests.browsing import opening
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


@pytest.fixture
def open_page(site: Path, browser: Browser) -> Iterator[Open]:
    """Open a page of the site. When the test ends, none of them may have complained or asked for more than files."""
    with opening(browser) as open_address:
        yield lambda path, **options: open_address((site / path).as_uri(), **options)
