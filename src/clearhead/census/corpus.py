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

from clearhead.census import words
from clearhead.census.causes import Cause, UncountedError, cause_of, first_line
from clearhead.census.naming import files_of, printable
from clearhead.languages import RefusedError, Said

LINES, TABLES = (".jsonl", ".ndjson"), (".parquet",)
TEXTS = (".txt", ".text", ".md", ".rst")
BLOCK = 2**20


class GoneError(RefusedError, OSError):
    """A file that could be read when the corpus was planned is not as it was: no matter of its documents."""


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
    problem: Cause | None = None


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
            raise UncountedError(Cause.of("no_column", field=printable(field)))
        return int(file.metadata.num_rows)


def documents(shard: Shard, field: str = "text") -> Iterator[Document]:
    """The documents of a shard, in order; one that cannot be read is there, and says why."""
    number = shard.first
    for piece in shard.pieces:
        for place, (text, problem) in enumerate(_all(piece, field), piece.first):
            yield Document(number, piece.file, place, text, problem)
            number += 1


def _all(piece: Piece, field: str) -> list[tuple[str | None, Cause | None]]:
    """The texts of a piece; what cannot be decoded takes along no other's.

    A file that is not here as it was planned is no matter of its documents: another machine, or another day, has it.
    """
    if piece.kind == "broken":
        return list(_read(piece, field))
    try:
        if (now := Path(piece.path).stat().st_size) != piece.length:
            raise _gone(piece, words.OTHER_SIZE.filled(now=words.counted("bytes", now), before=piece.length))
        found = list(_read(piece, field))
        if len(found) != piece.size:
            now = len(found)
            raise _gone(piece, words.OTHER_COUNT.filled(now=words.counted("documents", now), before=piece.size))
        return found
    except GoneError:
        raise
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # pyarrow's own, of spoilt bytes, have none
            code = errno.errorcode.get(error.errno, str(error.errno))
            raise _gone(piece, words.SYSTEM.get(code) or words.SYSTEM_CODE.filled(code=code)) from None
        return [(None, _spoilt(piece.path, error))] * piece.size


def _gone(piece: Piece, why: Said) -> GoneError:
    return GoneError(words.GONE.filled(path=printable(piece.path), why=why))


def _spoilt(path: str, error: OSError | ValueError) -> Cause:
    """What an error says of bytes that are no table, where it is pyarrow's, or of anything else."""
    is_pyarrows = not isinstance(error, UncountedError) and getattr(error, "errno", None) is None
    if is_pyarrows and Path(path).suffix.lower() in TABLES:
        return Cause.of("no_table", error=first_line(error))
    return cause_of(error)


def _read(piece: Piece, field: str) -> Iterator[tuple[str | None, Cause | None]]:
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


def _broken(piece: Piece, field: str) -> Cause:
    """Why a file cannot be read, asked again where it is."""
    path = Path(piece.path)
    try:
        _hashed(path, hashlib.sha256())
        if path.suffix.lower() in TABLES:
            _rows(path, field)
    except (OSError, ValueError) as error:
        return _spoilt(piece.path, error)
    return Cause.of("not_planned")


def _checked(found: str | Cause | None) -> tuple[str | None, Cause | None]:
    if isinstance(found, Cause):
        return None, found
    if found is None:
        return None, Cause.of("no_text")
    return found, None


def _decoded(raw: bytes) -> str | Cause:
    try:
        return raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        return _no_text(error)


def _no_text(error: UnicodeDecodeError) -> Cause:
    return Cause.of("no_utf_8", byte=error.start, value=f"0x{error.object[error.start]:02x}")


def _of_line(line: bytes, field: str) -> str | Cause:
    """The text of a line of JSON."""
    if not line.strip():
        return ""
    decoded = _decoded(line)
    if isinstance(decoded, Cause):
        return decoded
    try:
        value = json.loads(decoded)
    except json.JSONDecodeError as error:
        return Cause.of("no_json", column=error.colno)
    except (ValueError, RecursionError):  # of numbers with thousands of digits, and brackets within brackets
        return Cause.of("odd_json")
    if not isinstance(value, dict) or not isinstance(value.get(field), str):
        return Cause.of("no_field", field=printable(field))
    text = str(value[field])
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:  # JSON can write half of a character: "\ud800"
        return Cause.of("half_character", place=error.start, code=f"U+{ord(text[error.start]):04X}")
    return text


def _column(path: str, field: str, first: int, count: int) -> list[str | Cause | None]:
    """Some rows of a column of text, which may lie in several groups of rows."""
    import pyarrow.parquet as pq

    with open(path, "rb") as raw:
        metadata = pq.ParquetFile(raw).metadata
    found: list[str | Cause | None] = []
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


def _texts(column: Any) -> list[str | Cause | None]:
    """The texts of a column: one that is no UTF-8 takes along no other, though the whole column fails with it."""
    try:
        return [_text(x) for x in column.to_pylist()]
    except UnicodeDecodeError:
        return [_of_scalar(x) for x in column]


def _of_scalar(scalar: Any) -> str | Cause | None:
    try:
        return _text(scalar.as_py())
    except UnicodeDecodeError as error:
        return _no_text(error)


def _text(value: object) -> str | Cause | None:
    if value is None or isinstance(value, str):
        return value
    return Cause.of("no_string", type=type(value).__name__)
