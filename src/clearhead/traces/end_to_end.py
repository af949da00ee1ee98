"""Pieces of several files as one array, without copying: their pages are mapped one after the other.

A page of memory shows a page of a file, so that a piece can follow another only where it begins at the same place of a
page in its file as in the whole. Whoever writes such pieces begins them there (`before`). Pages in which two pieces
meet are copied, one or two for a piece; and so is everything where a system maps in another way.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from clearhead.traces.tensor_files import Place

PAGE = 65_536  # bytes: pages are that large, or a part of it, on every system
FIXED = {"linux": 0x10, "darwin": 0x10}.get(os.uname().sysname.lower() if hasattr(os, "uname") else "")
FAILED = ctypes.c_void_p(-1).value


def before(start: int, place: int) -> int:
    """How many bytes to leave before a piece that would begin at `start` of its file and is at `place` of the whole."""
    return (place - start) % PAGE


def end_to_end(pieces: Sequence[Place]) -> np.ndarray:
    """The bytes of all pieces, in their order: (nbytes)"""
    for piece in pieces:
        if piece.start + piece.nbytes > piece.path.stat().st_size:
            raise ValueError(f"{piece.path} is damaged: it ends before its arrays do")
    size = sum(piece.nbytes for piece in pieces)
    if len(pieces) == 1 or not size or FIXED is None:
        return _copied(pieces)
    room = mmap.mmap(-1, size)
    whole = np.frombuffer(room, np.uint8)  # which holds on to the room, and with it to all that is mapped there
    begun = 0
    for piece in pieces:
        first, last = (-(-x // PAGE) * PAGE for x in (begun, begun + piece.nbytes - PAGE + 1))
        mapped = (piece.start - begun) % PAGE == 0 and last > first
        if mapped:
            _map(whole.ctypes.data + first, last - first, piece.path, piece.start + first - begun)
        edges = [(begun, first), (last, begun + piece.nbytes)] if mapped else [(begun, begun + piece.nbytes)]
        for start, stop in edges:
            whole[start:stop] = _read(piece, start - begun, stop - start)
        begun += piece.nbytes
    whole.flags.writeable = False
    return whole


def _map(address: int, nbytes: int, path: Path, start: int) -> None:
    """Show a part of a file at an address of memory that is our own."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    with path.open("rb") as file:
        found = library.mmap(
            address, nbytes, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | (FIXED or 0), file.fileno(), start
        )
    if found == FAILED:
        raise OSError(ctypes.get_errno(), f"{os.strerror(ctypes.get_errno())}, while {path.name} was mapped")


def _copied(pieces: Sequence[Place]) -> np.ndarray:
    found = [_read(piece, 0, piece.nbytes) for piece in pieces]
    return found[0] if len(found) == 1 else np.concatenate(found) if found else np.zeros(0, np.uint8)


def _read(piece: Place, start: int, nbytes: int) -> np.ndarray:
    """Some bytes of a piece, mapped."""
    if not nbytes:
        return np.zeros(0, np.uint8)
    return np.memmap(piece.path, np.uint8, "r", piece.start + start, (nbytes,))
