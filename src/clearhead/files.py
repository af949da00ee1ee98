"""Files that appear whole or not at all.

What is written goes to another name beside its place and is moved there when it is complete. So whoever looks at the
file, a crash or a full disk never leaves half of it, and what was there before stays until then.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """A name beside `path` to write to, which becomes it when all went well."""
    # A plain name: a temporary file of the tempfile module would be readable by its owner only.
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}.unfinished")
    try:
        yield draft
        put_in_place(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def put_in_place(draft: Path, path: Path) -> None:
    """Let a file that is complete become `path`, in one step, and for good."""
    with draft.open("rb+") as file:
        os.fsync(file.fileno())
    os.replace(draft, path)
    _settle(path.parent)


def write_whole(path: Path, content: bytes) -> None:
    """Replace the file at `path` in one step, as seen from outside."""
    with unfinished(path) as draft:
        draft.write_bytes(content)


def _settle(folder: Path) -> None:
    """Ask the system to keep the new name through a power cut, where folders can be asked."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows does not open folders
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
