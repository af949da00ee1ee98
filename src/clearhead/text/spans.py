"""Where each token stands in its text, asked of a tokenizer of Hugging Face.

A fast tokenizer knows it when it has the text. Without the text, or with a tokenizer written in Python, the text is put
together from the tokens, byte by byte, since a token may hold part of a character.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

Span = tuple[int, int]  # where something starts and stops, in characters of its text

CONTINUES = "##"  # WordPiece's mark of a token that continues a word
MOST_TOGETHER = 8  # tokens that are read as one until they make a character


class Spans(NamedTuple):
    """A text, and for each token its place in it (start, stop), and a name where the text would not do.

    Special tokens have their name, so have those that stand for nothing in the text, and "##" says that a token of
    WordPiece continues a word.
    """

    text: str
    offsets: list[Span]
    names: list[str | None]


def token_spans(ids: Sequence[int] | ArrayLike, tokenizer: Any, text: str | None = None) -> Spans:
    """Where each token stands in the text; without one, in a text put together from the tokens.

    ids (n), or (1, n). Tokens before and after those of the text, padding or what a model wrote, are read from the
    ids, and what they say is added to the text.
    """
    numbers = _checked_ids(ids)
    if not hasattr(tokenizer, "convert_ids_to_tokens"):
        raise TypeError(
            f"tokenizer must be one of transformers, with convert_ids_to_tokens, got {type(tokenizer).__name__} "
            "(transformers.PreTrainedTokenizerFast(tokenizer_object=…) wraps one of the tokenizers library)"
        )
    if text is None or not getattr(tokenizer, "is_fast", False):
        return _from_tokens(numbers, tokenizer, begins=True)
    first, offsets = _found(numbers, tokenizer, text)
    parts = (
        _from_tokens(numbers[:first], tokenizer),
        _in_text(numbers[first : first + len(offsets)], tokenizer, text, offsets),
        _from_tokens(numbers[first + len(offsets) :], tokenizer),
    )
    joined = Spans("", [], [])
    for part in parts:
        shift = len(joined.text)
        places = [(start + shift, stop + shift) for start, stop in part.offsets]
        joined = Spans(joined.text + part.text, joined.offsets + places, joined.names + part.names)
    return joined


def checked_offsets(text: str, offsets: Sequence[Sequence[int]]) -> list[Span]:
    """Places inside the text."""
    spans = [(int(start), int(stop)) for start, stop in offsets]
    for i, (start, stop) in enumerate(spans):
        if not 0 <= start <= stop <= len(text):
            raise ValueError(
                f"offsets of token {i} are ({start}, {stop}), outside a text of {len(text)} characters "
                "(do they belong to another text?)"
            )
    return spans


def _checked_ids(ids: Sequence[int] | ArrayLike) -> list[int]:
    """One sequence of token ids."""
    array = np.asarray(ids)
    if array.size == 0:
        return []
    if array.dtype.kind not in "iu":
        raise TypeError(f"ids must be integers, got {array.dtype.name} (token ids, as the tokenizer gives them)")
    if array.ndim == 0 or any(length != 1 for length in array.shape[:-1]):
        raise ValueError(f"ids must be one sequence, (n), got shape {array.shape} (ids[0] is the first of a batch)")
    return [int(number) for number in array.reshape(-1)]


def _found(ids: list[int], tokenizer: Any, text: str) -> tuple[int, list[Span]]:
    """Where among the ids those of the text begin, and their offsets; fewer if the ids are cut off."""
    encoding = tokenizer(text, return_offsets_mapping=True, add_special_tokens=False, verbose=False)
    wanted, offsets = list(encoding["input_ids"]), [(int(a), int(b)) for a, b in encoding["offset_mapping"]]
    for first in range(len(ids) - len(wanted) + 1):
        if ids[first : first + len(wanted)] == wanted:
            return first, offsets
    special = set(tokenizer.all_special_ids)
    added = next((i for i, number in enumerate(ids) if number not in special), len(ids))
    for first in range(added + 1):  # an unknown word is a special token too, and may be the first or last of the text
        kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(ids[first:], wanted, strict=False)))
        if kept and all(number in special for number in ids[first + kept :]):
            return first, offsets[:kept]
    raise ValueError(
        f"the {len(ids)} ids are not what the tokenizer makes of the text, {len(wanted)} tokens from "
        f"{tokenizer.convert_ids_to_tokens(wanted[:3])} on; give the text they came from, or none"
    )


def _in_text(ids: list[int], tokenizer: Any, text: str, offsets: list[Span]) -> Spans:
    """The tokenizer's offsets, made to mean one thing: a token has the space it begins with, if the text has it."""
    special, continues = set(tokenizer.all_special_ids), "WordPiece" in _decoder(tokenizer)
    places: list[Span] = []
    names: list[str | None] = []
    for number, token, (start, stop) in zip(ids, tokenizer.convert_ids_to_tokens(ids), offsets, strict=True):
        spaced = token[:1] in ("Ġ", "▁")
        if spaced and len(token) == 1 and text[start:stop].strip():
            stop = start  # a space that the tokenizer put before the text
        elif spaced and 0 < start < stop and text[start - 1] == " " and not text[start].isspace():
            start -= 1  # some leave the space out of their offsets
        name = token if number in special else CONTINUES if continues and token.startswith(CONTINUES) else None
        names.append(_shown(token) if name is None and start == stop else name)
        places.append((start, stop))
    return Spans(text, places, names)


def _from_tokens(ids: list[int], tokenizer: Any, *, begins: bool = False) -> Spans:
    """The text that the tokens make, and their places in it. `begins`: nothing was written before them."""
    special = set(tokenizer.all_special_ids)
    tokens = [str(token) for token in tokenizer.convert_ids_to_tokens(ids)]
    names: list[str | None] = [t if number in special else None for number, t in zip(ids, tokens, strict=True)]
    if not getattr(tokenizer, "is_fast", False):
        return _together(ids, tokens, names, tokenizer)
    decoder = _decoder(tokenizer)
    data, places = b"", []
    for i, token in enumerate(tokens):
        piece = b"" if names[i] is not None else _bytes(token, decoder)
        if "WordPiece" in decoder and names[i] is None:
            names[i] = CONTINUES if token.startswith(CONTINUES) else None
            data += b"" if names[i] or not data else b" "
        if begins and piece and not data and _puts_a_space_first(decoder):
            piece = piece.removeprefix(b" ")
        names[i] = names[i] if piece or names[i] is not None else _shown(token)
        places.append((len(data), len(data) + len(piece)))
        data += piece
    text, firsts, lasts = _decoded(data)
    return Spans(text, [(firsts[a], lasts[b - 1]) if a < b else (firsts[a], firsts[a]) for a, b in places], names)


def _together(ids: list[int], tokens: list[str], names: list[str | None], tokenizer: Any) -> Spans:
    """By decoding: a token that makes no character is read with those after it, and they share what they make."""
    if hasattr(tokenizer, "wordpiece_tokenizer"):
        return _word_pieces(tokens, names)
    text, i = "", 0
    places: list[Span] = []
    while i < len(ids):
        if names[i] is not None:
            places.append((len(text), len(text)))
            i += 1
            continue
        following = next((j for j in range(i + 1, len(ids)) if names[j] is not None), len(ids))
        for n in range(1, min(MOST_TOGETHER, following - i) + 1):
            piece = _decode(ids[i : i + n], tokens[i], tokenizer)
            if piece and "\ufffd" not in piece:
                break
        else:
            n, piece = 1, _decode(ids[i : i + 1], tokens[i], tokenizer)
        places += [(len(text), len(text) + len(piece))] * n
        text, i = text + piece, i + n
    return Spans(text, places, names)


def _word_pieces(tokens: list[str], names: list[str | None]) -> Spans:
    """Tokens of WordPiece: a word begins with each that does not continue one, which its own decoding would lose."""
    text = ""
    places: list[Span] = []
    found = list(names)
    for i, token in enumerate(tokens):
        if found[i] is None and token.startswith(CONTINUES):
            found[i], token = CONTINUES, token.removeprefix(CONTINUES)
        elif found[i] is None:
            text += " " if text else ""
        start = len(text)
        text += token if found[i] in (None, CONTINUES) else ""
        places.append((start, len(text)))
    return Spans(text, places, found)


def _decode(ids: list[int], first: str, tokenizer: Any) -> str:
    """What the tokenizer reads, with the space that many drop when a text begins with it."""
    text = str(tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False))
    return " " + text.lstrip(" ") if first.startswith("▁") else text


def _decoded(data: bytes) -> tuple[str, list[int], list[int]]:
    """The text of the bytes, in which a byte that is no text reads <0xXX>, and for each byte where the character it
    belongs to starts and stops, with one start more for the end."""
    text, firsts, lasts = "", [], []
    for c in data.decode("utf-8", errors="surrogateescape"):
        stray = "\udc80" <= c <= "\udcff"
        shown = f"<0x{ord(c) - 0xDC00:02X}>" if stray else c
        size = 1 if stray else len(c.encode())
        firsts += [len(text)] * size
        text += shown
        lasts += [len(text)] * size
    return text, [*firsts, len(text)], lasts


def _bytes(token: str, decoder: str) -> bytes:
    """The bytes of text one token stands for, by the kind of its tokenizer."""
    if "ByteLevel" in decoder:
        alphabet = _alphabet()
        return bytes(alphabet[c] for c in token) if all(c in alphabet for c in token) else token.encode()
    if "ByteFallback" in decoder and len(token) == 6 and token.startswith("<0x"):
        return bytes([int(token[3:5], 16)])
    if "WordPiece" in decoder:
        return token.removeprefix(CONTINUES).encode()
    if "BPEDecoder" in decoder:
        return token.replace("</w>", " ").encode()
    return (token.replace("▁", " ") if "▁" in decoder else token).encode()


def _shown(token: str) -> str:
    """A token that stands for nothing in the text, in most cases for a space put before it."""
    return token.replace("▁", "␣").replace("Ġ", "␣") or "∅"


def _decoder(tokenizer: Any) -> str:
    """How a fast tokenizer describes its way back to text; it names each step of it."""
    return str(tokenizer.backend_tokenizer.decoder) if getattr(tokenizer, "is_fast", False) else ""


def _puts_a_space_first(decoder: str) -> bool:
    return ("Metaspace" in decoder and "prepend_scheme=never" not in decoder) or "Strip(" in decoder


@cache
def _alphabet() -> dict[str, int]:
    """The characters by which byte-level tokenizers write bytes: their own if it can be seen, else from U+0100 on."""
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in seen]
    return {chr(byte): byte for byte in seen} | {chr(0x100 + i): byte for i, byte in enumerate(others)}
