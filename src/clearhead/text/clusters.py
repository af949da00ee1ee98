"""Characters as readers count them, how many columns they take, and what is left of a text when there are too few.

A cluster is a character with the marks that sit on it, a Korean syllable however many letters it was typed in, or an
emoji joined from several. Whatever composes in a normal form, or may be put in another order by one, is in one
cluster, so a text can be normalised cluster by cluster. A space is one by itself: a mark after it must not hide it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator


def clusters(text: str) -> Iterator[str]:
    """Characters as readers count them: with the marks that sit on them, Korean letters as syllables, joined emoji."""
    cluster = ""
    for c in text:
        if cluster and not _belongs(c, cluster):
            yield cluster
            cluster = ""
        cluster += c
    if cluster:
        yield cluster


def display_width(text: str) -> int:
    """Columns on a terminal: two for a Chinese character, a syllable of Hangul or an emoji, none for a mark on one."""
    return sum(_cluster_width(cluster) for cluster in clusters(text))


def shorten(text: str, width: int) -> str:
    """Cut the middle out of what is wider than `width` columns, and say so with …: words of a stem differ at the end"""
    if display_width(text) <= width:
        return text
    parts = list(clusters(text))
    tail = _fit(parts[::-1], (width - 1) // 3)
    head = _fit(parts, width - 1 - display_width("".join(tail)))
    return "".join(head) + "…" + "".join(tail[::-1])


def _belongs(c: str, cluster: str) -> bool:
    """Whether a character is part of the cluster before it."""
    if cluster.isspace():
        return False
    if _width(c) == 0 or unicodedata.category(c) == "Mc" or "\U0001f3fb" <= c <= "\U0001f3ff":  # or a skin's colour
        return True
    if "\U0001f1e6" <= c <= "\U0001f1ff":  # two letters that are a flag
        return len(cluster) == 1 and "\U0001f1e6" <= cluster <= "\U0001f1ff"
    return cluster[-1] == "\u200d" and unicodedata.category(c) == "So"


def _cluster_width(cluster: str) -> int:
    return 2 if "\ufe0f" in cluster[1:] else min(sum(map(_width, cluster)), 2)


def _width(c: str) -> int:
    if unicodedata.category(c) in ("Mn", "Me", "Cf") or "\u1160" <= c <= "\u11ff" or "\ud7b0" <= c <= "\ud7ff":
        return 0  # vowels and finals among them, which stand under the first letter of their syllable
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def _fit(parts: list[str], width: int) -> list[str]:
    """As many clusters from the front as `width` columns hold."""
    taken: list[str] = []
    for part in parts:
        width -= _cluster_width(part)
        if width < 0:
            break
        taken.append(part)
    return taken
