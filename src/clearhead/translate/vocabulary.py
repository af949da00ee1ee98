"""From text to numbers and back, in plain Python: a trained model needs nothing else to read and write.

A text is words with spaces between them, and a word is cut from the left into the longest pieces there are, as
WordPiece does: 고양이가 is 고양이 and ##가, where ## marks a piece that continues a word. So whatever is written can be
read back exactly, up to spaces: several count as one, and those at the ends as none.

A word that cannot be spelled is refused by name. A model shown a stand-in for "something else" would translate it
to something, and nobody could tell that from an answer.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clearhead import checks
from clearhead.advice import install, program
from clearhead.languages import RefusedError, Said
from clearhead.text.spans import CONTINUES, Span
from clearhead.text.words import Run, between_spaces
from clearhead.translate import words
from clearhead.translate.nearness import near

PAD, BEGIN, END = 0, 1, 2
SPECIAL = ("<pad>", "<begin>", "<end>")
LONG = 30  # characters of a word that are shown in a message


class Encoding(NamedTuple):
    """The numbers of a text's pieces, and where each piece lies in the text as it was given: start and stop."""

    ids: list[int]
    spans: list[Span]


class Spelled(NamedTuple):
    """The text that pieces spell, and where each of them lies in it; padding, beginning and end are left out."""

    text: str
    spans: list[Span]


class Unknown(NamedTuple):
    """A word that cannot be spelled, where it lies in the text, and the part of it where spelling gets stuck."""

    word: str
    span: Span
    rest: str


class Vocabulary:
    """The pieces of all languages of a model, each with its number: 0 pads, 1 begins and 2 ends a text.

    `pieces` are numbered from 3 on in their order. The first piece of a word is written as it is, any other with
    ## before it, and the same letters may be both.
    """

    def __init__(self, pieces: Iterable[str]) -> None:
        self.pieces = tuple(pieces)
        self._first: dict[str, int] = {}
        self._next: dict[str, int] = {}
        for number, piece in enumerate(self.pieces, start=len(SPECIAL)):
            letters = piece.removeprefix(CONTINUES)
            table = self._next if piece.startswith(CONTINUES) else self._first
            if not letters or any(letter.isspace() for letter in letters):
                raise ValueError(f"a piece is one or more characters without spaces, got {piece!r} as piece {number}")
            if not unicodedata.is_normalized("NFC", letters):
                raise ValueError(
                    f"pieces must be in normal form C, as texts are when they are read, but piece {number}, "
                    f"{piece!r}, is not (unicodedata.normalize('NFC', piece) makes it so)"
                )
            if letters in table:
                raise ValueError(f"the piece {piece!r} is there twice, as {table[letters]} and as {number}; keep one")
            table[letters] = number
        self._longest = max(map(len, (*self._first, *self._next)), default=0)

    def __len__(self) -> int:
        """How many numbers there are, those of padding, beginning and end included."""
        return len(SPECIAL) + len(self.pieces)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.pieces == other.pieces

    def __hash__(self) -> int:
        return hash(self.pieces)

    def __repr__(self) -> str:
        return f"Vocabulary of {len(self)}"

    def encode(self, text: str) -> Encoding:
        """The pieces of `text` as numbers, without those for beginning and end.

        Raises:
            RefusedError: a ValueError, which names the first word that cannot be spelled, and those close to it.
        """
        ids: list[int] = []
        spans: list[Span] = []
        for word in between_spaces(text):
            stuck = self._spell(word, ids, spans)
            if stuck is not None:
                raise RefusedError(self.refusal(stuck))
        return Encoding(ids, spans)

    def decode(self, ids: Sequence[int]) -> str:
        """The text that these numbers spell; padding, beginning and end are left out."""
        return self.spelled(ids).text

    def spelled(self, ids: Sequence[int]) -> Spelled:
        """The text that these numbers spell, and where each piece lies in it."""
        text, spans = "", []
        for number, label in zip(ids, self.labels(ids), strict=True):
            if number >= len(SPECIAL):
                letters = label.removeprefix(CONTINUES)
                text += " " if text and letters == label else ""
                spans.append((len(text), len(text) + len(letters)))
                text += letters
        return Spelled(text, spans)

    def labels(self, ids: Sequence[int]) -> list[str]:
        """Each number as it is written in a figure: the piece with its ##, or the name of a special one."""
        for number in ids:
            if not 0 <= number < len(self):
                raise ValueError(f"ids must be in [0, {len(self) - 1}] for a vocabulary of {len(self)}, got {number}")
        first = len(SPECIAL)
        return [SPECIAL[number] if number < first else self.pieces[number - first] for number in ids]

    def unknown(self, text: str) -> list[Unknown]:
        """Every word of `text` that cannot be spelled; none if `encode` takes it."""
        found = [self._spell(word, [], []) for word in between_spaces(text)]
        return [stuck for stuck in found if stuck is not None]

    def near(self, word: str) -> list[str]:
        """Up to three beginnings of words that look like `word`, for someone who misspelled it."""
        return near(word, self._first, self._next)

    def to_json(self) -> str:
        """All there is to know, as a string to put beside the weights of a model."""
        return json.dumps({"pieces": self.pieces}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Vocabulary:
        """What `to_json` wrote, back."""
        try:
            pieces = json.loads(text)["pieces"]
        except (ValueError, KeyError, TypeError):
            raise ValueError(f'a vocabulary is written as {{"pieces": […]}}, got {text[:40]!r}') from None
        if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
            raise ValueError(
                "the pieces of a vocabulary must be a list of strings; this one was written by other hands"
            )
        return cls(pieces)

    @property
    def endings(self) -> tuple[str, ...]:
        """What continues a word, as particles do."""
        return tuple(self._next)

    def refusal(self, stuck: Unknown) -> Said:
        """What is said of a word that cannot be spelled, with the beginnings of words that are close to it."""
        read = stuck.word.removesuffix(stuck.rest)
        # Of 고양이도 the stem is known if not the rest; of 비행기 a single syllable says nothing.
        close = near(stuck.word, self._first, (*self._next, stuck.rest) if len(read) > 1 else self._next)
        hint = words.NEAR.filled(near=", ".join(close)) if close else words.NOTHING_NEAR.filled(program=program())
        return unknown_word(stuck, hint)

    def _spell(self, word: Run, ids: list[int], spans: list[Span]) -> Unknown | None:
        """Append the pieces of one word, or say where it gets stuck."""
        start, length = 0, len(word.letters)
        while start < length:
            table = self._next if start else self._first
            for stop in range(min(length, start + self._longest), start, -1):
                number = table.get(word.letters[start:stop])
                if number is not None:
                    break
            else:
                return Unknown(word.letters, (word.starts[0], word.stops[-1]), word.letters[start:])
            ids.append(number)
            spans.append((word.starts[start], word.stops[stop - 1]))
            start = stop
        return None


def unknown_word(stuck: Unknown, hint: Said) -> Said:
    """What is said of a word that cannot be spelled, and what may help."""
    place = words.place_in_text(*stuck.span)
    return words.UNKNOWN_WORD.filled(word=shortened(stuck.word), place=place, rest=shortened(stuck.rest), hint=hint)


def shortened(text: str) -> str:
    """Enough of a text to know it by, however long it is."""
    return text if len(text) <= LONG else text[: LONG - 1] + "…"


def learn(texts: Iterable[str], size: int) -> Vocabulary:
    """A vocabulary of at most `size` for these texts: all their characters, then the most useful longer pieces.

    The pieces are found by the trainer of the `tokenizers` library.
    """
    try:
        from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"pieces are learned by tokenizers, which is not installed: {install('translate')}"
        ) from error

    size = checks.count("size", size)
    lines = [" ".join(word.letters for word in between_spaces(text)) for text in texts]
    # Given in order, or the library numbers them in the order of a hash table, which differs from run to run, and
    # breaks ties between equally useful pieces by those numbers.
    letters = sorted({letter for line in lines for word in line.split() for letter in word})
    continued = sorted({CONTINUES + letter for line in lines for word in line.split() for letter in word[1:]})
    least = len(SPECIAL) + len(letters) + len(continued)
    if size < least:
        raise ValueError(
            f"size must be at least {least} to hold every character of these texts, at the beginning of a word and "
            f"inside one, got {size}"
        )
    trainer = trainers.WordPieceTrainer(
        vocab_size=size - len(SPECIAL),
        special_tokens=[*letters, *continued],
        continuing_subword_prefix=CONTINUES,
        show_progress=False,
    )
    tokenizer = Tokenizer(models.WordPiece(continuing_subword_prefix=CONTINUES))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.train_from_iterator(lines, trainer)
    numbers = tokenizer.get_vocab()
    return Vocabulary(piece for piece in sorted(numbers, key=numbers.__getitem__) if piece != CONTINUES)
