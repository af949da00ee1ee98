"""Pieces of several files as one array, without copying: their pages are mapped one after the other.

A page of memory shows a page of a file, so that a piece can follow another only where it begins at the same place of a
page in its file as in the whole. Whoever writes such pieces begins them there (`before`). Pages in which two pieces
meet are copied, one or two for a piece; and so is everything where a system maps in another way.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections.abc import Sequence

import numpy as np

from clearhead.traces.tensor_files import Place

PAGE = 65_536  # bytes: pages are that large, or a part of it, on every system
FIXED = {"linux": 0x10, "darwin": 0x10}.get(sys.platform)  # map where it is said, and
NO_RESERVE = {"linux": 0x4000, "darwin": 0x40}.get(sys.platform, 0)  # keep no memory for what may never be written
FAILED = ctypes.c_void_p(-1).value


def before(start: int, place: int) -> int:
    """How many bytes to leave before a piece that would begin at `start` of its file and is at `place` of the whole."""
    return (place - start) % PAGE


def end_to_end(pieces: Sequence[Place]) -> np.ndarray:
    """The bytes of all pieces, in their order: (nbytes)"""
    for piece in pieces:
        if piece.start + len(piece.content) > os.fstat(piece.descriptor).st_size:
            raise ValueError(f"{piece.path} is damaged: it ends before its arrays do")
    size = sum(len(piece.content) for piece in pieces)
    if len(pieces) == 1:
        return pieces[0].content
    if not size or FIXED is None:
        return np.concatenate([piece.content for piece in pieces])
    room = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
    whole = np.frombuffer(room, np.uint8)  # which holds on to the room, and with it to all that is mapped there
    begun = 0
    for piece in pieces:
        end = begun + len(piece.content)
        first, last = -(-begun // PAGE) * PAGE, end // PAGE * PAGE
        if (piece.start - begun) % PAGE or last <= first:
            whole[begun:end] = piece.content
        else:
            _map(whole.ctypes.data + first, last - first, piece, first - begun)
            whole[begun:first] = piece.content[: first - begun]
            whole[last:end] = piece.content[last - begun :]
        begun = end
    whole.flags.writeable = False
    return whole


def _map(address: int, nbytes: int, piece: Place, start: int) -> None:
    """Show some bytes of a piece at an address of memory that is our own."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    how = mmap.MAP_PRIVATE | (FIXED or 0)
    if library.mmap(address, nbytes, mmap.PROT_READ, how, piece.descriptor, piece.start + start) == FAILED:
        error = ctypes.get_errno()
        raise OSError(error, f"{os.strerror(error)}, while {piece.path.name} was mapped")
