"""The figures of the gallery: each is a script of a few lines that leaves a figure named `figure`.

The site shows a script beside what it drew, so the two cannot differ. To add a figure, write a script here and give it
a section in docs/en/gallery.md and docs/ko/gallery.md.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from clearhead.languages import speaking

FOLDER = Path(__file__).parent
SCRIPTS = {path.stem: path for path in sorted(FOLDER.glob("[!_]*.py"))}


def draw(name: str, language: str) -> Figure:
    """Run a script, with the words that clearhead puts into its figure in this language."""
    with speaking(language):
        return runpy.run_path(str(SCRIPTS[name]))["figure"]


def write(folder: Path, language: str, names: list[str] | None = None) -> list[Path]:
    """Draw the figures, all unless named, into a folder, as name.svg: the same files in every run."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in SCRIPTS if names is None else names:
        path = folder / f"{name}.svg"
        with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
            draw(name, language).savefig(path, metadata={"Date": None, "Creator": f"python -m docs.gallery {name}"})
        written.append(path)
    return written
