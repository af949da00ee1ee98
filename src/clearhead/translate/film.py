"""Pictures of cross-attention: which pieces of the source a translation looked at, and how that came about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from clearhead.figures import visualize_attention
from clearhead.figures.sheet import checked_path
from clearhead.files import unfinished
from clearhead.text.labels import labels_from_offsets
from clearhead.text.spans import Span
from clearhead.translate import words
from clearhead.translate.alignment import MEAN, Reader
from clearhead.translate.report import percent
from clearhead.translate.translator import Translated
from clearhead.translate.vocabulary import END, SPECIAL

MOST_PICTURES = 6
SECONDS_EACH, SECONDS_LAST = 0.7, 2.5


def labels(text: str, spans: Sequence[Span]) -> list[str]:
    """Each piece as it stands in the text, and the end, which is a place to look at too."""
    return [*labels_from_offsets(text, spans), SPECIAL[END]]


def heads(translated: Translated, *, save: Path | None = None) -> Figure:
    """Every layer and head, the mean of each layer and the mean of all, side by side."""
    weights = translated.cross_weights
    blocks, h = weights.shape[:2]
    maps = [*weights.reshape(-1, *weights.shape[2:]), *weights.mean(axis=1), weights.mean(axis=(0, 1))]
    readers = [Reader(layer, head) for layer in range(blocks) for head in range(h)]
    readers += [Reader(layer, None) for layer in range(blocks)] + [MEAN]
    names = [words.reader_name(reader)() for reader in readers]
    return _drawn(translated, np.stack(maps), names, words.HEADS_TITLE(), save)


def one(translated: Translated, reader: Reader, *, save: Path | None = None) -> Figure:
    """One head, or a mean of several."""
    return visualize_attention(
        reader.of(translated.cross_weights),
        labels(translated.text, translated.target_spans),
        key_tokens=labels(translated.source, translated.source_spans),
        title=_titled(words.READER_TITLE(reader=words.reader_name(reader)), translated),
        save=save,
    )


def strip(
    translated: Translated, film: Mapping[int, np.ndarray], exact: Mapping[int, float], reader: Reader, *, save: Path
) -> None:
    """How cross-attention changed while the model learned: a film strip, or a moving picture if `save` is a .gif.

    film: step → cross-attention (blocks, h, n_t + 1, n_s + 1) over the pair  exact: step → held-out exact match
    """
    steps = chosen(sorted(film))
    names = [_step_name(step, exact) for step in steps]
    maps = np.stack([reader.of(film[step]) for step in steps])
    if save.suffix.lower() == ".gif":
        _move(translated, maps, names, save)
    else:
        _drawn(translated, maps, names, words.STRIP_TITLE(reader=words.reader_name(reader)), save)


def chosen(steps: Sequence[int]) -> list[int]:
    """The first, the last, and as many of those between as there is room for, the later ones first."""
    return list(steps) if len(steps) <= MOST_PICTURES else [steps[0], *steps[1 - MOST_PICTURES :]]


def checked_film(path: Path) -> Path:
    """A place for a film: a .gif moves, a .png, .svg or .pdf is a strip."""
    if path.suffix.lower() == ".gif":
        return checked_path(path.with_suffix(".png")).with_suffix(".gif")
    return checked_path(path)


def _step_name(step: int, exact: Mapping[int, float]) -> str:
    looks = [look for look in exact if look <= step]
    return words.STEP_REACHED(step=step, exact=percent(exact[max(looks)])) if looks else words.STEP(step=step)


def _titled(title: str, translated: Translated) -> str:
    """A title with what was translated to what, and whether that is to be relied on."""
    doubt = "" if translated.sure else f" ({words.UNSURE()})"
    return f"{title}: {translated.source} → {translated.text}{doubt}"


def _drawn(
    translated: Translated, maps: Float[np.ndarray, "pictures n_t n_s"], names: list[str], title: str, save: Path | None
) -> Figure:
    options: dict[str, Any] = {"head_names": names} if len(names) > 1 else {}
    return visualize_attention(
        maps,
        labels(translated.text, translated.target_spans),
        key_tokens=labels(translated.source, translated.source_spans),
        title=_titled(title, translated),
        vmax=1.0,
        save=save,
        **options,
    )


def _move(translated: Translated, maps: Float[np.ndarray, "pictures n_t n_s"], names: list[str], save: Path) -> None:
    """One picture after the other, the last one for longer, again and again."""
    from PIL import Image

    frames = []
    for cells, name in zip(maps, names, strict=True):
        figure = _drawn(translated, cells[None], [name], name, None)
        figure.canvas.draw()
        frames.append(Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB"))  # type: ignore[attr-defined]
    size = (max(frame.width for frame in frames), max(frame.height for frame in frames))
    pages = [Image.new("RGB", size, "white") for _ in frames]
    for page, frame in zip(pages, frames, strict=True):
        page.paste(frame, (0, size[1] - frame.height))  # titles may take another line; the maps stay where they are
    milliseconds = [int(1000 * SECONDS_EACH)] * (len(pages) - 1) + [int(1000 * SECONDS_LAST)]
    with unfinished(save) as draft:
        pages[0].save(draft, format="GIF", save_all=True, append_images=pages[1:], duration=milliseconds, loop=0)
