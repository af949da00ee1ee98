"""What a token looks like as a label: every character visible, and none that no font can draw.

Tokens hold what labels cannot: spaces that matter, line breaks, control characters, half a syllable, scripts no
installed font knows. Each becomes something that can be seen, and what is too long is cut in the middle, since
words of one stem differ at the end.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from clearhead.figures.fonts import drawable_characters

LONGEST_LABEL = 18  # columns, of which a Hangul syllable takes two
SPACE = "␣"
BREAKS = str.maketrans({"\n": "⏎", "\r": "↵", "\t": "⇥"})
JOINERS = ("\u200c", "\u200d")
NOTHING = "∅"


def token_label(token: object, *, columns: int = LONGEST_LABEL) -> str:
    """One token as a label of at most `columns` columns.

    Spaces at either end show as ␣ (inside they stay spaces), a line break as ⏎, a tab as ⇥, an empty token as ∅,
    and a character that cannot be drawn as its code point, U+XXXX.
    """
    text = unicodedata.normalize("NFC", str(token))  # a decomposed syllable is one syllable to its reader
    if not text:
        return NOTHING
    inner = text.strip(" ")
    before = len(text) - len(text.lstrip(" "))
    after = len(text) - len(inner) - before
    shown = SPACE * before + inner.translate(BREAKS) + SPACE * after
    return shorten(drawable(shown), columns)


def drawable(text: str) -> str:
    """The text with every character that no font can draw replaced by its code point. Line breaks stay."""
    text = unicodedata.normalize("NFC", text)
    return "".join(_draw(text, i) for i in range(len(text)))


def shorten(text: str, columns: int) -> str:
    """Cut the middle out of what is wider than `columns`, and say so with …"""
    if display_width(text) <= columns:
        return text
    clusters = list(_clusters(text))
    tail = _fit(clusters[::-1], (columns - 1) // 3)
    head = _fit(clusters, columns - 1 - display_width("".join(tail)))
    return "".join(head) + "…" + "".join(tail[::-1])


def display_width(text: str) -> int:
    """Columns on a terminal: two for a wide character, none for a mark that sits on another."""
    return sum(_columns(c) for c in text)


def _draw(text: str, i: int) -> str:
    """The i-th character, or what stands in for it."""
    c = text[i]
    category = unicodedata.category(c)
    if c in "\n ":
        return c
    styles = "\ufe00" <= c <= "\ufe0f"  # asks for a style of the character before, and is not one itself
    if styles and i > 0:
        return ""
    joins = c in JOINERS and 0 < i < len(text) - 1
    if styles or (category[0] in "CZ" and not joins) or ord(c) not in drawable_characters():
        return f"U+{ord(c):04X}"
    if category[0] == "M" and i == 0:
        return "◌" + c
    return c


def _columns(c: str) -> int:
    if unicodedata.category(c) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def _clusters(text: str) -> Iterator[str]:
    """Characters with the marks that sit on them, so that a cut never parts the two."""
    cluster = ""
    for c in text:
        if cluster and _columns(c) > 0:
            yield cluster
            cluster = ""
        cluster += c
    if cluster:
        yield cluster


def _fit(clusters: list[str], columns: int) -> list[str]:
    """As many clusters from the front as `columns` hold."""
    taken: list[str] = []
    for cluster in clusters:
        columns -= display_width(cluster)
        if columns < 0:
            break
        taken.append(cluster)
    return taken
