"""The page that `clearhead visualize` ends in: all attention of a translation, or of a model of transformers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from clearhead.languages import speaking
from clearhead.matrices import StoredMatrix, Tokens
from clearhead.page import Shown, write
from clearhead.page.showing import open_in_browser
from clearhead.showcase import captions
from clearhead.translate.translator import Attention

NAME = "explore.html"


def shown_layers(attention: Attention, language: str) -> list[Shown]:
    """Encoder, decoder and cross-attention of a translation, block by block."""
    source, given, written = (list[object](x) for x in (attention.source, attention.given, attention.written))
    causal = np.tri(len(given), dtype=np.bool_)
    stacks: list[tuple[str, np.ndarray, Tokens, np.ndarray | None, int | None]] = [
        ("encoder", attention.encoder, Tokens(source, source), None, None),
        ("decoder", attention.decoder, Tokens(given, given), causal, 1),
        ("cross", attention.cross, Tokens(written, source), None, 0),
    ]
    return [
        Shown(
            captions.STACKS[stack](language, layer=number),
            StoredMatrix(weights, allowed=allowed, tokens=tokens),
            stack=stack,
            prompt=prompt,
        )
        for stack, blocks, tokens, allowed, prompt in stacks
        for number, weights in enumerate(blocks)
    ]


def explore_translation(attention: Attention, folder: Path, language: str) -> Path:
    """Write the page of a translation. → its path"""
    translated = attention.translated
    title = f"{translated.source} → {translated.text}"
    return write(folder / NAME, shown_layers(attention, language), title=title, language=language)


def explore_model(model: str, text: str, folder: Path, language: str) -> tuple[Path, Any]:
    """Run a model of transformers on a text, and write its page. → its path, and the trace"""
    import torch

    from clearhead.traces import trace
    from clearhead.traces.command import decoded, loaded, waiting
    from clearhead.traces.words import LOADING, LOOKING, RUNNING

    with waiting(LOADING(model=model)):
        network, tokenizer = loaded(model, with_tokenizer=True)
    given = tokenizer(text, return_tensors="pt")
    with waiting(RUNNING(model=model)), trace(network) as found, torch.no_grad():
        network(**decoded(network, given))
    found = found.calls[0].label(tokenizer, text)
    folder.mkdir(parents=True, exist_ok=True)
    with waiting(LOOKING()), speaking(language):
        return found.to_html(folder / NAME, language=language, title=f"{Path(model).name}: {text}"), found


def open_page(path: Path) -> bool:
    """Open a page for somebody who sits at a terminal, where there is a screen."""
    return sys.stdout.isatty() and open_in_browser(path.resolve().as_uri())
