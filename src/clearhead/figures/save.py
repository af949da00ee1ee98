"""Figures as files: whole or not at all.

A figure is written beside its place under another name and then moved there, so that whoever looks at the file, or
an interrupted run, never leaves half a picture.
"""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
SAVED_DPI = 200  # of PNG files, and of the maps inside SVG and PDF


def checked_path(save: str | os.PathLike[str]) -> Path:
    """A path that ends in .png, .svg or .pdf and lies in a folder that exists."""
    if not isinstance(save, (str, os.PathLike)):
        raise TypeError(f"save must be a path such as 'attention.png', got {save!r} of type {type(save).__name__}")
    path = Path(save)
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"save must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, got {str(save)!r}")
    path = path.resolve()  # a link keeps pointing where it pointed; the file behind it is replaced
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {str(path.parent)!r} of save={str(save)!r} does not exist; make it first")
    return path


def write(figure: Figure, path: Path) -> None:
    """Save the figure in the format its suffix names, in one step as seen from outside."""
    # A plain open: a temporary file of the tempfile module would be readable by its owner only.
    unfinished = path.with_name(f".{path.stem}.{uuid4().hex}.unfinished")
    try:
        figure.savefig(unfinished, format=path.suffix[1:].lower(), dpi=SAVED_DPI)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
