"""Traces in files: one safetensors file for each, which is opened at once whatever its size, and runs nothing.

What is written stands for each layer and sequence by itself, without padding: queries, keys, the runs of keys that the
mask leaves, and what was observed. Arrays are mapped, not read, and each is held to its checksum when it is first used.
The file is written beside its place and moved there when it is whole.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import struct
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError, safe_open

import clearhead
from clearhead import masks
from clearhead.files import unfinished
from clearhead.traces.images import Image
from clearhead.traces.pieces import Piece, observed, observed_arrays
from clearhead.traces.stacking import Runs

if TYPE_CHECKING:
    from clearhead.traces.result import Trace

KEY = "clearhead"  # the one entry of the header
KIND, VERSION = "trace", 1
TYPES = {
    "F16": np.dtype(np.float16), "F32": np.dtype(np.float32), "F64": np.dtype(np.float64), "I32": np.dtype(np.int32),
    "I64": np.dtype(np.int64), "U8": np.dtype(np.uint8),
}  # fmt: skip
NAMES = {kind: name for name, kind in TYPES.items()}
ALIGNMENT = 64


def write(path: Path, trace: Trace) -> None:
    """Write a trace, a layer at a time, so that memory for one layer is enough."""
    path = checked_target(path)
    description: dict[str, Any] = {
        "kind": KIND, "version": VERSION, "clearhead": clearhead.__version__, "about": trace.about,
        "top_k": trace._top_k, "map_size": trace._map_size, "calls": [],
    }  # fmt: skip
    with unfinished(path) as draft, draft.open("wb") as file:
        layers = sum(len(take.names) * take.batch for take in trace._takes)
        names = sum(len(name) for take in trace._takes for name in take.names for _ in range(take.batch))
        room = _rounded(65_536 + 4_000 * layers + 40 * names + _length_of_ids(trace))
        writer = _Writer(file, room)
        for number, take in enumerate(trace._takes):
            sequences = []
            for entry in range(take.batch):
                own, source = take.ids(entry)
                labels = trace._labelled(take, entry) if trace._tokenizer is not None else (None, None)
                image = take.image(entry)
                if image is not None:
                    writer.put(f"{number}/{entry}/pixels", image.pixels)
                layers_of_it = {
                    name: _write_piece(writer, f"{number}/{entry}/{name}", take.piece(name, entry), trace)
                    for name in take.names
                }
                sequences.append(
                    {
                        "ids": None if own is None else own.tolist(),
                        "source_ids": None if source is None else source.tolist(),
                        "labels": labels[0],
                        "source_labels": labels[1],
                        "patch": None if image is None else image.patch,
                        "layers": layers_of_it,
                    }
                )
            description["calls"].append({"sequences": sequences})
        writer.finish(description)


def _length_of_ids(trace: Trace) -> int:
    """More than the letters that ids and labels take."""
    length = 0
    for take in trace._takes:
        for entry in range(take.batch):
            ids = [x for x in take.ids(entry) if x is not None]
            length += sum(24 * len(x) for x in ids)
            if trace._tokenizer is not None:
                length += sum(12 * len(str(label)) + 8 for x in trace._labelled(take, entry) for label in x or ())
    return length


def _write_piece(writer: _Writer, name: str, piece: Piece, trace: Trace) -> dict[str, Any]:
    """A layer of a sequence; what is said of it in the description."""
    piece.view(trace._top_k, trace._map_size)
    assert piece.seen is not None
    arrays = {"q": piece.q, "k": piece.k, **observed_arrays(piece.seen)}
    arrays["top_indices"] = arrays["top_indices"].astype(np.int32)
    arrays["map_count"] = arrays["map_count"].astype(np.int64)
    if piece.mask is not None:
        sizes = masks.Sizes(piece.q.shape[-2], piece.k.shape[-2], (), piece.q.shape[0])
        runs = piece.mask.ranges(sizes)
        if runs is not None:
            low, high = (x.reshape(-1, *runs.low.shape[-2:]) for x in runs)
            arrays["low"], arrays["high"] = low.astype(np.int32), high.astype(np.int32)
        else:
            allowed = piece.mask.array(*sizes[:2], heads=piece.q.shape[0])
            allowed = allowed[:1] if (allowed == allowed[:1]).all() else allowed
            arrays["allowed"] = np.packbits(allowed, axis=-1)
    for part in ("bias", "sinks", "v"):
        if (array := getattr(piece, part)) is not None:
            arrays[part] = array
    for part, array in arrays.items():
        writer.put(f"{name}/{part}", array)
    return {
        "scale": piece.scale, "softcap": piece.softcap, "slow": piece.slow, "prompt": piece.prompt,
        "arrays": sorted(arrays),
    }  # fmt: skip


class _Writer:
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

    def finish(self, description: dict[str, Any]) -> None:
        description["checksums"] = list(self.sums.values())
        told = json.dumps(description, ensure_ascii=True)
        content = json.dumps({"__metadata__": {KEY: told}, **self.header}).encode()
        if len(content) > self.room:
            raise RuntimeError(f"the header of a trace takes {len(content)} bytes, and there was room for {self.room}")
        self.file.seek(0)
        self.file.write(struct.pack("<Q", self.room) + content.ljust(self.room, b" "))


def _rounded(size: int) -> int:
    """A size after which data is aligned."""
    return -(-(size + 8) // ALIGNMENT) * ALIGNMENT - 8


def load_trace(path: str | Path) -> Trace:
    """Open a trace that was saved: at once, whatever its size, as its arrays are mapped and not read.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is damaged, or not a trace, or one of a newer clearhead.
    """
    from clearhead.traces.result import Trace

    takes, description = opened(Path(path))
    return Trace(takes, description["about"], top_k=description["top_k"], map_size=description["map_size"])


def opened(path: Path) -> tuple[list[Any], dict[str, Any]]:
    """The forwards in a file, and what it says of itself."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; trace.save(path) writes one")
    try:
        with safe_open(path, framework="np") as file:
            told = (file.metadata() or {}).get(KEY)
    except (SafetensorError, OSError) as error:
        raise ValueError(
            f"{path} is not a whole safetensors file: {error} (was it cut short, or damaged? trace.save writes it anew)"
        ) from None
    description = _description(path, told)
    arrays = _Arrays(path, description.get("checksums", []))
    return [Stored(arrays, number, call) for number, call in enumerate(description["calls"])], description


def _description(path: Path, told: str | None) -> dict[str, Any]:
    try:
        description = json.loads(told or "{}")
    except json.JSONDecodeError:
        raise ValueError(f"{path} is damaged: its description cannot be read (trace.save writes it anew)") from None
    if not isinstance(description, dict) or description.get("kind") != KIND:
        what = description.get("kind", "something else") if isinstance(description, dict) else "something else"
        raise ValueError(f"{path} is not a trace but holds {what}; trace.save writes traces")
    if description.get("version") != VERSION:
        raise ValueError(
            f"{path} was written by clearhead {description.get('clearhead', '?')}, in version "
            f"{description.get('version')} of the format, and this one reads version {VERSION}; install that clearhead"
        )
    return description


class _Arrays:
    """The arrays of a file, mapped; each is held to its checksum when it is first asked for."""

    def __init__(self, path: Path, sums: list[int]) -> None:
        self.path = path
        content = np.memmap(path, np.uint8, "r")
        (room,) = struct.unpack("<Q", content[:8].tobytes())
        header = json.loads(content[8 : 8 + room].tobytes())
        header.pop("__metadata__", None)
        self.header, self.content = header, content[8 + room :]
        if len(sums) != len(header):
            raise ValueError(f"{path} is damaged: it has {len(header)} arrays and {len(sums)} checksums")
        order = sorted(header, key=lambda name: header[name]["data_offsets"])
        self.sums, self.right = dict(zip(order, sums, strict=True)), set[str]()

    def get(self, name: str) -> np.ndarray:
        if name not in self.header:
            raise ValueError(f"{self.path} is damaged: {name} is missing from it")
        entry = self.header[name]
        start, end = entry["data_offsets"]
        content = self.content[start:end]
        if name not in self.right and zlib.crc32(_bytes(content)) != self.sums[name]:
            raise ValueError(f"{self.path} is damaged: {name} is not what was written (trace.save writes it anew)")
        self.right.add(name)
        kind: Any = _bfloat16() if entry["dtype"] == "BF16" else TYPES[entry["dtype"]]
        return content.view(kind).reshape(entry["shape"])


def _bytes(array: np.ndarray) -> Any:
    """The memory of an array, row by row."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _bfloat16() -> np.dtype[Any]:
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16)


class Stored:
    """A forward in a file."""

    def __init__(self, arrays: _Arrays, number: int, call: dict[str, Any]) -> None:
        self.arrays, self.number, self.sequences = arrays, number, call["sequences"]
        self.batch = len(self.sequences)
        self.names = list(dict.fromkeys(name for sequence in self.sequences for name in sequence["layers"]))
        self._pieces: dict[tuple[str, int], Piece] = {}

    def piece(self, name: str, entry: int) -> Piece:
        if (name, entry) not in self._pieces:
            told = self.sequences[entry]["layers"][name]
            found = {x: self.arrays.get(f"{self.number}/{entry}/{name}/{x}") for x in told["arrays"]}
            mask: masks.Mask | None = None
            if "low" in found:
                mask = Runs(found["low"], found["high"])
            elif "allowed" in found:
                n_k = found["k"].shape[-2]
                mask = masks.array(np.unpackbits(found["allowed"], axis=-1, count=n_k).astype(np.bool_))
            seen = {**found, "top_indices": found["top_indices"].astype(np.int64)}
            self._pieces[name, entry] = Piece(
                found["q"], found["k"], mask, found.get("bias"), found.get("sinks"), told["scale"], told["softcap"],
                told["slow"], observed(seen), found.get("v"), told.get("prompt"),
            )  # fmt: skip
        return self._pieces[name, entry]

    def ids(self, entry: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        told = self.sequences[entry]
        own, source = (None if told[x] is None else np.asarray(told[x], np.int64) for x in ("ids", "source_ids"))
        return own, source

    def labels(self, entry: int) -> tuple[list[str] | None, list[str] | None]:
        """The labels that were saved, if there were any."""
        told = self.sequences[entry]
        return told["labels"], told["source_labels"]

    def image(self, entry: int) -> Image | None:
        """The image that the model was given, if there was one."""
        patch = self.sequences[entry].get("patch")
        return None if patch is None else Image(self.arrays.get(f"{self.number}/{entry}/pixels"), patch)


class Scratch(contextlib.AbstractContextManager["Scratch"]):
    """A file beside the place of a trace, to which arrays go while a model runs; gone when the block ends."""

    def __init__(self, target: Path) -> None:
        self.path = target.with_name(f".{target.name}.{secrets.token_hex(8)}.running")
        self.file: IO[bytes] = self.path.open("wb+")
        self.place = 0

    def put(self, array: np.ndarray) -> np.ndarray:
        """An array out of memory: written, and mapped."""
        self.file.write(_bytes(array))
        padding = -array.nbytes % ALIGNMENT
        self.file.write(b"\0" * padding)
        self.file.flush()
        start, self.place = self.place, self.place + array.nbytes + padding
        if not array.size:
            return array
        return np.memmap(self.path, np.uint8, "r", start, (array.nbytes,)).view(array.dtype).reshape(array.shape)

    def __exit__(self, *error: Any) -> None:
        self.file.close()
        self.path.unlink(missing_ok=True)


def checked_target(path: str | Path) -> Path:
    """A place that a trace can be written to."""
    if not isinstance(path, (str, Path)):
        raise TypeError(f'a trace is kept in "memory" or in a file, whose path is to be given, got {path!r}')
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; a trace is one file, such as {path / 'trace.safetensors'}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")
    return path
