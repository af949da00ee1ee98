"""A census as a page: one file in the dress of `clearhead.page`, whose script is page/web/census.js."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearhead.census import words
from clearhead.census.causes import Cause
from clearhead.census.kinds import KINDS
from clearhead.census.measures import LABELS, MEASURES, PATTERNS
from clearhead.files import write_whole
from clearhead.languages import RefusedError, spoken
from clearhead.page.document import document
from clearhead.page.packing import Chunk, packed
from clearhead.traces.naming import stacks

if TYPE_CHECKING:
    from clearhead.census.result import Census

MOST_PROBLEMS = 100  # documents that a page names; problems.parquet has all of them
DIGITS = 5


def write(path: str | Path, census: Census, other: Census | None, language: str | None) -> Path:
    """Write the page of a census, or of two that are compared: see `Census.to_html`."""
    shown = [census] if other is None else [census, other]
    empty = [one for one in shown if not len(one.heads)]
    if empty:
        raise RefusedError(words.NOTHING_TO_SHOW.filled(census=repr(empty[0])))
    header = {
        "language": spoken(language),
        "title": " · ".join(["clearhead census", *(one.about["model"]["name"] for one in shown)]),
        "measures": list(MEASURES),
        "patterns": list(PATTERNS),
        "labels": list(LABELS),
        "kinds": list(KINDS),
        "models": len(shown),
    }
    chunks = {
        f"model-{number}": Chunk([], packed(json.dumps(content(one), ensure_ascii=False, allow_nan=False).encode()))
        for number, one in enumerate(shown)
    }
    place = Path(path)
    write_whole(place, document(header, chunks, entry="census.js", element="clearhead-census").encode())
    return place


def content(census: Census) -> dict[str, Any]:
    """What the page knows of a census, as web/census_data.js describes it."""
    heads, measures = census.heads.to_pylist(), census.measures.to_pylist()
    by_measure = {name: [row for row in measures if row["measure"] == name] for name in MEASURES}
    columns = {"mean": "mean", "spread": "spread", "least": "least", "most_of": "most"}
    problems = census.problems.to_pylist()
    return {
        "name": census.about["model"]["name"], "documents": census.documents, "tokens": census.tokens,
        "cut": census.cut, "most": census.about["settings"]["max_tokens"],
        "shards": [census.shards, census.about["shards"]], "layers": layers_of([head["layer"] for head in heads]),
        "kinds": census.kinds.column("tokens").to_pylist(),
        **{told: {x: [_rounded(row[column]) for row in rows] for x, rows in by_measure.items()}
           for told, column in columns.items()},
        "counted": {name: [row["documents"] for row in rows] for name, rows in by_measure.items()},
        "bins": {name: [row["bins"] for row in rows] for name, rows in by_measure.items()},
        "names": [[head["names"][name] for name in LABELS] for head in heads],
        "entropies": [head["entropies"] for head in heads], "distances": [head["distances"] for head in heads],
        "examples": _examples(census), "problem_count": len(problems),
        "problems": [
            [x["file"], x["document"], x["reason"], *Cause(x["cause"], x["values"]).said()]
            for x in problems[:MOST_PROBLEMS]
        ],
    }  # fmt: skip


def layers_of(heads: list[str]) -> list[dict[str, Any]]:
    """The layers of heads, each by its own number in the model, of which not every layer may have been counted.

    number: in its stack, as --layers takes it   stack: its path with * for the number   label: what it is told by, more
    than the number where several layers have the same
    """
    count = Counter(heads)
    place = {name: (stack, number) for stack, names in stacks(count).items() for number, name in names.items()}
    layers: list[dict[str, Any]] = [
        {"name": x, "heads": count[x], "number": place[x][1], "stack": place[x][0]} for x in count
    ]
    numbers = Counter(str(layer["number"]) for layer in layers)
    digits = Counter(_digits(name) for name in count)
    for layer in layers:
        ways = (numbers, str(layer["number"])), (digits, _digits(layer["name"]))
        layer["label"] = next((label for known, label in ways if label and known[label] == 1), layer["name"])
    return layers


def _digits(name: str) -> str:
    """All numbers of a path: 0.1 of encoder.blocks.0.1.attention."""
    return ".".join(re.findall(r"\d+", name))


def _examples(census: Census) -> dict[str, list[list[Any]]]:
    """The examples of each head, counted over all layers, and pattern."""
    at = {(row["layer"], row["head"]): number for number, row in enumerate(census.heads.to_pylist())}
    found: dict[str, list[list[Any]]] = {}
    for row in census.examples.to_pylist():
        found.setdefault(f"{at[row['layer'], row['head']]} {row['pattern']}", []).append(
            [_rounded(row["score"]), row["file"], row["document"], -1 if row["offset"] is None else row["offset"],
             row["query"], row["first"], row["tokens"][row["query"] - row["first"]], pieces(row), row["keys"],
             row["key_tokens"], [_rounded(weight) for weight in row["weights"]]]
        )  # fmt: skip
    return found


def pieces(example: dict[str, Any]) -> list[tuple[str, str]]:
    """The text of an example cut up by its tokens: what stands before each of them, and its own.

    A token that has no text, or none that can be seen, is its label; of tokens that share characters, as those of bytes
    do, the first has them and the others have "".
    """
    text, at, alone = example["text"], 0, False
    found: list[tuple[str, str]] = []
    for label, start, stop in zip(example["tokens"], example["starts"], example["stops"], strict=True):
        before, own = text[at:start], text[max(start, at) : stop]
        shown = own.lstrip()
        if shown:
            before += own[: len(own) - len(shown)]
        elif own or start == stop:
            shown = label
        if found and not before and (alone or start == stop):  # a special token is a word of its own
            before = " "
        found.append((before, shown))
        at, alone = max(at, stop), start == stop
    return found


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
