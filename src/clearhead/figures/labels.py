"""What a token looks like as a label of a figure: every character visible, and none that no font can draw.

How a token reads is said in text/labels.py. A figure has one concern more: scripts that no installed font knows.
"""

from __future__ import annotations

import unicodedata

from clearhead.figures.fonts import drawable_characters
from clearhead.text.clusters import shorten
from clearhead.text.labels import escaped, visible

LONGEST_LABEL = 18  # columns, of which a Hangul syllable takes two


def token_label(token: object, *, columns: int = LONGEST_LABEL) -> str:
    """One token as a label of at most `columns` columns.

    Spaces at either end show as ␣ (inside they stay spaces), a line break as ⏎, a tab as ⇥, an empty token as ∅,
    and a character that cannot be drawn as its code point, U+XXXX.
    """
    return shorten(drawable(visible(str(token))), columns)


def drawable(text: str) -> str:
    """The text with every character that no font can draw replaced by its code point. Line breaks stay."""
    return "".join(_draw(c) for c in escaped(unicodedata.normalize("NFC", text)))


def _draw(c: str) -> str:
    if "\ufe00" <= c <= "\ufe0f":  # asks for a style of the character before, which no font here has
        return ""
    return c if c == "\n" or ord(c) in drawable_characters() else f"U+{ord(c):04X}"
