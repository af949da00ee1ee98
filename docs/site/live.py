"""The pages that the site links to as live examples: small files in which every view can be used.

The translator that comes with clearhead is a trained model, and its attention is all there is in two of them. The image
is looked at by no model: its queries and keys are the colours of its own patches, computed by the gallery's script.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np

from clearhead.languages import Said, speaking
from clearhead.matrices import StoredMatrix, Tokens
from clearhead.page import Patches, Shown, write as write_page
from clearhead.showcase.exploring import shown_layers
from clearhead.translate.translator import Translator
from docs import gallery

FOLDER = "live"
SENTENCE = "고양이 세 마리가 공원에서 물을 마셨다"
SWAPPED = ("고양이가 쥐를 잡았다", "쥐가 고양이를 잡았다")  # the same pieces, and who caught whom
SUNS = Said(en="three suns over a sea", ko="바다 위의 해 세 개")
COLOURS = Said(en="colours of the patches", ko="패치의 색")
SIDE = 6  # pixels of a patch, as the gallery's script cuts them


def write(folder: Path, language: str) -> list[Path]:
    """Write every example into a folder, in one language. → their paths"""
    folder.mkdir(parents=True, exist_ok=True)
    translator = Translator.load()
    with speaking(language):
        return [
            _translation(folder / "translation.html", translator, language),
            _compared(folder / "compare.html", translator, language),
            _image(folder / "image.html", language),
        ]


def _translation(path: Path, translator: Translator, language: str) -> Path:
    attention = translator.attention(SENTENCE)
    title = f"{SENTENCE} → {attention.translated.text}"
    return write_page(path, shown_layers(attention, language), title=title, language=language)


def _compared(path: Path, translator: Translator, language: str) -> Path:
    """Two sentences that differ in who does what to whom, as two traces."""
    layers = [
        Shown(layer.name, layer.matrix, stack=layer.stack, prompt=layer.prompt, trace=number)
        for number, sentence in enumerate(SWAPPED)
        for layer in shown_layers(translator.attention(sentence), language)
    ]
    return write_page(path, layers, title=" / ".join(SWAPPED), language=language, traces=SWAPPED)


def _image(path: Path, language: str) -> Path:
    found = runpy.run_path(str(gallery.SCRIPTS["patches"]))
    pixels = (np.asarray(found["image"]) * 255).round().astype(np.uint8)
    rows, columns = (side // SIDE for side in pixels.shape[:2])
    names = [f"{row},{column}" for row in range(rows) for column in range(columns)]
    weights = StoredMatrix(found["weights"][None], tokens=Tokens(names, names))
    layer = Shown(COLOURS(language), weights, image=Patches(pixels, rows, columns))
    return write_page(path, [layer], title=SUNS(language), language=language)
