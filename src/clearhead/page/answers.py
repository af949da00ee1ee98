"""What a page asks while it is looked at, and the answers: the same over a server's addresses and a notebook's comm.

    trace                                         the header: layers, heads and what is known of them
    tokens/TABLE/PART                             labels, 4,096 at a time
    stamps/LAYER                                  the small maps of its heads
    image/NUMBER                                  pixels
    head/LAYER/HEAD/stats                         what a page needs to open a head: map, strips, strongest keys
    head/LAYER/HEAD/tile/LEVEL/ROW/COLUMN         256 × 256 cells of 2^LEVEL positions; ?reduce=max  ?kind=f4
    head/LAYER/HEAD/row/QUERY  …/column/KEY       every weight of a query, or on a key, exact

Whatever is asked is bounded: what is not among these, or beyond what there is, is refused before anything is computed.
Arrays are answered as a frame: the length of a JSON text, the text, and the numbers it describes.
"""

from __future__ import annotations

import base64
import json
import re
import struct
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import numpy as np

from clearhead.matrices import REDUCTIONS
from clearhead.page.content import Content
from clearhead.page.filling import Fillings
from clearhead.page.fitting import Detail, head_arrays, layer_entry
from clearhead.page.packing import coded, kind_of
from clearhead.page.reading import Layer
from clearhead.page.tiling import column_of, is_within_reach, levels, row_of, tile, tiles_along

LABELS = 4096  # in one answer
EXACT = 512 * 512  # weights of a head up to which they are given as they are
OVERVIEW = 512  # cells along a side of the map that a head opens with
CACHED = 64 << 20  # bytes of answers that are kept
LONGEST = 200  # characters of a question
KINDS = ("u1", "f2", "f4")
JSON, BYTES = "application/json", "application/octet-stream"

QUESTIONS = {
    name: re.compile(pattern)
    for name, pattern in {
        "trace": r"trace",
        "tokens": r"tokens/(\d{1,9})/(\d{1,9})",
        "stamps": r"stamps/(\d{1,9})",
        "image": r"image/(\d{1,9})",
        "stats": r"head/(\d{1,9})/(\d{1,9})/stats",
        "tile": r"head/(\d{1,9})/(\d{1,9})/tile/(\d{1,9})/(\d{1,9})/(\d{1,9})",
        "row": r"head/(\d{1,9})/(\d{1,9})/row/(\d{1,9})",
        "column": r"head/(\d{1,9})/(\d{1,9})/column/(\d{1,9})",
    }.items()
}


class Question(NamedTuple):
    """What is asked, its numbers, and what a tile holds in which type."""

    name: str
    numbers: tuple[int, ...]
    reduce: str = "mean"
    kind: str = "u1"


class Reply(NamedTuple):
    """An answer, and its media type."""

    body: bytes
    kind: str


class NotAnsweredError(ValueError):
    """A question that is refused, with HTTP's status for it: 400 if it makes no sense, 404 for what is not there."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


def asked(text: str) -> Question:
    """What a path, such as head/0/3/tile/2/0/1?reduce=max, asks for.

    Raises:
        NotAnsweredError: it is too long, none of the questions there are, or has options that they do not.
    """
    if len(text) > LONGEST:
        raise NotAnsweredError(400, f"a question has at most {LONGEST} characters, got {len(text)}")
    path, _, query = text.partition("?")
    for name, pattern in QUESTIONS.items():
        if (found := pattern.fullmatch(path)) and path.isascii():
            return Question(name, tuple(map(int, found.groups())), **_options(name, query))
    raise NotAnsweredError(404, f"there is nothing at {path!r}")


def _options(name: str, query: str) -> dict[str, str]:
    choices = {"reduce": REDUCTIONS, "kind": KINDS} if name == "tile" else {}
    pairs = parse_qsl(query, keep_blank_values=True)
    for option, value in pairs:
        if option not in choices:
            raise NotAnsweredError(400, f"{name} has no option {option!r}")
        if value not in choices[option]:
            raise NotAnsweredError(400, f"{option} must be one of {', '.join(choices[option])}, got {value!r}")
    if len(dict(pairs)) < len(pairs):
        raise NotAnsweredError(400, "an option is given twice")
    return dict(pairs)


class Answers:
    """Answers questions about a page's content; any thread may ask.

    told: is called with the number of each layer as it is read, and how many there are.
    """

    def __init__(self, content: Content, dress: str, told: Callable[[int, int], None] | None = None) -> None:
        self.content, self.layers = content, content.layers
        self.computed = 0  # answers that were not at hand
        self._lock = threading.Lock()
        self._kept: OrderedDict[Question, Reply] = OrderedDict()
        self._size = 0
        self.fillings = Fillings(self.layers)
        self._stamps: list[np.ndarray] = []
        entries = []
        for number, (layer, more) in enumerate(zip(self.layers, content.entries, strict=True)):
            if told:
                told(number, len(self.layers))
            entry, stamps = layer_entry(layer, _detail(layer))
            self._stamps.append(stamps)
            entries.append(entry | more | {"levels": 0 if entry["exact"] else levels(layer)})
        if told:
            told(len(self.layers), len(self.layers))
        self.header = content.about | {
            "dress": dress,
            "layers": entries,
            "keys": max((_detail(x).keys for x in self.layers), default=0),
            "tables": [len(table) for table in content.tables],
            "labels": LABELS,
        }

    def reply(self, question: Question) -> Reply:
        """The answer, kept for the next time.

        Raises:
            NotAnsweredError: there is no such thing.
        """
        with self._lock:
            if question in self._kept:
                self._kept.move_to_end(question)
                return self._kept[question]
        self.check(question)
        reply = self._computed(question)
        with self._lock:
            self.computed += 1
            if question not in self._kept and len(reply.body) <= CACHED // 4:
                self._kept[question] = reply
                self._size += len(reply.body)
            while self._size > CACHED:
                _, old = self._kept.popitem(last=False)
                self._size -= len(old.body)
        return reply

    @property
    def size(self) -> int:
        """How many bytes of answers are kept."""
        return self._size

    def check(self, question: Question) -> None:
        """Refuse what is not there, before anything is computed."""
        name, numbers = question.name, question.numbers
        if name == "tokens":
            table, part = numbers
            _there("table", table, len(self.content.tables))
            _there("part", part, -(-len(self.content.tables[table]) // LABELS))
        if name == "image":
            _there("image", numbers[0], len(self.content.images))
        if name == "stamps":
            _there("layer", numbers[0], len(self.layers))
        if name not in ("stats", "tile", "row", "column"):
            return
        _there("layer", numbers[0], len(self.layers))
        layer = self.layers[numbers[0]]
        _there("head", numbers[1], layer.heads)
        if name == "row":
            _there("query", numbers[2], layer.n_q)
        if name == "column":
            _there("key", numbers[2], layer.n_k)
        if name == "tile":
            level, row, column = numbers[2:]
            _there("level", level, levels(layer))
            _there("row", row, tiles_along(layer.n_q, level))
            _there("column", column, tiles_along(layer.n_k, level))
            if not is_within_reach(layer, level, question.reduce):
                raise NotAnsweredError(
                    400, f"the {question.reduce} of cells of level {level} is not kept; ask a finer level"
                )

    def _computed(self, question: Question) -> Reply:
        name, numbers = question.name, question.numbers
        if name == "trace":
            return _json(self.header)
        if name == "tokens":
            table, part = numbers
            return _json(self.content.tables[table][part * LABELS : (part + 1) * LABELS])
        if name == "stamps":
            return framed({"stamps": self._stamps[numbers[0]]})
        if name == "image":
            arrays, text = list(self.content.images.values())[numbers[0]]
            shape = arrays[0][2]
            return framed({"pixels": np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8).reshape(shape)})
        layer, head = self.layers[numbers[0]], numbers[1]
        if name == "stats":
            return framed(head_arrays(layer, head, _detail(layer)))
        if name == "row":
            return framed({"weights": row_of(layer, head, numbers[2])})
        if name == "column":
            return framed({"weights": column_of(layer, head, numbers[2])})
        return _tile_reply(self._tile(question), question.kind)

    def _tile(self, question: Question) -> np.ndarray:
        """A tile from what is kept of its head's map, or computed."""
        layer, head, level, row, column = question.numbers
        kept = self.fillings.tile((layer, head), level, row, column) if question.reduce == "mean" else None
        return tile(self.layers[layer], head, level, row, column, question.reduce) if kept is None else kept


def _detail(layer: Layer) -> Detail:
    """How much of a head is given when it is opened: all of it where it is small."""
    exact = layer.n_q * layer.n_k <= EXACT
    return Detail(exact, OVERVIEW, 0 if exact else layer.strongest.indices.shape[-1])


def _tile_reply(cells: np.ndarray, kind: str) -> Reply:
    if kind == "u1":
        codes, low, high = coded(cells)
        return framed({"cells": codes}, low=low, high=high)
    return framed({"weights": cells.astype(np.float16 if kind == "f2" else np.float32)})


def framed(arrays: dict[str, np.ndarray], **told: float) -> Reply:
    """Arrays as one answer; web/codec.js reads it."""
    kinds = {name: kind_of(array) for name, array in arrays.items()}
    described = [(name, kinds[name], list(array.shape)) for name, array in arrays.items()]
    text = json.dumps({"arrays": described, **told}, allow_nan=False).encode()
    numbers = (np.ascontiguousarray(x).astype(f"<{kinds[name]}", copy=False).tobytes() for name, x in arrays.items())
    return Reply(b"".join([struct.pack("<I", len(text)), text, *numbers]), BYTES)


def _json(value: Any) -> Reply:
    return Reply(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(), JSON)


def _there(what: str, number: int, count: int) -> None:
    if number >= count:
        raise NotAnsweredError(404, f"there is no {what} {number}; there are {count}")
