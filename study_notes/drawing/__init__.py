"""The figures of the study notes: `python -m study_notes.drawing` makes all of them, or those named.

    paper      the sheet they are drawn on, and the registry
    note_01 …  one module for each note, one function for each figure

To add a figure, write a function with `@draws` in its note's module, and run the command.
"""

from __future__ import annotations

import importlib
import pkgutil

from study_notes.drawing.paper import Drawing, registry


def drawings() -> dict[str, Drawing]:
    """Every figure of every note, by name."""
    for module in pkgutil.iter_modules(__path__):
        if module.name.startswith("note_"):
            importlib.import_module(f"{__name__}.{module.name}")
    return dict(sorted(registry.items()))
