"""Figures as files, in the format their suffix names."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path

from matplotlib.figure import Figure

from clearhead.files import unfinished

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
    with unfinished(path) as place:
        figure.savefig(place, format=path.suffix[1:].lower(), dpi=SAVED_DPI)


def rendered(figure: Figure, file_type: str) -> bytes:
    """What such a file would hold."""
    written = BytesIO()
    figure.savefig(written, format=file_type, dpi=SAVED_DPI)
    return written.getvalue()
