"""The notes of the course: where they lie, what each asks, and which exercises belong to it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from clearhead.advice import PACKAGE
from clearhead.languages import RefusedError, spoken
from clearhead.learn import words

# A clone has the notes beside src, a wheel carries them inside the package.
PLACES = (PACKAGE.parents[1] / "study_notes", PACKAGE / "learn" / "study_notes")
INDEX = "README.md"
TITLE = re.compile(r"^# \d\d · (.+)$", re.MULTILINE)
QUESTION = re.compile(r"^> \*\*[^*]+\*\* (.+)$", re.MULTILINE)


class Note(NamedTuple):
    """A note: the name of its file in every language, and its exercises."""

    name: str
    exercises: tuple[str, ...]

    @property
    def number(self) -> str:
        return self.name[:2]

    def path(self, language: str | None = None) -> Path:
        return folder() / spoken(language) / f"{self.name}.md"

    def text(self, language: str | None = None) -> str:
        return self.path(language).read_text(encoding="utf-8")

    def title(self, language: str | None = None) -> str:
        return self._found(TITLE, language)

    def question(self, language: str | None = None) -> str:
        return self._found(QUESTION, language)

    def _found(self, pattern: re.Pattern[str], language: str | None) -> str:
        match = pattern.search(self.text(language))
        if match is None:
            raise ValueError(f"{self.path(language)} has no line like {pattern.pattern}; is it a note of the course?")
        return match[1]


NOTES = (
    Note("01_attention_intuition", ("softmax", "weights_by_hand")),
    Note("02_self_attention", ("scaled_dot_product_attention", "self_attention", "shapes")),
    Note("03_multi_head", ("split_heads", "merge_heads", "multi_head_attention", "grouped_heads", "costs")),
    Note("04_positional_encoding", ("positional_encoding", "position_matters", "rope", "alibi", "relative_bias")),
    Note("05_masks", ("causal_mask", "padding_mask", "masked_attention", "window_mask")),
    Note(
        "06_cross_attention_and_transformer",
        (
            "cross_attention",
            "layer_norm",
            "encoder_block",
            "decoder_step",
            "greedy_decoding",
            "read_alignment",
            "attention_in_torch",
            "train_a_copier",
        ),
    ),
    Note(
        "07_efficient_attention",
        ("memory_efficient_attention", "online_softmax", "flash_attention", "linear_attention"),
    ),
    Note("08_seeing_attention", ("name_the_head", "find_the_bug")),
)


def folder() -> Path:
    """Where the notes lie, in a clone or in an installed package."""
    for place in PLACES:
        if (place / INDEX).is_file():
            return place
    raise RefusedError(words.NO_NOTES.filled(places=", ".join(map(str, PLACES))))


def asked_note(asked: str) -> Note:
    """The note that a reader means: by its number, 2 or 02, or by the name of its file."""
    wanted = asked.removesuffix(".md")
    for note in NOTES:
        if wanted in (note.name, note.number, str(int(note.number)), note.name[3:]):
            return note
    raise RefusedError(words.NO_SUCH_NOTE.filled(asked=asked, first=NOTES[0].number, last=NOTES[-1].number))
