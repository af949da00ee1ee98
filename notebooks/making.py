"""A notebook from its source: jupytext reads it, a kernel runs it, and what belongs to one machine is left out.

A cell tagged `measured` prints what depends on the machine or on the translator that ships; what the others print is
the same everywhere, and a test compares it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
NAME = "attention_tutorial"
MEASURED = "measured"
SECONDS = 300  # that a cell may take, on a busy machine that compiles kernels
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def source(language: str) -> Path:
    return FOLDER / f"{NAME}.{language}.py"


def target(language: str) -> Path:
    return source(language).with_suffix(".ipynb")


def unexecuted(language: str) -> Any:
    """The notebook as its source has it, with cells that are named by their order."""
    notebook = jupytext.read(source(language))
    notebook.metadata = nbformat.from_dict(METADATA)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number:03}"
        cell.metadata = nbformat.from_dict({"tags": cell.metadata.tags} if "tags" in cell.metadata else {})
    return notebook


def execute(notebook: Any) -> Any:
    """Run every cell from top to bottom, in a kernel of its own, and keep what it shows.

    Raises:
        CellExecutionError: a cell fails.
        ValueError: a cell writes to stderr, which would show warnings and paths of this machine.
    """
    here = {"metadata": {"path": str(FOLDER)}}
    settings = {"kernel_name": "python3", "extra_arguments": ["--log-level=ERROR"], "coalesce_streams": True}
    client = NotebookClient(notebook, timeout=SECONDS, record_timing=False, resources=here, **settings)
    client.execute(env={**os.environ, "CLEARHEAD_QUIET": "1"})  # which kernels were compiled is the machine's affair
    notebook.metadata = nbformat.from_dict(METADATA)  # the kernel's own names its version
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                raise ValueError(f"cell {number} writes to stderr, where a notebook should be silent: {output.text}")
    return notebook


def printed(cell: Any) -> str:
    """All that a cell prints, and the text of its result where it is no picture."""
    texts = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if output.output_type == "stream":
            texts.append(output.text)
        elif not any(kind.startswith("image/") for kind in data):
            texts.append(data.get("text/plain", ""))
    return "".join(texts)


def is_measured(cell: Any) -> bool:
    return MEASURED in cell.metadata.get("tags", [])
