"""Files of safetensors: written array by array, and mapped when they are read.

A header is written last, into room that was left for it, as what it says is not known before. Every array is held to
its checksum when it is first asked for.
"""

from __future__ import annotations

import json
import os
import struct
import weakref
import zlib
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from clearhead.traces.scratch import ALIGNMENT

KEY = "clearhead"  # the one entry of the header
TYPES: dict[str, np.dtype[Any]] = {
    "F16": np.dtype(np.float16), "F32": np.dtype(np.float32), "F64": np.dtype(np.float64), "I32": np.dtype(np.int32),
    "I64": np.dtype(np.int64), "U8": np.dtype(np.uint8),
}  # fmt: skip
MOST_ROOM = 100_000_000  # for a header: safetensors opens no file with a longer one
NAMES = {kind: name for name, kind in TYPES.items()}


class Place(NamedTuple):
    """The bytes of an array as they are mapped, and where they begin in their file, which is held open by a number."""

    content: np.ndarray
    path: Path
    descriptor: int
    start: int


class Writer:
    """A safetensors file whose header is written last, into room left for it: what it says is not known before."""

    def __init__(self, file: IO[bytes], room: int) -> None:
        self.file, self.room, self.place = file, room, 0
        self.header: dict[str, Any] = {}
        self.sums: dict[str, int] = {}
        file.write(b"\0" * (8 + room))

    def put(self, name: str, array: np.ndarray) -> None:
        array = np.ascontiguousarray(array)
        kind = "BF16" if array.dtype.name == "bfloat16" else NAMES[array.dtype]
        content = _bytes(array)
        self.file.write(content)
        end = self.place + array.nbytes
        self.header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [self.place, end]}
        self.sums[name] = zlib.crc32(content)
        self.place = end

    def layer_done(self) -> None:
        """All arrays of a layer have been put."""

    def finish(self, description: dict[str, Any]) -> None:
        description["checksums"] = list(self.sums.values())
        told = json.dumps(description, ensure_ascii=True)
        content = json.dumps({"__metadata__": {KEY: told}, **self.header}).encode()
        if len(content) > self.room:
            raise RuntimeError(f"the header of a trace takes {len(content)} bytes, and there was room for {self.room}")
        self.file.seek(0)
        self.file.write(struct.pack("<Q", self.room) + content.ljust(self.room, b" "))


class Arrays:
    """The arrays of a file, mapped; each is held to its checksum when it is first asked for."""

    def __init__(self, path: Path, sums: list[int]) -> None:
        self.path = path
        # held open, so that what is read later is of this file, whatever has its name by then
        self.descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        weakref.finalize(self, os.close, self.descriptor)
        with os.fdopen(os.dup(self.descriptor), "rb") as file:
            content = np.memmap(file, np.uint8, "r")
        (room,) = struct.unpack("<Q", content[:8].tobytes())
        header = json.loads(content[8 : 8 + room].tobytes())
        header.pop("__metadata__", None)
        self.header, self.begun, self.content = header, 8 + room, content[8 + room :]
        if len(sums) != len(header):
            raise ValueError(f"{path} is damaged: it has {len(header)} arrays and {len(sums)} checksums")
        order = sorted(header, key=lambda name: header[name]["data_offsets"])
        self.sums, self.right = dict(zip(order, sums, strict=True)), set[str]()

    def get(self, name: str) -> np.ndarray:
        if name not in self.header:
            raise ValueError(f"{self.path} is damaged: {name} is missing from it")
        start, end = self.header[name]["data_offsets"]
        content = self.content[start:end]
        if name not in self.right and zlib.crc32(_bytes(content)) != self.sums[name]:
            raise ValueError(f"{self.path} is damaged: {name} is not what was written (trace.save writes it anew)")
        self.right.add(name)
        return content.view(self.kind(name)).reshape(self.header[name]["shape"])

    def kind(self, name: str) -> np.dtype[Any]:
        """The type of an array."""
        told = self.header[name]["dtype"]
        return _bfloat16() if told == "BF16" else TYPES[told]

    def place(self, name: str) -> Place:
        """Where the file has an array."""
        start, end = self.header[name]["data_offsets"]
        return Place(self.content[start:end], self.path, self.descriptor, self.begun + start)


def _bytes(array: np.ndarray) -> Any:
    """The memory of an array, row by row."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _bfloat16() -> np.dtype[Any]:
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16)


def rounded(size: int) -> int:
    """A size after which data is aligned."""
    return -(-(size + 8) // ALIGNMENT) * ALIGNMENT - 8
