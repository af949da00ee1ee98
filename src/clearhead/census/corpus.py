"""A corpus: files of text, JSON lines or Parquet, as documents in a fixed order, and cut into shards.

A shard is a run of documents that one worker reads, known by its number. How the corpus is cut depends on its files and
on the size of a shard, and on nothing else: not on how many workers there are, nor on what was done before.

    .jsonl .ndjson     each line an object with a field of text
    .parquet           each row a document, with a column of text
    anything else      a file is one document, in UTF-8

All bytes are read once to plan: that gives the number of documents, where each shard begins, and a hash that knows this
corpus again.
"""

from __future__ import annotations

import errno
import functools
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clearhead.census.naming import files_of, printable

LINES, TABLES = (".jsonl", ".ndjson"), (".parquet",)
TEXTS = (".txt", ".text", ".md", ".rst")
BLOCK = 2**20
GONE = (
    "{path} could be read when the corpus was planned, and cannot be now: {why}; "
    "it must be there, as it was, on every machine that a worker runs on"
)


class Piece(NamedTuple):
    """Some documents of one file, next to each other.

    path: to open it by  file: its name, as it is told  kind: "text", "lines", "table" or, of a file that cannot be
    read as a whole, "broken"  first: the number of the first document in the file  start: its first byte, of lines
    length: of the whole file in bytes
    """

    path: str
    file: str
    kind: str
    first: int
    size: int
    start: int = 0
    length: int = 0


class Shard(NamedTuple):
    """Documents that are read together.

    number: of the shard  first: of its first document in the corpus  census: the mark of the one it is read for
    """

    number: int
    first: int
    pieces: tuple[Piece, ...]
    census: str = ""

    @property
    def documents(self) -> int:
        """How many documents it has."""
        return sum(piece.size for piece in self.pieces)

    def as_json(self) -> str:
        """The shard as a text, for workers."""
        return json.dumps(self)

    @classmethod
    def from_json(cls, text: str) -> Shard:
        number, first, pieces, census = json.loads(text)
        return cls(number, first, tuple(Piece(*piece) for piece in pieces), census)


class Plan(NamedTuple):
    """A corpus in shards. left_out: files in folders that are of no kind that is read  digest: of names and bytes"""

    shards: list[Shard]
    files: int
    documents: int
    left_out: list[str]
    digest: str


class Document(NamedTuple):
    """One document: its number in the corpus, its file and number there, and its text, or why there is none."""

    number: int
    file: str
    place: int
    text: str | None
    problem: str = ""


def planned(paths: Sequence[str | Path], *, size: int, field: str = "text") -> Plan:
    """The documents of files and folders in shards of so many documents."""
    found, left_out = files_of(paths, (*LINES, *TABLES, *TEXTS))
    digest = hashlib.sha256()
    shards: list[Shard] = []
    pieces: list[Piece] = []
    filled = documents = 0
    for path, name in found:
        digest.update(name.encode() + b"\0")
        for piece in _pieces(path, name, field, digest, room=size - filled, size=size):
            pieces.append(piece)
            filled, documents = filled + piece.size, documents + piece.size
            if filled == size:
                shards.append(Shard(len(shards), documents - filled, tuple(pieces)))
                pieces, filled = [], 0
    if pieces:
        shards.append(Shard(len(shards), documents - filled, tuple(pieces)))
    return Plan(shards, len(found), documents, left_out, digest.hexdigest())


def _pieces(path: Path, name: str, field: str, digest: Any, *, room: int, size: int) -> Iterator[Piece]:
    """A file in pieces that fill shards: the first has `room` documents at most, all others `size`."""
    kind = "lines" if path.suffix.lower() in LINES else "table" if path.suffix.lower() in TABLES else "text"
    try:
        starts = _starts(path, digest, room, size) if kind == "lines" else _hashed(path, digest)
        count = starts.pop() if kind == "lines" else _rows(path, field) if kind == "table" else 1
        length = path.stat().st_size
    except (OSError, ValueError):
        yield Piece(str(path), name, "broken", 0, 1)
        return
    firsts = [0, *range(room, count, size)]
    for number, first in enumerate(firsts if count else []):
        last = firsts[number + 1] if number + 1 < len(firsts) else count
        yield Piece(str(path), name, kind, first, last - first, starts[number] if kind == "lines" else 0, length)


def _starts(path: Path, digest: Any, room: int, size: int) -> list[int]:
    """The first bytes of the lines that begin pieces, and at the end the number of lines."""
    starts, at, number = [0], 0, 0
    with path.open("rb") as file:
        for line in file:
            if number >= room and (number - room) % size == 0:
                starts.append(at)
            digest.update(line)
            at, number = at + len(line), number + 1
    return [*starts, number]


def _hashed(path: Path, digest: Any) -> list[int]:
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return []


def _rows(path: Path, field: str) -> int:
    """How many rows a table has, if it has a column of text by this name."""
    import pyarrow.parquet as pq

    with path.open("rb") as raw:  # and not by its path, which pyarrow takes as text only
        file = pq.ParquetFile(raw)
        if field not in file.schema_arrow.names:
            raise ValueError(f"there is no column {field!r} in {printable(str(path))}")
        return int(file.metadata.num_rows)


def documents(shard: Shard, field: str = "text") -> Iterator[Document]:
    """The documents of a shard, in order; one that cannot be read is there, and says why."""
    number = shard.first
    for piece in shard.pieces:
        for place, (text, problem) in enumerate(_all(piece, field), piece.first):
            yield Document(number, piece.file, place, text, problem)
            number += 1


def _all(piece: Piece, field: str) -> list[tuple[str | None, str]]:
    """The texts of a piece; what cannot be decoded takes along no other's.

    A file that is not here as it was planned is no matter of its documents: another machine, or another day, has it.
    """
    if piece.kind == "broken":
        return list(_read(piece, field))
    try:
        if (now := Path(piece.path).stat().st_size) != piece.length:
            raise OSError(errno.ESTALE, f"it has {now} bytes now, and had {piece.length}")
        found = list(_read(piece, field))
        if len(found) != piece.size:
            raise OSError(errno.ESTALE, f"it has {len(found)} documents now where it had {piece.size}")
        return found
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # pyarrow's own, of spoilt bytes, have none
            raise OSError(GONE.format(path=printable(piece.path), why=error.strerror or error)) from None
        return [(None, str(error).strip().splitlines()[0])] * piece.size


def _read(piece: Piece, field: str) -> Iterator[tuple[str | None, str]]:
    """The texts of a piece, as many as it was planned with, each with what is wrong with it."""
    if piece.kind == "broken":
        yield None, _broken(piece, field)
    elif piece.kind == "text":
        yield _checked(_decoded(Path(piece.path).read_bytes()))
    elif piece.kind == "table":
        yield from map(_checked, _column(piece.path, field, piece.first, piece.size))
    else:
        with open(piece.path, "rb") as file:
            file.seek(piece.start)
            for _ in range(piece.size):
                yield _checked(_of_line(file.readline(), field))


def _broken(piece: Piece, field: str) -> str:
    """Why a file cannot be read, asked again where it is."""
    path = Path(piece.path)
    try:
        _hashed(path, hashlib.sha256())
        if path.suffix.lower() in TABLES:
            _rows(path, field)
    except (OSError, ValueError) as error:
        return str(error).strip().splitlines()[0]
    return "it could not be read when the corpus was planned"


def _checked(found: str | ValueError | None) -> tuple[str | None, str]:
    if isinstance(found, ValueError):
        return None, str(found)
    if found is None:
        return None, "there is no text in it"
    return found, ""


def _decoded(raw: bytes) -> str | ValueError:
    try:
        return raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        return _no_text(error)


def _no_text(error: UnicodeDecodeError) -> ValueError:
    return ValueError(f"it is no text in UTF-8: byte {error.start} is 0x{error.object[error.start]:02x}")


def _of_line(line: bytes, field: str) -> str | ValueError:
    """The text of a line of JSON."""
    if not line.strip():
        return ""
    decoded = _decoded(line)
    if isinstance(decoded, ValueError):
        return decoded
    try:
        value = json.loads(decoded)
    except json.JSONDecodeError as error:
        return ValueError(f"the line is no JSON: {error.msg} at column {error.colno}")
    if not isinstance(value, dict) or not isinstance(value.get(field), str):
        return ValueError(f"the line is no object with a text in {field!r}")
    text = str(value[field])
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:  # JSON can write half of a character: "\ud800"
        return ValueError(f"it is no text: character {error.start} is half a pair, U+{ord(text[error.start]):04X}")
    return text


def _column(path: str, field: str, first: int, count: int) -> list[str | ValueError | None]:
    """Some rows of a column of text, which may lie in several groups of rows."""
    import pyarrow.parquet as pq

    with open(path, "rb") as raw:
        metadata = pq.ParquetFile(raw).metadata
    found: list[str | ValueError | None] = []
    at = 0
    for group in range(metadata.num_row_groups):
        rows = metadata.row_group(group).num_rows
        low, high = max(first - at, 0), min(first + count - at, rows)
        if low < high:
            found += _texts(_group(path, field, group).slice(low, high - low))
        at += rows
    return found


@functools.lru_cache(maxsize=1)  # the shards of a group come one after the other, and it may be large
def _group(path: str, field: str, group: int) -> Any:
    import pyarrow.parquet as pq

    with open(path, "rb") as raw:
        return pq.ParquetFile(raw).read_row_group(group, columns=[field]).column(field)


def _texts(column: Any) -> list[str | ValueError | None]:
    """The texts of a column: one that is no UTF-8 takes along no other, though the whole column fails with it."""
    try:
        return [_text(x) for x in column.to_pylist()]
    except UnicodeDecodeError:
        return [_of_scalar(x) for x in column]


def _of_scalar(scalar: Any) -> str | ValueError | None:
    try:
        return _text(scalar.as_py())
    except UnicodeDecodeError as error:
        return _no_text(error)


def _text(value: object) -> str | ValueError | None:
    if value is None or isinstance(value, str):
        return value
    return ValueError(f"it holds no text but {type(value).__name__}")
