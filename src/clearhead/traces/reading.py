"""What the positions of a trace read as: labels, and named groups of them: words, the parts of a conversation."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int

from clearhead.text.labels import BREAKS, SPACE, labels_of, visible
from clearhead.text.spans import Spans, token_spans
from clearhead.text.words import group_labels, group_spans, word_groups
from clearhead.traces import conversations
from clearhead.traces.conversations import Messages


@dataclass(frozen=True, eq=False)
class Grouping:
    """The positions of a sequence in named groups.

    names: of the groups; words may come more than once
    numbers (n): the group of each position, for `View.grouped`
    source: whether it is the sequence that an encoder read, beside which there is another
    """

    names: list[str]
    numbers: Int[np.ndarray, " n"]
    source: bool = False

    def __len__(self) -> int:
        return len(self.names)

    @functools.cached_property
    def ranges(self) -> dict[str, range]:
        """Where each group stands, of those whose positions are neighbours and whose names are their own."""
        counts = Counter(self.names)
        numbers, first, sizes = np.unique(self.numbers, return_index=True, return_counts=True)
        last = len(self.numbers) - np.unique(self.numbers[::-1], return_index=True)[1]
        return {
            self.names[number]: range(start, stop)
            for number, start, stop, size in zip(*(x.tolist() for x in (numbers, first, last, sizes)), strict=True)
            if stop - start == size and number >= 0 and counts[self.names[number]] == 1
        }

    def number(self, name: str) -> int:
        """The number of a group."""
        if name not in self.names:
            raise KeyError(f"there is no {name!r} among {', '.join(map(repr, self.names))}")
        return self.names.index(name)

    def __repr__(self) -> str:
        return f"<Grouping of {len(self.numbers)} positions: {', '.join(map(repr, self.names))}>"


class Reading(NamedTuple):
    """What the tokens of a sequence read as; where nothing but ids is known, their labels are numbers.

    spans: the text and where each token stands in it  parts: the part of a conversation that each belongs to
    """

    labels: list[str]
    spans: Spans | None = None
    parts: list[str] | None = None

    def grouped(self, by: str, *, source: bool) -> Grouping:
        """The positions by "word", by "sentence" or by "part"."""
        if by == "part":
            if self.parts is None:
                raise ValueError(
                    "nothing is known of a conversation; trace.label(tokenizer, messages=messages) tells which tokens "
                    "are whose"
                )
            names = list(dict.fromkeys(self.parts))
            return Grouping(names, np.array([names.index(x) for x in self.parts], np.int64), source)
        if self.spans is None:
            raise ValueError(
                f"nothing is known of the text that the tokens make, so there is no {by}; trace.label(tokenizer, text) "
                "tells what they read as"
            )
        numbers = word_groups(self.spans.text, self.spans.offsets, by)
        return Grouping(self._names(self.spans, numbers), numbers, source)

    def _names(self, spans: Spans, numbers: Int[np.ndarray, " n"]) -> list[str]:
        """What groups of neighbours read as: their text, with its spaces; of those that have no place in it, labels."""
        edges = " " + "".join(BREAKS.values())
        labels = group_labels(self.labels, numbers)
        texts = [spans.text[start:stop] for start, stop in group_spans(spans.offsets, numbers)]
        shown = [visible(text) if text else label for text, label in zip(texts, labels, strict=True)]
        return [name.replace(SPACE, " ").strip(edges) or name for name in shown]


def read(ids: np.ndarray | None, tokenizer: Any, text: str | None, messages: Messages | None) -> Reading | None:
    """What ids read as, by the tokenizer; by themselves where there is none."""
    if ids is None:
        return None
    if tokenizer is None:
        return Reading([str(i) for i in ids.tolist()])
    if messages is None:
        spans, parts = token_spans(ids, tokenizer, text), None
    else:
        spans, parts = conversations.read(ids, tokenizer, messages, text)
    return Reading(labels_of(spans), spans, parts)


def of_entry(given: Any, entry: int, batch: int, name: str) -> Any:
    """What was given for one sequence of a batch: the same for all, or one for each."""
    several = isinstance(given, Sequence) and not isinstance(given, str) and not _is_conversation(given)
    if not several:
        return given
    if len(given) != batch:
        raise ValueError(f"{name} is one for each of {batch} sequences of the batch, got {len(given)}")
    return given[entry]


def _is_conversation(given: Sequence[Any]) -> bool:
    return bool(given) and hasattr(given[0], "get")
