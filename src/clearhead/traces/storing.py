"""Traces in files: one safetensors file for each, which is opened at once whatever its size, and runs nothing.

What is written stands for each layer and sequence by itself, without padding: queries, keys, the runs of keys that the
mask leaves, and what was observed. Arrays are mapped, not read, and each is held to its checksum when it is first used.
The file is made in a folder beside its place and moved there when it is whole.
"""

from __future__ import annotations

import contextlib
import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError, safe_open

import clearhead
from clearhead import masks
from clearhead.files import put_in_place
from clearhead.languages import RefusedError
from clearhead.text.spans import Spans
from clearhead.traces import words
from clearhead.traces.by_distance import ByDistance
from clearhead.traces.facts import Facts
from clearhead.traces.images import Image
from clearhead.traces.pieces import Piece, observed, observed_arrays
from clearhead.traces.rank_files import PART, SEVERAL, JoinedArrays, joined_arrays, parts_of
from clearhead.traces.reading import Reading
from clearhead.traces.scratch import Scratch
from clearhead.traces.stacking import Runs
from clearhead.traces.tensor_files import KEY, MOST_ROOM, Arrays, Writer, rounded

if TYPE_CHECKING:
    from clearhead.traces.result import Trace

KIND, VERSION = "trace", 2
READABLE = (1, 2, SEVERAL)  # the first had neither a bias by distance nor gradients


def write(path: Path, trace: Trace, scratch: Scratch | None = None) -> None:
    """Write a trace, a layer at a time, so that memory for one layer is enough.

    scratch: where the arrays of its layers are, each of which is deleted once it is written.
    """
    path = checked_target(path)
    with contextlib.ExitStack() as until_the_end:
        room_beside = until_the_end.enter_context(Scratch(path)) if scratch is None else scratch
        with room_beside.draft.open("wb") as file:
            writer = Writer(file, room(trace))
            calls = write_calls(writer, trace, scratch)
            writer.finish({"version": VERSION, **description(trace, calls)})
        put_in_place(room_beside.draft, path)


def description(trace: Trace, calls: list[Any]) -> dict[str, Any]:
    """What a file says of its trace."""
    return {
        "kind": KIND, "clearhead": clearhead.__version__, "about": trace.about, "top_k": trace._top_k,
        "map_size": trace._map_size, "facts": asdict(trace.facts), "calls": calls,
    }  # fmt: skip


def write_calls(writer: Writer, trace: Trace, scratch: Scratch | None) -> list[dict[str, Any]]:
    """All forwards; what is said of each in the description."""
    return [_write_call(writer, number, take, trace, scratch) for number, take in enumerate(trace._takes)]


def _write_call(writer: Writer, number: int, take: Any, trace: Trace, scratch: Scratch | None) -> dict[str, Any]:
    """One forward, layer by layer; what is said of it in the description."""
    sequences, entries = [], entries_of(take, trace)
    for place, entry in enumerate(entries):
        ids = take.ids(entry)
        scales = take.scales(entry)
        told: dict[str, Any] = {"scales": None if scales is None else scales.tolist(), "layers": {}}
        if (image := take.image(entry)) is not None:
            writer.put(f"{number}/{place}/pixels", image.pixels)
            told["patch"] = image.patch
        for name, numbers, reading in zip(("", "source_"), ids, trace._read(take, entry), strict=True):
            told[f"{name}ids"] = None if numbers is None else numbers.tolist()
            told |= _write_reading(writer, f"{number}/{place}", name, reading, numbers)
        sequences.append(told)
    for name in take.names:
        for place, (entry, told) in enumerate(zip(entries, sequences, strict=True)):
            piece = take.piece(name, entry)
            told["layers"][name] = _write_piece(writer, f"{number}/{place}/{name}", piece, trace)
        writer.layer_done()
        if scratch is not None:
            scratch.forget(take.released(name))
    return {"sequences": sequences}


def entries_of(take: Any, trace: Trace) -> list[int]:
    """The sequences of a forward that a trace is of: all, or one."""
    return list(range(take.batch)) if trace._entry is None else [trace._entry]


def _write_reading(
    writer: Writer, place: str, name: str, reading: Reading | None, ids: np.ndarray | None
) -> dict[str, Any]:
    """What the tokens of a sequence read as; what is said of it in the description."""
    if reading is None or (reading.spans is None and ids is not None and reading.labels == list(map(str, ids))):
        return {f"{name}labels": None}
    if reading.spans is None:  # as a file of an earlier version has it, without the text
        return {f"{name}labels": reading.labels}
    text = reading.spans.text.encode("utf-8", "surrogatepass")
    writer.put(f"{place}/{name}text", np.frombuffer(text, np.uint8))
    writer.put(f"{place}/{name}offsets", np.asarray(reading.spans.offsets, np.int64).reshape(-1, 2))
    told: dict[str, Any] = {f"{name}labels": reading.labels, f"{name}names": _few(reading.spans.names)}
    if reading.parts is not None:
        names = list(dict.fromkeys(reading.parts))
        writer.put(f"{place}/{name}parts", np.array([names.index(x) for x in reading.parts], np.int32))
        told[f"{name}parts"] = names
    return told


def _few(names: list[str | None]) -> dict[str, str]:
    """The names that there are, by their places."""
    return {str(i): name for i, name in enumerate(names) if name is not None}


def room(trace: Trace, arrays: int = 20) -> int:
    """More than the letters that the header will take; refused where no reader would open the file.

    arrays: how many there are of a layer of a sequence, at the most
    """
    room = 65_536 + 2 * len(json.dumps([trace.about, asdict(trace.facts)]))  # a text in a text: quotes take two letters
    for take in trace._takes:
        entries = entries_of(take, trace)
        letters = sum(200 + 3 * len(name) for name in take.names)  # of one array of each layer
        room += len(entries) * (4_000 + arrays * letters)
        for entry in entries:
            room += sum(24 * len(ids) for ids in take.ids(entry) if ids is not None)
            scales = take.scales(entry)
            room += 0 if scales is None else 26 * len(scales)
            for reading in trace._read(take, entry):
                if reading is not None:
                    names = [] if reading.spans is None else filter(None, reading.spans.names)
                    words = [*reading.labels, *names, *set(reading.parts or ())]
                    room += sum(14 * len(str(word)) + 24 for word in words)
    if rounded(room) > MOST_ROOM:
        raise ValueError(
            f"this trace is too long for one file: what is said of its {len(trace._takes)} forwards would take "
            f"{room:,} bytes, and safetensors opens no file with more than {MOST_ROOM:,}; trace fewer calls, sequences "
            "or layers in a block, or write each forward by itself: trace.calls[0].save(path)"
        )
    return rounded(room)


def _write_piece(writer: Writer, name: str, piece: Piece, trace: Trace) -> dict[str, Any]:
    """A layer of a sequence; what is said of it in the description."""
    seen = piece.watched(trace._top_k, trace._map_size)
    arrays = {"q": piece.q, "k": piece.k, **observed_arrays(seen)}
    arrays["top_indices"] = arrays["top_indices"].astype(np.int32)
    arrays["map_count"] = arrays["map_count"].astype(np.int64)
    if piece.mask is not None:
        arrays |= _mask_arrays(piece.mask, masks.Sizes(*piece.sizes, (), piece.q.shape[0]))
    for part in ("bias", "sinks", "v", "gradient"):
        if isinstance(array := getattr(piece, part), np.ndarray):
            arrays[part] = array
    first = 0
    if isinstance(piece.bias, ByDistance):
        arrays["bias_table"], first = piece.bias.table, piece.bias.first
    for part, array in arrays.items():
        piece.put(writer, f"{name}/{part}", part, array)
    return {
        "scale": piece.scale, "softcap": piece.softcap, "slow": piece.slow, "prompt": piece.prompt,
        "changed": piece.changed,
        "arrays": sorted(arrays), **({"bias_first": first} if "bias_table" in arrays else {}),
    }  # fmt: skip


def _mask_arrays(mask: masks.Mask, sizes: masks.Sizes) -> dict[str, np.ndarray]:
    """A mask as arrays: the runs of keys that it leaves, or, where those are too many, a bit for each place."""
    runs = mask.ranges(sizes)
    if runs is not None:
        low, high = (x.reshape(math.prod(x.shape[:-2]), *x.shape[-2:]) for x in runs)
        return {"low": low.astype(np.int32), "high": high.astype(np.int32)}
    allowed = mask.array(*sizes[:2], heads=sizes.heads)
    allowed = allowed[:1] if (allowed == allowed[:1]).all() else allowed
    return {"allowed": np.packbits(allowed, axis=-1)}


def load_trace(path: str | Path) -> Trace:
    """Open a trace that was saved: at once, whatever its size, as its arrays are mapped and not read.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is damaged, or not a trace, or one of a newer clearhead.
    """
    from clearhead.traces.result import Trace

    takes, told = opened(Path(path))
    trace = Trace(takes, told["about"], top_k=told["top_k"], map_size=told["map_size"])
    trace.facts = Facts(**told.get("facts", {}))
    return trace


def opened(path: Path) -> tuple[list[Any], dict[str, Any]]:
    """The forwards in a file, and what it says of itself."""
    told = described(path, KIND)
    arrays: Any = Arrays(path, told.get("checksums", []))
    if "parts" in told:
        arrays = joined_arrays(arrays, [(part, described(part, PART)) for part in parts_of(path, told)], told)
    return [Stored(arrays, number, call) for number, call in enumerate(told["calls"])], told


def described(path: Path, kind: str) -> dict[str, Any]:
    """What a file says of itself, which is to be of a kind."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; trace.save(path) writes one")
    try:
        with safe_open(path, framework="np") as file:
            told = (file.metadata() or {}).get(KEY)
    except (SafetensorError, OSError) as error:
        raise RefusedError(words.NOT_WHOLE.filled(path=path, error=error)) from None
    return _description(path, told, kind)


def _description(path: Path, told: str | None, kind: str) -> dict[str, Any]:
    try:
        description = json.loads(told or "{}")
    except json.JSONDecodeError:
        raise RefusedError(words.UNREADABLE.filled(path=path)) from None
    if not isinstance(description, dict) or description.get("kind") != kind:
        what = description.get("kind") if isinstance(description, dict) else None
        if what == PART:
            raise RefusedError(words.IS_PART.filled(path=path, first=path.with_name(description["name"])))
        raise RefusedError(words.NO_TRACE.filled(path=path, what=words.SOMETHING_ELSE if what is None else what))
    if description.get("version") not in READABLE:
        raise RefusedError(
            words.OTHER_VERSION.filled(
                path=path,
                clearhead=description.get("clearhead", "?"),
                version=description.get("version"),
                readable=", ".join(map(str, READABLE)),
            )
        )
    return description


class Stored:
    """A forward in a file."""

    def __init__(self, arrays: Arrays | JoinedArrays, number: int, call: dict[str, Any]) -> None:
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
            bias = ByDistance(found["bias_table"], told["bias_first"]) if "bias_table" in found else found.get("bias")
            seen = {**found, "top_indices": found["top_indices"].astype(np.int64)}
            self._pieces[name, entry] = Piece(
                found["q"], found["k"], mask, bias, found.get("sinks"), told["scale"], told["softcap"],
                told["slow"], observed(seen), found.get("v"), found.get("gradient"), told.get("prompt"),
                told.get("changed", False),
            )  # fmt: skip
        return self._pieces[name, entry]

    def ids(self, entry: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        told = self.sequences[entry]
        own, source = (None if told[x] is None else np.asarray(told[x], np.int64) for x in ("ids", "source_ids"))
        return own, source

    def scales(self, entry: int) -> np.ndarray | None:
        """By how much the last norm stretched each position, if that was known."""
        told = self.sequences[entry].get("scales")
        return None if told is None else np.asarray(told, np.float64)

    def readings(self, entry: int) -> tuple[Reading | None, Reading | None]:
        """What its tokens read as, where that was saved."""
        return self._reading(entry, ""), self._reading(entry, "source_")

    def _reading(self, entry: int, name: str) -> Reading | None:
        told = self.sequences[entry]
        labels, place = told[f"{name}labels"], f"{self.number}/{entry}/{name}"
        if labels is None or f"{name}names" not in told:  # as an earlier version wrote it, without the text
            return None if labels is None else Reading(labels)
        text = self.arrays.get(f"{place}text").tobytes().decode("utf-8", "surrogatepass")
        offsets = [(int(start), int(stop)) for start, stop in self.arrays.get(f"{place}offsets")]
        names = [told[f"{name}names"].get(str(i)) for i in range(len(labels))]
        parts = None
        if f"{name}parts" in told:
            parts = [told[f"{name}parts"][i] for i in self.arrays.get(f"{place}parts")]
        return Reading(labels, Spans(text, offsets, names), parts)

    def image(self, entry: int) -> Image | None:
        """The image that the model was given, if there was one."""
        patch = self.sequences[entry].get("patch")
        return None if patch is None else Image(self.arrays.get(f"{self.number}/{entry}/pixels"), patch)


def checked_target(path: str | Path) -> Path:
    """A place that a trace can be written to."""
    if not isinstance(path, (str, Path)):
        raise TypeError(f'a trace is kept in "memory" or in a file, whose path is to be given, got {path!r}')
    path = Path(path).absolute()  # whatever folder the block goes to
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; a trace is one file, such as {path / 'trace.safetensors'}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")
    return path
