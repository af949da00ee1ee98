"""What a note speaks of, seen in a trained model: the page of a translation, opened at the view that shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from clearhead.languages import RefusedError, spoken
from clearhead.learn import words
from clearhead.learn.notes import Note
from clearhead.learn.record import state_folder

SENTENCE = "고양이 세 마리가 공원에서 물을 마셨다"


def _cross(view: str) -> Callable[[Mapping[str, int]], str]:
    """The last cross-attention, the mean of its heads: which word came from which."""

    def address(last: Mapping[str, int]) -> str:
        layer = last["cross"]
        return f"l={layer}&mean={','.join(f'{layer}.{head}' for head in range(last['heads']))}&v={view}&q=1"

    return address


# The end of the page's address for a note, from the number of the last layer of each stack and how many heads it has.
VIEWS: dict[str, Callable[[Mapping[str, int]], str]] = {
    "02": lambda last: f"l={last['encoder']}&h=0&q=0",
    "03": lambda last: "tab=model",
    "05": lambda last: f"l={last['decoder']}&h=0&q=3",
    "06": _cross("lines"),
    "08": lambda last: "tab=model&sort=telling",
}


def is_seen(note: Note) -> bool:
    """Whether the page shows what a note speaks of."""
    return note.number in VIEWS


def address_of(note: Note, language: str | None = None) -> str:
    """Write the page, and say where in it a note is seen.

    Raises:
        RefusedError: the note speaks of nothing that is seen there.
    """
    from clearhead.page import write
    from clearhead.showcase.exploring import shown_layers
    from clearhead.translate.translator import Translator

    if not is_seen(note):
        raise RefusedError(words.NOT_SEEN.filled(number=note.number, seen=", ".join(VIEWS)))
    language = spoken(language)
    attention = Translator.load().attention(SENTENCE)
    layers = shown_layers(attention, language)
    last = {layer.stack: number for number, layer in enumerate(layers)} | {"heads": layers[-1].matrix.heads}
    folder = state_folder() / "notes" / language
    folder.mkdir(parents=True, exist_ok=True)
    title = f"{SENTENCE} → {attention.translated.text}"
    path: Path = write(folder / "explore.html", layers, title=title, language=language)
    return f"{path.as_uri()}#{VIEWS[note.number](last)}"
