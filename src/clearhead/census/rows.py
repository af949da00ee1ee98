"""What a shard adds up to, as one row of a Parquet file, and many of them as one.

A row has its shard's number, so a row that is written twice counts once; they are read in the order of their numbers.
Arrays lie flat, as their shapes follow from the number of heads.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int

from clearhead.census import words
from clearhead.census.counts import Counts, no_kinds, shapes
from clearhead.census.examples import Best, Example, merge
from clearhead.languages import RefusedError

MOST_TEXTS = 4096  # that are held while rows are added up, before those that are not needed any more are let go
MARK = b"census"  # where a file says which census it is of
LOW = 2**32 - 1  # squares are added up in two halves, so that no corpus is too large for them


class Problem(NamedTuple):
    """A document that is not counted, and why.

    reason: "unreadable", "empty", "too_long" or, where reading it ended in an error, "failed"
    cause, values: more of it, as `causes.Cause` has it
    """

    number: int
    file: str
    place: int
    reason: str
    cause: str
    values: str


class Text(NamedTuple):
    """A document that examples come from: its tokens, and where each of them starts and stops in its text.

    text: as far as it was read   placed: whether it is the document's own, and not one put together from the tokens
    """

    file: str
    place: int
    text: str
    placed: bool
    labels: list[str]
    starts: list[int]
    stops: list[int]


@dataclass
class Row:
    """What some documents add up to. read: how many were counted   cut: of them, cut off at the most tokens

    census: the mark of the one it is of, as `identity.mark` makes it
    """

    shard: int
    read: int = 0
    tokens: int = 0
    cut: int = 0
    kinds: Int[np.ndarray, " k"] = field(default_factory=no_kinds)
    layers: list[tuple[str, int]] = field(default_factory=list)
    counts: Counts = field(default_factory=lambda: Counts.nothing(0))
    best: Best = field(default_factory=dict)
    texts: dict[int, Text] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    census: str = ""

    @property
    def heads(self) -> int:
        """How many heads there are in all layers."""
        return sum(heads for _, heads in self.layers)


def schema() -> Any:
    import pyarrow as pa

    whole = pa.int64()
    example = pa.struct(
        [("head", whole), ("pattern", whole), ("score", whole), ("draw", whole), ("document", whole),
         ("query", whole), ("keys", pa.list_(whole)), ("weights", pa.list_(whole))]
    )  # fmt: skip
    text = pa.struct(
        [("document", whole), ("file", pa.string()), ("place", whole), ("text", pa.string()), ("placed", pa.bool_()),
         ("labels", pa.list_(pa.string())), ("starts", pa.list_(whole)), ("stops", pa.list_(whole))]
    )  # fmt: skip
    problem = pa.struct(
        [("number", whole), ("file", pa.string()), ("place", whole), ("reason", pa.string()), ("cause", pa.string()),
         ("values", pa.string())]
    )  # fmt: skip
    layer = pa.struct([("name", pa.string()), ("heads", whole)])
    return pa.schema(
        [("shard", whole), ("read", whole), ("tokens", whole), ("cut", whole), ("kinds", pa.list_(whole)),
         ("layers", pa.list_(layer)), *((name, pa.list_(whole)) for name in shapes(0)),
         ("examples", pa.list_(example)), ("texts", pa.list_(text)), ("problems", pa.list_(problem))]
    )  # fmt: skip


def as_parquet(row: Row) -> bytes:
    """A row as the bytes of a Parquet file: the same for the same row."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    examples = [
        {"head": head, "pattern": pattern, **example._asdict()}
        for (head, pattern), found in sorted(row.best.items())
        for example in found
    ]
    used = {example["document"] for example in examples}
    columns = {
        "shard": row.shard, "read": row.read, "tokens": row.tokens, "cut": row.cut, "kinds": row.kinds.tolist(),
        "layers": [{"name": name, "heads": heads} for name, heads in row.layers],
        **{x.name: getattr(row.counts, x.name).ravel().tolist() for x in fields(Counts)},
        "examples": examples,
        "texts": [{"document": n, **text._asdict()} for n, text in sorted(row.texts.items()) if n in used],
        "problems": [problem._asdict() for problem in row.problems],
    }  # fmt: skip
    table = pa.Table.from_pylist([columns], schema=schema().with_metadata({MARK: row.census}))
    written = io.BytesIO()
    # Statistics are the least and the largest value of each column: of texts, whole documents once more.
    pq.write_table(table, written, compression="zstd", write_statistics=False)
    return written.getvalue()


def from_parquet(source: Path | bytes) -> Row:
    """The row of a Parquet file."""
    import pyarrow.parquet as pq

    file = io.BytesIO(source) if isinstance(source, bytes) else source
    table = pq.ParquetFile(file).read().combine_chunks()
    (columns,) = table.drop_columns(list(shapes(0))).to_pylist()
    layers = [(layer["name"], layer["heads"]) for layer in columns["layers"]]
    heads = sum(count for _, count in layers)
    flat = {name: table.column(name).chunk(0).flatten().to_numpy(zero_copy_only=False) for name in shapes(0)}
    arrays = {name: flat[name].astype(np.int64).reshape(shape) for name, shape in shapes(heads).items()}
    best: Best = {}
    for example in columns["examples"]:
        place = example.pop("head"), example.pop("pattern")
        keys, weights = tuple(example.pop("keys")), tuple(example.pop("weights"))
        best.setdefault(place, []).append(Example(**example, keys=keys, weights=weights))
    return Row(
        columns["shard"], columns["read"], columns["tokens"], columns["cut"], np.asarray(columns["kinds"], np.int64),
        layers, Counts(**arrays), best, {text.pop("document"): Text(**text) for text in columns["texts"]},
        [Problem(**problem) for problem in columns["problems"]], (table.schema.metadata or {}).get(MARK, b"").decode(),
    )  # fmt: skip


def written_rows(folder: Path) -> dict[int, Path]:
    """The rows that lie in a folder, by the numbers of their shards, in order. A file appears whole or not at all."""
    return {int(path.stem): path for path in sorted(folder.glob("*.parquet"))}


def rows_of(folder: Path, census: str) -> dict[int, Path]:
    """Of the rows that lie in a folder, those of a census."""
    import pyarrow.parquet as pq

    own = census.encode()
    return {n: x for n, x in written_rows(folder).items() if (pq.read_schema(x).metadata or {}).get(MARK) == own}


def read_rows(folder: Path) -> Iterator[Row]:
    """The rows of a folder, in the order of their shards."""
    return (from_parquet(path) for path in written_rows(folder).values())


def folded(rows: Iterable[Row], census: str = "") -> Row:
    """Many rows of a census as one, whose squares are Python's own numbers, which have no end."""
    whole = Row(-1, census=census)
    high = low = np.zeros((0, 0), np.int64)
    for row in rows:
        if row.census != census:
            raise RefusedError(words.MIXED.filled(shard=row.shard))
        if row.layers and not whole.layers:
            whole.layers, whole.counts = row.layers, Counts.nothing(row.heads)
            high, low = np.zeros_like(whole.counts.squares), np.zeros_like(whole.counts.squares)
        if row.layers:
            if row.layers != whole.layers:
                raise RefusedError(words.OTHER_LAYERS.filled(shard=row.shard))
            high, low = high + (row.counts.squares >> 32), low + (row.counts.squares & LOW)
            row.counts.squares = np.zeros_like(row.counts.squares)
            whole.counts.merge(row.counts)
        whole.read, whole.tokens, whole.cut = whole.read + row.read, whole.tokens + row.tokens, whole.cut + row.cut
        whole.kinds = whole.kinds + row.kinds
        merge(whole.best, row.best)
        whole.texts |= row.texts
        whole.problems += row.problems
        if len(whole.texts) > MOST_TEXTS:
            _forget(whole)
    _forget(whole)
    whole.counts.squares = high.astype(object) * 2**32 + low.astype(object)
    return whole


def _forget(whole: Row) -> None:
    """Texts that no example comes from any more are let go."""
    used = {example.document for found in whole.best.values() for example in found}
    whole.texts = {number: text for number, text in whole.texts.items() if number in used}
