"""A page on the screen: in the notebook where one is running, else in a browser, served from here."""

from __future__ import annotations

import atexit
import contextlib
import html
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearhead import advice
from clearhead.languages import RefusedError, spoken
from clearhead.names import check_options
from clearhead.page import words
from clearhead.page.content import Layers, gathered

if TYPE_CHECKING:
    from clearhead.page.server import Server

DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


def show(layers: Layers, *, browser: bool = True, block: bool = True, port: int = 0, **options: Any) -> Any:
    """Show a page: below the cell of a notebook, else in a browser until Ctrl-C.

    layers and options as in `clearhead.page.write`, without a size: maps are computed as they are looked at.

    Args:
        browser: whether to open one; the address is printed in any case.
        block: False returns at once, with a server that has a `url` and ends with `close()` or the program.
        port: which to listen on, at 127.0.0.1; any that is free unless given.

    → in marimo the widget, which a cell shows that ends in it; with block=False the server; else None
    """
    check_options("show", options, gathered)
    notebook = notebook_of(sys.modules)
    if notebook is None:
        return serve(layers, browser=browser, block=block, port=port, **options)
    widget = in_notebook(layers, **options)
    if notebook == "marimo":
        return widget
    from IPython.display import display

    display(widget)  # type: ignore[no-untyped-call]
    return None


def in_notebook(layers: Layers, **options: Any) -> Any:
    """The widget that shows a page."""
    try:
        from clearhead.page.widget import PageWidget
    except ModuleNotFoundError as error:
        raise _lacking(error) from None
    with reading() as told:
        return PageWidget(gathered(layers, **options), told)


def serve(layers: Layers, *, browser: bool = True, block: bool = True, port: int = 0, **options: Any) -> Server | None:
    """Serve a page to a browser of this machine, whether or not this is a notebook: see `show`."""
    try:
        from clearhead.page.server import Server
    except ModuleNotFoundError as error:
        raise _lacking(error) from None
    with reading() as told:
        server = Server(gathered(layers, **options), port=port, told=told)
    language = spoken(options.get("language"))
    print(words.ADDRESS(language, url=server.url), flush=True)
    if browser:
        # in a thread of its own: a browser of the BROWSER variable is waited for, and would wait for the server
        threading.Thread(target=open_unseen, args=(server.url,), daemon=True).start()
    if not block:
        server.start()
        return server
    print(words.ENDS(language), flush=True)
    server.run()
    return None


def notebook_of(modules: Any) -> str | None:
    """Which kind of notebook this runs in, if any. Nothing is loaded to find out."""
    marimo, ipython = modules.get("marimo"), modules.get("IPython")
    if marimo is not None and marimo.running_in_notebook():
        return "marimo"
    shell = None if ipython is None else ipython.get_ipython()
    return "jupyter" if hasattr(shell, "kernel") else None


def open_in_browser(address: str) -> bool:
    """Open an address where there is a screen to open it on: a browser of the terminal would take that over."""
    import webbrowser

    return has_screen() and webbrowser.open(address)


def has_screen() -> bool:
    return os.name == "nt" or sys.platform == "darwin" or any(os.environ.get(name) for name in DISPLAYS)


def open_unseen(address: str) -> bool:
    """Open an address with a key in it through a file that leads there, as everybody can see how a program was started.

    The file can be read by this user alone, and is gone when this program ends. A browser installed by snap sees
    nothing of the folder for such files, but all that is in the user's own.
    """
    if not has_screen():
        return False
    handle, name = tempfile.mkstemp(".html", "clearhead-", Path.home() if Path("/snap").is_dir() else None)
    path = Path(name)
    atexit.register(path.unlink, missing_ok=True)
    with open(handle, "w", encoding="utf-8") as file:
        url = html.escape(address)
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={url}"><a href="{url}">clearhead</a>\n')
    return open_in_browser(path.as_uri())


@contextlib.contextmanager
def reading() -> Iterator[Callable[[int, int], None]]:
    """Say in a terminal which layer is being read, until all are."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda number, count: None
        return
    with console.status("") as status:
        yield lambda number, count: status.update(words.READING(number=min(number + 1, count), count=count))


def _lacking(error: ModuleNotFoundError) -> Exception:
    """What to install, if what is missing is a part of the extra."""
    if (error.name or "").partition(".")[0] not in ("anyio", "anywidget", "starlette", "uvicorn", "ipywidgets"):
        return error
    return LackingError(words.NO_EXTRA.filled(install=advice.install("page")))


class LackingError(RefusedError, ModuleNotFoundError):
    """An extra that is not installed, said in every language."""
