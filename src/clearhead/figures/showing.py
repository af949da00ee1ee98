"""A figure in a window or in a notebook, when someone asks for it: what `figure.show()` does.

Figures are made without pyplot, and so without windows. To show one, pyplot is asked for a window around the figure
that is there; pyplot is loaded at that moment and not before.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

from matplotlib._pylab_helpers import Gcf
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def show(figure: Figure, *, warn: bool = True) -> None:
    """Show the figure in a notebook, or in a window until it is closed; where neither is, warn and say how to save it.

    As with pyplot, windows do not hold up the program in its interactive mode, `pyplot.ion()`.
    """
    notebook = _notebook()
    if notebook is not None:
        notebook.display.display(figure)
        return
    if figure.canvas.manager is not None:  # it has a window already
        figure.canvas.manager.show()
        return
    from matplotlib import get_backend, pyplot

    number = max(pyplot.get_fignums(), default=0) + 1
    manager = pyplot.new_figure_manager(number, FigureClass=lambda: figure)  # type: ignore[no-untyped-call]
    if type(manager).show is FigureManagerBase.show:
        FigureCanvasAgg(figure)
        if warn:
            warnings.warn(
                f"no window can be opened here, as matplotlib's backend is {get_backend()!r}; write the figure to a "
                "file, figure.savefig('attention.png'), or install a toolkit for windows: pip install PyQt6",
                stacklevel=3,
            )
        return
    Gcf._set_new_active_manager(manager)
    pyplot.show()
    if not pyplot.fignum_exists(number):  # the window was closed, and with it what drew the figure
        FigureCanvasAgg(figure)


def _notebook() -> Any:
    """IPython, if this runs in a kernel of it."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return ipython if hasattr(shell, "kernel") else None
