"""The trained translator, in NumPy alone: the textbook's Transformer and a vocabulary, from one file.

What it answers comes with what it looked at, so that nothing has to be computed again to see it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from clearhead.languages import RefusedError, Said
from clearhead.text.labels import labels_from_offsets
from clearhead.text.spans import Span
from clearhead.textbook.decoding import greedy
from clearhead.textbook.transformer import Transformer
from clearhead.translate import checkpoint, words
from clearhead.translate.alignment import MEAN, WRITTEN, Aligned, Reader, rows_of
from clearhead.translate.doubt import Doubt
from clearhead.translate.reading import against, strange_words, unread, unspelled
from clearhead.translate.vocabulary import BEGIN, END, SPECIAL, Vocabulary

# What made the file that comes with clearhead, with --overwrite --out src/clearhead/translate/shipped.safetensors.
SHIPPED_BY = "clearhead translate --train --task all --half"
SHIPPED = Path(__file__).with_name("shipped.safetensors")
MARGIN = 10  # pieces a translation may be longer than any it was trained on


class Translated(NamedTuple):
    """A translation and what was looked at while it was written.

    cross_weights (blocks, h, n_t + 1, n_s + 1): rows are the target's pieces and END, as each was written; columns are
    the source's pieces and END
    """

    source: str
    text: str
    source_ids: list[int]
    target_ids: list[int]
    source_spans: list[Span]
    target_spans: list[Span]
    cross_weights: np.ndarray
    probability: float  # of a piece, the geometric mean
    ended: bool  # or it ran into the limit
    confidence: float  # the probability of its least probable piece, END counted; 0 if it did not end
    sure: bool  # whether nothing speaks against it (see doubt)
    strange: tuple[str, ...] = ()  # the words of the source that are made of others and not known
    unusual: Said | None = None  # what else speaks against it, in words

    def __repr__(self) -> str:
        return f"<Translated {self.source!r} → {self.text!r}{'' if self.sure else ', not sure'}>"

    def aligned(self, reading: str = WRITTEN) -> Aligned:
        """Its words, and the weights between its pieces and those of the source."""
        weights = rows_of(self.cross_weights, len(self.target_ids), reading)[..., :-1]
        return Aligned.of_texts(self.source, self.text, self.source_spans, self.target_spans, weights)


class Attention(NamedTuple):
    """Every weight of every block over one translation, the names of their rows and columns, and the translation.

    encoder (blocks, h, n_s, n_s) from source to source
    decoder (blocks, h, n_t, n_t) from given to given, causal
    cross (blocks, h, n_t, n_s) from written to source: row t is given given[t] and writes written[t]
    """

    encoder: np.ndarray
    decoder: np.ndarray
    cross: np.ndarray
    source: list[str]  # the pieces and <end>
    given: list[str]  # <begin> and the pieces
    written: list[str]  # the pieces and <end>
    translated: Translated

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {getattr(self, name).shape}" for name in ("encoder", "decoder", "cross"))
        return f"<Attention {shapes} of {self.translated!r}>"


@dataclass(frozen=True)
class Translator:
    """A model, the vocabulary it reads and writes, and what is known of its training.

    `longest` are the most pieces of a source, END counted, and of a target that it was trained on; `reader` is the
    head, or mean of heads, whose attention tells best which word came from which; `doubt` is when it is sure.
    """

    model: Transformer = field(repr=False)
    vocabulary: Vocabulary = field(repr=False)
    task: str
    longest: tuple[int, int]
    reader: Reader = MEAN
    doubt: Doubt = field(default_factory=Doubt, repr=False)
    record: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def load(cls, path: str | Path | None = None) -> Translator:
        """The translator at `path`, or the one that comes with clearhead.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: it holds something else.
        """
        path = SHIPPED if path is None else Path(path)
        description, arrays = checkpoint.read(path, checkpoint.MODEL)
        more = description["translator"]
        model = Transformer(**{**description["settings"], "dtype": np.float32})
        model.load_parameters(arrays)
        vocabulary = Vocabulary.from_json(more["vocabulary"])
        if len(vocabulary) != model.source_vocab:
            raise ValueError(
                f"{path} holds a vocabulary of {len(vocabulary)} pieces but a model of {model.source_vocab}; "
                "the file is damaged"
            )
        reader, doubt = Reader(*more["reader"]), Doubt.from_json(more.get("doubt"))
        return cls(model, vocabulary, more["task"], tuple(more["longest"]), reader, doubt, more["record"])

    def save(self, path: str | Path, dtype: DTypeLike = np.float32) -> None:
        """Write everything to one file, which `clearhead.Transformer.load` reads as well; float16 halves it."""
        settings = self.model._settings() | {"dtype": np.dtype(dtype).name}
        description = {
            "kind": checkpoint.MODEL,
            "version": checkpoint.VERSION,
            "settings": settings,
            "functions": [],
            "translator": {
                "task": self.task,
                "vocabulary": self.vocabulary.to_json(),
                "longest": self.longest,
                "reader": self.reader,
                "doubt": self.doubt.to_json(),
                "record": dict(self.record),
            },
        }
        checkpoint.write(
            Path(path), description, {name: array.astype(dtype) for name, array in self.model.parameters().items()}
        )

    def translate(self, texts: Sequence[str]) -> list[Translated]:
        """Each text translated, greedily. A text's translation does not depend on those beside it.

        Raises:
            RefusedError: a ValueError, as a text is empty, too long, holds a word that is not known or a day that there
                is none of.
        """
        read = [self._read(text) for text in texts]
        sources = np.zeros((len(read), max((len(ids) for ids, _ in read), default=1)), int)
        for row, (ids, _) in zip(sources, read, strict=True):
            row[: len(ids)] = ids
        found = greedy(self.model, sources, bos_id=BEGIN, eos_id=END, max_len=self.longest[1] + MARGIN)
        translated = []
        for i, (ids, spans) in enumerate(read):
            written = found.ids[i, : found.lengths[i]].tolist()
            # All but the last, which is END or one too many. A model that has learned nothing may write BEGIN.
            rows = [t for t, number in enumerate(written[:-1]) if number >= len(SPECIAL)]
            target = [written[t] for t in rows]
            weights = found.cross_weights[i][:, :, [*rows, len(written) - 1], : len(ids)]
            text, target_spans = self.vocabulary.spelled(target)
            probability = math.exp(float(found.log_probability[i]) / len(written))
            ended = written[-1] == END
            confidence = math.exp(float(found.least_log_probability[i])) if ended else 0.0
            strange = strange_words(texts[i], ids[:-1], spans, self.doubt, self.vocabulary)
            unusual = against(texts[i], text, ids[:-1], spans, self.task, self.doubt, self.vocabulary)
            sure = self.doubt.sure(confidence, ids[:-1], target) and not strange and unusual is None
            answer = Translated(
                texts[i],
                text,
                ids[:-1],
                target,
                spans,
                target_spans,
                weights,
                probability,
                ended,
                confidence,
                sure,
                strange,
                unusual,
            )
            translated.append(answer)
        return translated

    def forced(self, source: str, target: str) -> Translated:
        """What the model looks at when this target is put before it, whatever it would have written itself."""
        ids, spans = self._read(source)
        written = self.vocabulary.encode(target)
        output = self.model(np.array(ids), np.array([BEGIN, *written.ids]))
        surprise = _surprise(output.logits, written.ids)
        probability, confidence = math.exp(-float(surprise.mean())), math.exp(-float(surprise.max()))
        return Translated(
            source,
            target,
            ids[:-1],
            written.ids,
            spans,
            written.spans,
            np.stack(output.cross_weights),
            probability,
            ended=True,
            confidence=confidence,
            sure=self.doubt.sure(confidence, ids[:-1], written.ids),
        )

    def attention(self, text: str) -> Attention:
        """All attention in the translation of a text: self, causal and cross."""
        (found,) = self.translate([text])
        output = self.model(np.array([*found.source_ids, END]), np.array([BEGIN, *found.target_ids]))
        encoder, decoder = np.stack(output.encoder_weights), np.stack(output.self_weights)
        cross = np.stack(output.cross_weights)
        source = labels_from_offsets(found.source, found.source_spans)
        target = labels_from_offsets(found.text, found.target_spans)
        begin, end = SPECIAL[BEGIN], SPECIAL[END]
        return Attention(encoder, decoder, cross, [*source, end], [begin, *target], [*target, end], found)

    def _read(self, text: str) -> tuple[list[int], list[Span]]:
        """The ids of a text, with END, and the spans of its pieces."""
        if not text.strip():
            raise RefusedError(words.EMPTY)
        pieces = self.longest[0] - 1
        most = 2 * pieces * (max(map(len, self.vocabulary.pieces)) + 1)  # even in twice as many there is no hope
        if len(text) > most:
            raise RefusedError(words.TOO_LONG.filled(count=len(text), what=words.CHARACTERS, most=pieces))
        if refusal := unspelled(text, self.vocabulary, self.task):
            raise RefusedError(refusal)
        ids, spans = self.vocabulary.encode(text)
        if len(ids) > pieces:
            raise RefusedError(words.TOO_LONG.filled(count=len(ids), what=words.PIECES, most=pieces))
        if refusal := unread(text, ids, spans, self.task, self.doubt):
            raise RefusedError(refusal)
        return [*ids, END], spans


def _surprise(logits: np.ndarray, target: list[int]) -> np.ndarray:
    """−log p of the target's pieces and of END: logits (n_t + 1, vocabulary) → (n_t + 1,)"""
    logits = logits.astype(np.float64)
    chosen = logits[np.arange(len(logits)), [*target, END]]
    surprise: np.ndarray = np.logaddexp.reduce(logits, axis=-1) - chosen
    return surprise
