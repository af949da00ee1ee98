"""A census that was taken: its tables, and what they say of a head.

heads       a row for each head: what it is called most often, in what part of the documents, and histograms
measures    a row for each head and measure: mean, spread over documents, least, most, and a histogram of documents
examples    the strongest places of every pattern, with the text around them, in which tokens start and stop
problems    documents that were not counted, by name, and why: in English, and by the name of a cause
kinds       how many tokens there were of each kind
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from clearhead.census import words
from clearhead.census.causes import Cause
from clearhead.census.identity import NAME, identity_of, mark
from clearhead.census.kinds import KINDS
from clearhead.census.measures import LABELS, MEASURES, PATTERNS, STEPS
from clearhead.census.rows import Row, folded, read_rows, written_rows
from clearhead.files import write_whole
from clearhead.languages import NotThereError

TABLES = ("heads", "measures", "examples", "problems", "kinds")
AROUND = 20  # tokens on either side of an example's query that its text shows


class Census:
    """What `clearhead.census.load` opens. Tables are pyarrow's; `census.heads.to_pandas()` where pandas is installed.

    about       what it is of: model, corpus, settings
    documents   how many were counted   tokens: of them   cut: of them, those cut off
    shards      how many rows there are; `finished` if they are all
    """

    def __init__(self, about: dict[str, Any], totals: dict[str, int], tables: dict[str, Any]) -> None:
        self.about = about
        self.documents, self.tokens = totals["documents"], totals["tokens"]
        self.cut, self.shards = totals["cut"], totals["shards"]
        self.heads, self.measures = tables["heads"], tables["measures"]
        self.examples, self.problems, self.kinds = tables["examples"], tables["problems"], tables["kinds"]

    @property
    def finished(self) -> bool:
        """Whether every shard of the corpus has its row."""
        return bool(self.shards == self.about["shards"])

    def mean(self, measure: str) -> np.ndarray:
        """A measure's mean over documents, layers × heads; NaN where there is no such head, or nothing to measure."""
        return self._grid(measure, "mean")

    def spread(self, measure: str) -> np.ndarray:
        """Its standard deviation between documents, likewise: how stable a head is."""
        return self._grid(measure, "spread")

    def _grid(self, measure: str, column: str) -> np.ndarray:
        if measure not in MEASURES:
            raise ValueError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}")
        rows = self.measures.select(["layer", "head", "measure", column]).to_pylist()
        layers = list(dict.fromkeys(row["layer"] for row in rows))
        grid = np.full((len(layers), max((row["head"] + 1 for row in rows), default=0)), np.nan)
        for row in rows:
            if row["measure"] == measure and row[column] is not None:
                grid[layers.index(row["layer"]), row["head"]] = row[column]
        return grid

    def to_html(self, path: str | Path, *, other: Census | None = None, language: str | None = None) -> Path:
        """Write a page to look through this census in a browser: one file that needs no network. → its path

        other: a census of another model, or over another corpus, whose heads are shown beside these and subtracted.
        language: "en" or "ko", in which the page first speaks; whoever reads it can change that.
        """
        from clearhead.census.paging import write

        return write(path, self, other, language)

    def __repr__(self) -> str:
        numbers = {"documents": self.documents, "tokens": self.tokens, "heads": len(self.heads)}
        told = [words.counted(what, count).en for what, count in numbers.items()]
        if not self.finished:
            told.append(f"{self.shards} of {words.counted('shards', self.about['shards']).en} so far")
        return f"<Census of {self.about['model']['name']}: {', '.join(told)}>"


def load(out: str | Path) -> Census:
    """Open a census. One that is not finished is opened as far as it is."""
    folder = Path(out)
    if not (folder / NAME).is_file():
        raise NotThereError(words.NO_CENSUS.filled(folder=folder, name=NAME))
    import pyarrow.parquet as pq

    about = identity_of(folder)
    shards = len(written_rows(folder / "shards"))
    if shards == about["shards"] and all((folder / f"{name}.parquet").is_file() for name in TABLES):
        tables = {name: pq.ParquetFile(folder / f"{name}.parquet").read() for name in TABLES}
        told = tables["kinds"].schema.metadata
        return Census(about, {name: int(told[name.encode()]) for name in TOTALS}, tables)
    row = folded(read_rows(folder / "shards"), mark(about))
    return Census(about, totals(row, shards), tables_of(row))


TOTALS = ("documents", "tokens", "cut", "shards")


def totals(row: Row, shards: int) -> dict[str, int]:
    return dict(zip(TOTALS, (row.read, row.tokens, row.cut, shards), strict=True))


def write_tables(folder: Path) -> None:
    """Write the tables of a census beside its rows."""
    import io

    import pyarrow.parquet as pq

    row = folded(read_rows(folder / "shards"), mark(identity_of(folder)))
    told = totals(row, len(written_rows(folder / "shards")))
    for name, table in tables_of(row).items():
        if name == "kinds":
            table = table.replace_schema_metadata({key: str(value) for key, value in told.items()})
        written = io.BytesIO()
        pq.write_table(table, written, compression="zstd")
        write_whole(folder / f"{name}.parquet", written.getvalue())


def tables_of(row: Row) -> dict[str, Any]:
    """The tables of what was counted."""
    import pyarrow as pa

    whole, text, number = pa.int64(), pa.string(), pa.float64()
    place = [("layer", text), ("head", whole)]
    schemas = {
        "heads": [*place, ("documents", whole), ("name", text), ("agreement", number),
                  ("names", pa.struct([(name, whole) for name in LABELS])),
                  ("entropies", pa.list_(whole)), ("distances", pa.list_(whole))],
        "measures": [*place, ("measure", text), ("documents", whole), ("mean", number), ("spread", number),
                     ("least", number), ("most", number), ("total", whole), ("squares", pa.decimal128(38)),
                     ("bins", pa.list_(whole))],
        "examples": [*place, ("pattern", text), ("score", number), ("file", text), ("document", whole),
                     ("offset", whole), ("query", whole), ("first", whole), ("tokens", pa.list_(text)),
                     ("text", text), ("starts", pa.list_(whole)), ("stops", pa.list_(whole)),
                     ("keys", pa.list_(whole)), ("key_tokens", pa.list_(text)), ("weights", pa.list_(number))],
        "problems": [("file", text), ("document", whole), ("reason", text), ("detail", text), ("cause", text),
                     ("values", text)],
        "kinds": [("kind", text), ("tokens", whole)],
    }  # fmt: skip
    rows = {
        "heads": list(_heads(row)),
        "measures": list(_measures(row)),
        "examples": list(_examples(row)),
        "problems": list(_problems(row)),
        "kinds": [{"kind": kind, "tokens": int(count)} for kind, count in zip(KINDS, row.kinds, strict=True)],
    }
    return {name: pa.Table.from_pylist(rows[name], schema=pa.schema(schemas[name])) for name in TABLES}


def _places(row: Row) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every head by its number over all layers, with its layer and its number there."""
    places = [{"layer": layer, "head": head} for layer, heads in row.layers for head in range(heads)]
    return enumerate(places)


def _heads(row: Row) -> Iterator[dict[str, Any]]:
    counts = row.counts
    for head, place in _places(row):
        names = dict(zip(LABELS, counts.names[head].tolist(), strict=True))
        best = max(LABELS, key=lambda name: names[name])  # of equal ones the first
        yield {
            **place, "documents": sum(names.values()), "name": best,
            "agreement": names[best] / max(sum(names.values()), 1), "names": names,
            "entropies": counts.entropies[head].tolist(), "distances": counts.distances[head].tolist(),
        }  # fmt: skip


def _measures(row: Row) -> Iterator[dict[str, Any]]:
    counts = row.counts
    for head, place in _places(row):
        for number, measure in enumerate(MEASURES):
            n, total, squares = (int(x[head, number]) for x in (counts.n, counts.total, counts.squares))
            step = int(STEPS[number])
            known: dict[str, Any] = dict.fromkeys(("mean", "spread", "least", "most"))
            if n:
                known = {
                    "mean": total / (n * step),
                    "spread": spread(n, total, squares) / step,
                    "least": int(counts.least[head, number]) / step,
                    "most": int(counts.most[head, number]) / step,
                }
            bins = counts.bins[head, number].tolist()
            yield {**place, "measure": measure, "documents": n, **known, "total": total, "squares": squares,
                   "bins": bins}  # fmt: skip


def spread(n: int, total: int, squares: int) -> float:
    """The standard deviation of n whole numbers from their sum and that of their squares, which are exact."""
    return math.sqrt(Fraction(n * squares - total * total, n * n))


def _problems(row: Row) -> Iterator[dict[str, Any]]:
    for x in sorted(row.problems):
        yield {
            "file": x.file, "document": x.place, "reason": x.reason, "detail": str(Cause(x.cause, x.values)),
            "cause": x.cause, "values": x.values,
        }  # fmt: skip


def _examples(row: Row) -> Iterator[dict[str, Any]]:
    places = dict(_places(row))
    for (head, pattern), found in sorted(row.best.items()):
        for example in found:
            text = row.texts[example.document]
            first, last = max(example.query - AROUND, 0), example.query + AROUND + 1
            starts, stops = text.starts[first:last], text.stops[first:last]
            low = min(starts)
            yield {
                **places[head], "pattern": PATTERNS[pattern], "score": example.score / int(STEPS[pattern]),
                "file": text.file, "document": text.place,
                "offset": text.starts[example.query] if text.placed else None,
                "query": example.query, "first": first, "tokens": text.labels[first:last],
                "text": text.text[low : max(stops)], "starts": [x - low for x in starts],
                "stops": [x - low for x in stops],
                "keys": list(example.keys), "key_tokens": [text.labels[key] for key in example.keys],
                "weights": [weight / 65_536 for weight in example.weights],
            }  # fmt: skip
