"""A note in a terminal: what a terminal cannot show, folded answers and pictures, said in Markdown that it can."""

from __future__ import annotations

import os
import re

from rich.console import Console
from rich.markdown import Markdown

from clearhead.languages import spoken
from clearhead.learn.markdown import with_particles
from clearhead.learn.notes import Note
from clearhead.learn.words import FIGURE

SUMMARY = re.compile(r"^<details><summary>(.*?)</summary>$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"^!\[(.+)\]\(.+\)$", re.MULTILINE)
FORMULA = re.compile(r"^\$\$\n(.*?)\n\$\$$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"\$(?!\s)([^$\n`]+?)(?<!\s)\$(?!\d)")
FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def plain_markdown(text: str, language: str | None = None) -> str:
    """Markdown that needs no page: questions in bold, pictures in words, formulas as they are typed."""
    figure = FIGURE(spoken(language))
    parts = FENCED.split(with_particles(text))
    for number in range(0, len(parts), 2):  # between blocks of code
        part = SUMMARY.sub(lambda match: f"**{' '.join(match[1].split())}**", parts[number])
        part = re.sub(r"^</details>$", "", part, flags=re.MULTILINE)
        part = PICTURE.sub(rf"> [{figure}] \1", part)
        part = FORMULA.sub(r"```latex\n\1\n```", part)
        parts[number] = INLINE.sub(r"`\1`", part)
    return "".join(parts)


def show(note: Note, language: str | None = None) -> None:
    """Show a note through the user's pager."""
    os.environ.setdefault("LESS", "-R")  # less shows colours only if it is told to; whoever set LESS knows better
    console = Console()
    with console.pager(styles=True):
        console.print(Markdown(plain_markdown(note.text(language), language), code_theme="ansi_light"))
