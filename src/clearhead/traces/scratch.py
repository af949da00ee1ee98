"""A folder beside the place of a trace, in which its file is made; gone when the file is there, or has failed.

While a model runs, what is kept of each layer goes to a file of its own there. Those are read back when the trace is
written, layer by layer, and each is deleted as soon as its layer is in the trace: so it takes the room of the trace and
of one layer, never that of the trace twice. A process that is killed leaves its folder behind, which the next one that
writes to the same place clears away: whoever is at work in a folder holds a lock on it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from pathlib import Path
from typing import IO, Any

import numpy as np

try:
    import fcntl
except ModuleNotFoundError:  # Windows, where files that are open cannot be deleted, which serves as well
    fcntl = None  # type: ignore[assignment]

ALIGNMENT = 64
ENDING = ".unfinished"


class _File:
    """The file of a layer; mapped once, however many arrays are in it, as a map holds a file open."""

    def __init__(self, path: Path) -> None:
        self.path, self.map = path, np.zeros(0, np.uint8)

    def add(self, array: np.ndarray) -> int:
        """Where an array that is written at the end of the file begins."""
        with self.path.open("ab") as file:
            start = file.tell()
            file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
            file.write(b"\0" * (-array.nbytes % ALIGNMENT))
        return start

    def content(self, start: int, stop: int) -> np.ndarray:
        if stop > len(self.map):  # it has grown since
            if not self.path.exists():
                raise FileNotFoundError(
                    "what was kept of this layer is gone, as the block in which it was traced did not end well, and no "
                    'file came of it; keep="memory" keeps what there was'
                )
            self.map = np.memmap(self.path, np.uint8, "r")
        return self.map[start:stop]

    def delete(self) -> None:
        self.map = np.zeros(0, np.uint8)
        with contextlib.suppress(PermissionError):  # of Windows, while it is mapped
            self.path.unlink(missing_ok=True)


class OnDisk:
    """An array in the file of its layer, which is mapped when the array is asked for."""

    def __init__(self, file: _File, start: int, like: np.ndarray) -> None:
        self.file, self.start = file, start
        self.shape, self.dtype, self.nbytes = like.shape, like.dtype, like.nbytes

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        content = self.file.content(self.start, self.start + self.nbytes)
        found = content.view(self.dtype).reshape(self.shape)
        return np.array(found, dtype) if copy else found if dtype is None else found.astype(dtype, copy=False)

    def __getitem__(self, place: Any) -> np.ndarray:
        found: np.ndarray = np.asarray(self)[place]
        return found


Kept = np.ndarray | OnDisk


class Scratch(contextlib.AbstractContextManager["Scratch"]):
    """Room beside `target` to make it in."""

    def __init__(self, target: Path) -> None:
        clear_away(target)
        made = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
        made.mkdir()
        self.folder = made.with_name(f"{made.name}{ENDING}")
        with contextlib.ExitStack() as on_failure:
            on_failure.callback(shutil.rmtree, made, ignore_errors=True)
            self.lock = on_failure.enter_context((made / "lock").open("wb"))
            if fcntl is not None:
                fcntl.flock(self.lock, fcntl.LOCK_EX)
            made.rename(self.folder)  # only now is it one that others look at, and its lock is held
            on_failure.pop_all()
        self.draft = self.folder / "draft"
        self._files: dict[int, _File] = {}  # of each owner, by the owner's id
        self._owners: list[object] = []  # kept, so that no id comes twice

    def put(self, array: np.ndarray, owner: object) -> Kept:
        """An array out of memory: written to the file of its owner, a layer."""
        if not array.size:
            return array
        if id(owner) not in self._files:
            self._files[id(owner)] = _File(self.folder / str(len(self._owners)))
            self._owners.append(owner)
        file = self._files[id(owner)]
        return OnDisk(file, file.add(array), array)

    def forget(self, owner: object) -> None:
        """Delete the file of a layer that is written by now, once nobody looks at it any more."""
        if id(owner) in self._files:
            self._files[id(owner)].delete()

    def __exit__(self, *error: Any) -> None:
        self.lock.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def clear_away(target: Path) -> None:
    """Delete what processes that were killed left beside a place."""
    for folder in target.parent.glob(f".{_literally(target.name)}.*{ENDING}"):
        if folder.is_dir() and not _is_at_work(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_at_work(folder: Path) -> bool:
    """Whether somebody holds the lock of a folder."""
    if fcntl is None:
        return False
    try:
        with _opened(folder / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:  # it was killed before it had one, or is gone by now
        return False
    except OSError:  # it is held
        return True
    return False


def _opened(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_RDWR), "rb+")


def _literally(name: str) -> str:
    """A name in which glob finds nothing to read but the name."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)
