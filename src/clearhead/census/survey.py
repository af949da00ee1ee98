"""One shard, counted: each of its documents is read, traced and added; one that cannot be is reported."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearhead.census import examples
from clearhead.census.causes import Cause, UncountedError, cause_of
from clearhead.census.corpus import Document, Shard, documents
from clearhead.census.counts import Counts
from clearhead.census.heads import Reading, read, seen
from clearhead.census.kinds import KINDS
from clearhead.census.rows import Problem, Row, Text

# Models that number positions from the one after their padding token's, so that they read that many tokens less.
PADDED = {
    "roberta", "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "camembert", "xmod", "longformer", "mpnet",
}  # fmt: skip
ENDLESS = 10**6  # what tokenizers say that know of no limit is more than this


@dataclass(frozen=True)
class Settings:
    """What a census depends on besides the model and the corpus.

    field: of JSON lines and Parquet, the text   max_tokens: where documents are cut off, if they are
    layers: by number or path, all unless given   threads: of each worker   shard: documents in each
    """

    field: str = "text"
    max_tokens: int | None = None
    layers: tuple[int | str, ...] | None = None
    threads: int = 1
    shard: int = 32


def limit_of(config: Any, tokenizer: Any) -> int | None:
    """How many tokens a model can read, where that is known."""
    names = ("max_position_embeddings", "n_positions", "max_sequence_length")
    told = [getattr(config, name, None) for name in names]
    if getattr(config, "model_type", None) in PADDED:
        told = [x - config.pad_token_id - 1 if isinstance(x, int) else x for x in told]
    told.append(getattr(tokenizer, "model_max_length", None))
    known = [int(x) for x in told if isinstance(x, int) and 0 < x < ENDLESS]
    return min(known) if known else None


def survey(shard: Shard, model: Any, tokenizer: Any, settings: Settings) -> Row:
    """What the documents of a shard add up to."""
    row = Row(shard.number, census=shard.census)
    for document in documents(shard, settings.field):
        try:
            problem = _counted(row, document, model, tokenizer, settings)
        except MemoryError:  # of this machine: another may have the room
            raise
        except Exception as error:
            _check_model(model, settings, error)
            problem = "failed", cause_of(error)
        if problem is not None:
            reason, cause = problem
            row.problems.append(Problem(document.number, document.file, document.place, reason, *cause))
    return row


def _check_model(model: Any, settings: Settings, error: Exception) -> None:
    """Where a document fails: raise its error if two tokens fail too, as it is the model's or a setting's then."""
    import torch

    from clearhead.traces.opening import trace

    if "can't allocate memory" in str(error):  # torch has no MemoryError
        raise error
    try:
        with trace(model, settings.layers, map_size=0) as found, torch.no_grad():
            model(**_inputs(model, [0, 1]))
        _ = [found[name] for name in found.names]
    except Exception:
        raise error from None


def _counted(row: Row, document: Document, model: Any, tokenizer: Any, settings: Settings) -> tuple[str, Cause] | None:
    """Count one document, or say what is wrong with it: a reason, and more."""
    if document.text is None:
        return "unreadable", document.problem or Cause()
    if not document.text.strip():
        return "empty", Cause()
    ids = list(tokenizer(document.text, verbose=False)["input_ids"])
    limit = limit_of(model.config, tokenizer)
    cut = settings.max_tokens is not None and len(ids) > settings.max_tokens
    if cut:
        ids = _first_ids(tokenizer, document.text, settings.max_tokens)
    elif limit is not None and len(ids) > limit:
        return "too_long", Cause.of("too_long", tokens=len(ids), limit=limit)
    if not ids:
        return "empty", Cause()
    _add(row, document, ids, model, tokenizer, settings)
    row.cut += cut
    return None


def _first_ids(tokenizer: Any, text: str, most: int | None) -> list[int]:
    """The first tokens of a text, with the special ones that it gets. A tokenizer may be set to keep the last."""
    side = tokenizer.truncation_side
    tokenizer.truncation_side = "right"
    try:
        return list(tokenizer(text, truncation=True, max_length=most)["input_ids"])
    finally:
        tokenizer.truncation_side = side


def _add(row: Row, document: Document, ids: list[int], model: Any, tokenizer: Any, settings: Settings) -> None:
    """Trace a document and count what is seen: all of it, or nothing where something fails."""
    import torch

    from clearhead.traces.opening import trace

    assert document.text is not None
    with trace(model, settings.layers, map_size=0) as found, torch.no_grad():
        model(**_inputs(model, ids))
    reading = read(ids, tokenizer, document.text)
    shown = seen(found, reading, inside=_encoder(model))
    if row.layers and shown.layers != row.layers:
        these, those = (", ".join(f"{name} × {heads}" for name, heads in x.layers) for x in (shown, row))
        raise UncountedError(Cause.of("other_layers", these=these, those=those))
    best = dict(row.best)
    kept = examples.add(best, document.number, shown, reading)
    if not row.layers:
        row.layers, row.counts = shown.layers, Counts.nothing(len(shown.steps))
    row.counts.add(shown)
    row.best = best
    row.read, row.tokens = row.read + 1, row.tokens + len(ids)
    row.kinds += np.bincount(reading.kinds, minlength=len(KINDS))
    if kept:
        row.texts[document.number] = _text(document, reading)


def _text(document: Document, reading: Reading) -> Text:
    """What examples show of a document: no more of its text than was read, at whose end special tokens may stand."""
    offsets = reading.spans.offsets
    end = max((stop for start, stop in offsets if start < stop), default=0)
    starts, stops = ([min(place[side], end) for place in offsets] for side in (0, 1))
    text = reading.spans.text[:end]
    return Text(document.file, document.place, text, reading.placed, reading.labels, starts, stops)


def _encoder(model: Any) -> str:
    """How the paths of the layers begin that read a document: those of the encoder, where there is a decoder too."""
    if not getattr(model.config, "is_encoder_decoder", False):
        return ""
    encoder = model.get_encoder()
    return next(f"{name}." for name, module in model.named_modules() if module is encoder)


def _inputs(model: Any, ids: list[int]) -> dict[str, Any]:
    """What a model is called with: no cache, and no more of the vocabulary's scores than it insists on."""
    import torch

    from clearhead.traces.command import decoded

    told = {"use_cache": False, "logits_to_keep": 1}
    known = inspect.signature(model.forward).parameters
    return {
        **decoded(model, {"input_ids": torch.tensor([ids])}),
        **{name: value for name, value in told.items() if name in known},
    }


def plain(shards: list[Shard], model: Any, tokenizer: Any, settings: Settings) -> Iterator[Row]:
    """All shards, one after the other, in this process."""
    return (survey(shard, model, tokenizer, settings) for shard in shards)
