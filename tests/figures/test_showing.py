"""`figure.show()` in a notebook, in a window, and where there is neither."""

from __future__ import annotations

import base64
import sys
import warnings
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib._pylab_helpers import Gcf
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends import backend_agg
from matplotlib.backends.backend_agg import FigureCanvasAgg
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from clearhead.figures import visualize_attention


@pytest.fixture
def figure():
    return visualize_attention(np.eye(3))


@pytest.fixture(autouse=True)
def no_window_left():
    yield
    assert pyplot.get_fignums() == []


def test_a_notebook_displays_it_once(figure, monkeypatch):
    shown = []
    shell = SimpleNamespace(kernel=object())
    ipython = SimpleNamespace(get_ipython=lambda: shell, display=SimpleNamespace(display=shown.append))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    assert figure.show() is None
    assert shown == [figure]
    assert figure._repr_png_().startswith(b"\x89PNG")


CELLS = (
    "import numpy as np, clearhead as ch; figure = ch.visualize_attention(np.eye(3)); q = np.eye(5)[None]",
    "figure",
    "figure.show()",
    "ch.look(q, q, tokens=list('가나다라마')).plot()",
    "print(figure.canvas.manager, 'matplotlib.pyplot' in __import__('sys').modules)",
    "%matplotlib inline",
    "figure",
    "figure.show(); figure",
)


def test_a_real_kernel_displays_it_as_a_picture_and_once(tmp_path):
    """As the last line of a cell and when it is asked for, whether or not matplotlib's own support is switched on."""
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in CELLS])
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    pictures = [
        [base64.b64decode(output["data"]["image/png"])[:8] for output in cell.outputs if "data" in output]
        for cell in notebook.cells
    ]
    png = b"\x89PNG\r\n\x1a\n"
    assert pictures == [[], [png], [png], [png], [], [], [png], [png, png]]
    printed = [[output["text"] for output in cell.outputs if "text" in output] for cell in notebook.cells]
    assert printed == [[], [], [], [], ["None False\n"], [], [], []]  # no window, no pyplot, and no warning


def test_without_a_window_it_says_how_to_save(figure, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))  # loaded, but not running
    pyplot.switch_backend("agg")
    with pytest.warns(UserWarning, match=r"backend is 'agg'; write the figure to a file, figure.savefig\("):
        figure.show()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.show(warn=False)
    figure.savefig(tmp_path / "attention.png")
    assert (tmp_path / "attention.png").stat().st_size > 2000


class Window(FigureManagerBase):
    """A window that is closed as soon as the program waits for it."""

    events: ClassVar[list[str]] = []

    def show(self) -> None:
        self.events.append(f"show {self.num}")

    @classmethod
    def start_main_loop(cls) -> None:
        cls.events.append("wait")
        Gcf.destroy_all()


@pytest.fixture
def windows(monkeypatch):
    """A backend that has windows."""
    pyplot.switch_backend("agg")
    monkeypatch.setattr(backend_agg.FigureCanvasAgg, "manager_class", Window)
    monkeypatch.setattr(pyplot._get_backend_mod(), "FigureManager", Window)
    monkeypatch.setattr(pyplot._get_backend_mod(), "show", Window.pyplot_show)
    Window.events.clear()
    return Window.events


def test_a_script_opens_a_window_and_waits_until_it_is_closed(figure, windows):
    figure.show()
    assert windows == ["show 1", "wait"]
    assert figure.canvas.manager is None
    assert isinstance(figure.canvas, FigureCanvasAgg)
    figure.show()  # and once more
    assert windows == ["show 1", "wait"] * 2


def test_in_pyplots_interactive_mode_nothing_waits(figure, windows):
    with pyplot.ion():
        figure.show()
        figure.show()
        assert windows == ["show 1", "show 1"]
        assert pyplot.get_fignums() == [1]
    Gcf.destroy_all()
