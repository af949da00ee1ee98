"""`clearhead trace`: a model, a text, and a file with what every head of it looks at."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from clearhead import advice
from clearhead.languages import NotThereError, RefusedError
from clearhead.traces import words
from clearhead.traces.words import DESCRIPTION as DESCRIPTION

MOST = 10  # heads that a probe shows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = words.EXAMPLES(program=parser.prog)
    said = {name: text() for name, text in words.OPTIONS.items()}
    parser.add_argument("--model", required=True, metavar="DIR|NAME", help=said["model"])
    parser.add_argument("--text", metavar="FILE", help=said["text"])
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help=said["out"])
    parser.add_argument("--generate", type=int, default=0, metavar="N", help=said["generate"])
    parser.add_argument("--layers", nargs="+", metavar="LAYER", help=said["layers"])
    parser.add_argument("--probe", action="store_true", help=said["probe"])
    parser.add_argument("--slow", action="store_true", help=said["slow"])


def run(options: argparse.Namespace) -> int:
    """Check everything that can be checked before the model is loaded, which takes a while."""
    if options.text is None and not options.probe:
        raise argparse.ArgumentError(None, words.NO_TEXT())
    text = None if options.text is None else _text(options.text)
    layers = None if options.layers is None else [int(x) if x.isdigit() else x for x in options.layers]
    with waiting(words.LOADING(model=options.model)):
        model, tokenizer = loaded(options.model, with_tokenizer=text is not None)
    if text is not None:
        _trace(options, model, tokenizer, text, layers)
    if options.probe:
        _probe(model)
    return 0


def _text(path: str) -> str:
    if path == "-":
        text = sys.stdin.read()
    else:
        try:
            text = Path(path).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise NotThereError(words.NO_FILE.filled(path=path)) from None
        except UnicodeDecodeError:
            raise RefusedError(words.NOT_TEXT.filled(path=path)) from None
    if not text.strip():
        raise RefusedError(words.EMPTY_TEXT.filled(path=path))
    return text


def loaded(name: str, *, with_tokenizer: bool) -> tuple[Any, Any]:
    """A model, as what its configuration says it was made for, and its tokenizer."""
    try:
        import transformers
    except ModuleNotFoundError:
        raise RefusedError(words.NO_HF.filled(install=advice.install("hf"))) from None
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        config = transformers.AutoConfig.from_pretrained(name)
        made_for = " ".join(config.architectures or ())
        kind: Any = transformers.AutoModel
        if "CausalLM" in made_for or "LMHead" in made_for:
            kind = transformers.AutoModelForCausalLM
        elif "ConditionalGeneration" in made_for:
            kind = transformers.AutoModelForSeq2SeqLM
        model = kind.from_pretrained(name).eval()
        tokenizer = transformers.AutoTokenizer.from_pretrained(name) if with_tokenizer else None
    except (OSError, ValueError, KeyError) as error:
        why = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise RefusedError(words.NOT_LOADED.filled(model=name, why=why)) from None
    return model, tokenizer


def _trace(options: argparse.Namespace, model: Any, tokenizer: Any, text: str, layers: Any) -> None:
    import torch

    from clearhead.traces.opening import trace

    if options.generate and not (hasattr(model, "can_generate") and model.can_generate()):
        raise RefusedError(words.NO_GENERATION.filled(model=type(model).__name__))
    given = tokenizer(text, return_tensors="pt")
    start = time.perf_counter()
    keep = "memory" if options.out is None else options.out
    with waiting(words.RUNNING(model=options.model)), trace(model, layers, keep=keep, slow=options.slow) as found:
        with torch.no_grad():
            if options.generate:
                model.generate(**given, max_new_tokens=options.generate, do_sample=False)
            else:
                model(**decoded(model, given))
        found.label(tokenizer, None if options.generate else text)
    seconds = time.perf_counter() - start
    with waiting(words.LOOKING()):
        call = found.calls[0]
        table = call.patterns()
    ids = call.ids()
    heads = sum(len(row) for row in table.labels)
    tokens = given["input_ids"].shape[-1] if ids is None else len(ids)
    print(words.READ(model=options.model, tokens=tokens, layers=len(table), heads=heads, seconds=seconds))
    print(table.said())
    if options.out is not None:
        print(words.WRITTEN(path=options.out, size=options.out.stat().st_size / 2**20))


def decoded(model: Any, given: Any) -> dict[str, Any]:
    """The inputs of a call; an encoder and decoder without a target begins with its own first token."""
    inputs = dict(given)
    if getattr(model.config, "is_encoder_decoder", False):
        first = model.config.decoder_start_token_id or 0
        inputs["decoder_input_ids"] = given["input_ids"].new_full((1, 1), first)
    return inputs


def _probe(model: Any) -> None:
    from clearhead.traces.probing import probe

    with waiting(words.LOOKING()):
        found = probe(model)
    print(words.INDUCTION())
    order = np.argsort(-np.nan_to_num(found.induction, nan=-1), axis=None)[:MOST]
    wide = max(len(name) for name in found.names)
    for layer, head in (np.unravel_index(place, found.induction.shape) for place in order):
        score = found.induction[layer, head]
        print(words.HEAD(layer=f"{found.names[layer]:{wide}}", head=int(head), score=float(score)))
    if left := int(np.isfinite(found.induction).sum()) - len(order):
        print(words.MORE(count=left))


@contextlib.contextmanager
def waiting(what: str) -> Iterator[None]:
    """Say what is going on, in a terminal, until it is over."""
    console = Console(stderr=True)
    with console.status(what) if console.is_terminal else contextlib.nullcontext():
        yield
