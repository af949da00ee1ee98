"""`show()`: in a notebook, in a browser, and where something is missing."""

from __future__ import annotations

import sys
import time
import webbrowser
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from tests.page.conftest import WORDS, seen

from clearhead import advice, page
from clearhead.page import showing


@pytest.fixture
def opened(monkeypatch) -> list[str]:
    """The addresses that a browser was asked for, on a machine with a screen."""
    addresses: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: addresses.append(address) or True)
    monkeypatch.setenv("DISPLAY", ":0")
    return addresses


def until_opened(opened: list[str]) -> None:
    """A browser is asked for in a thread of its own."""
    for _ in range(200):
        if opened:
            return
        time.sleep(0.01)
    pytest.fail("no browser was asked for")


def test_outside_of_a_notebook_a_browser_is_opened_at_the_address_that_is_said(opened, capsys):
    server = seen(13, tokens=WORDS).show(block=False, language="en", title="the cat")
    said = capsys.readouterr().out
    until_opened(opened)
    path = Path(url2pathname(urlsplit(opened[0]).path))
    assert f'content="0; url={server.url}"' in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600  # nobody else reads the key, nor sees it among a browser's arguments
    path.unlink()
    assert said == f"the page is at {server.url}\n"
    assert server.answers.header["title"] == "the cat"
    server.close()
    assert not server.thread.is_alive()


def test_no_browser_is_opened_if_that_is_said_or_where_there_is_no_screen(opened, monkeypatch):
    seen(5).show(block=False, browser=False).close()
    for name in showing.DISPLAYS:
        monkeypatch.delenv(name, raising=False)
    seen(5).show(block=False).close()
    assert opened == []


@pytest.mark.parametrize(
    ("modules", "kind"),
    [
        ({}, None),
        ({"IPython": SimpleNamespace(get_ipython=lambda: None)}, None),
        ({"IPython": SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1))}, "jupyter"),
        ({"marimo": SimpleNamespace(running_in_notebook=lambda: True)}, "marimo"),
        ({"marimo": SimpleNamespace(running_in_notebook=lambda: False)}, None),
    ],
)
def test_which_notebook_this_is(modules, kind):
    assert showing.notebook_of(modules) == kind


def test_marimo_shows_what_a_cell_ends_in(monkeypatch):
    monkeypatch.setattr(showing, "notebook_of", lambda modules: "marimo")
    assert type(seen(5).show()).__name__ == "PageWidget"


@pytest.mark.parametrize(("missing", "where"), [("uvicorn", None), ("anywidget", "jupyter")])
def test_what_is_missing_is_said_with_the_command_that_installs_it(monkeypatch, missing, where):
    monkeypatch.setattr(showing, "notebook_of", lambda modules: where)
    monkeypatch.setitem(sys.modules, missing, None)
    for module in ("clearhead.page.server", "clearhead.page.widget"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(ModuleNotFoundError) as raised:
        page.show([("a", seen(5))])
    assert advice.install("page") in str(raised.value)
    assert "starlette과 uvicorn" in raised.value.said("ko")
