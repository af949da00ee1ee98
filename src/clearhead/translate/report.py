"""What is said about a trained translator: how much of the unseen it gets right, and where its words come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from clearhead.translate import words
from clearhead.translate.alignment import GIVEN, MEAN, WRITTEN, Reader, Score, looks, measure
from clearhead.translate.examples import Example
from clearhead.translate.translator import Translated, Translator

APART = 10.0  # points of BLEU between training and held-out pairs from which on a model is said to memorise
SENTENCES_TO_CHOOSE_BY = 300


class Verdict(NamedTuple):
    """How a translator does on examples it has never seen."""

    total: int
    exact: float
    wrong: list[tuple[Example, Translated]]
    scores: list[Score]  # of every head and mean, the best first; none without gold links

    def score_of(self, reader: Reader) -> Score | None:
        return next((score for score in self.scores if score.reader == reader), None)


def judge(translator: Translator, examples: Sequence[Example], reading: str = WRITTEN) -> Verdict:
    """Translate all of them freely, and compare attention with the gold links.

    Attention is read with the right target before the model, so that every link can be judged.
    """
    translated = translator.translate([example.source for example in examples])
    wrong = [(example, t) for example, t in zip(examples, translated, strict=True) if t.text != example.target]
    return Verdict(
        len(examples), 1 - len(wrong) / len(examples), wrong, alignment_scores(translator, examples, reading)
    )


def alignment_scores(translator: Translator, examples: Iterable[Example], reading: str = WRITTEN) -> list[Score]:
    """Every head and mean against the gold links of these examples, the best first."""
    linked = [example for example in examples if example.links]
    return measure((translator.forced(e.source, e.target).aligned(reading), e.links) for e in linked)


def best_reader(translator: Translator, examples: Sequence[Example]) -> Reader:
    """Whose attention agrees best with the gold links of a few training examples; what is unseen has no say in it."""
    scores = alignment_scores(translator, examples[:SENTENCES_TO_CHOOSE_BY])
    return scores[0].reader if scores else MEAN


def percent(share: float) -> str:
    """A share for people: 99.8 %. Only what is whole is called 100 %."""
    rounded = f"{100 * share:.1f}"
    if rounded == "100.0":
        return "100 %" if share >= 1 else "99.9 %"
    return f"{rounded} %"


def verdict_lines(translator: Translator, name: str, verdict: Verdict) -> Iterator[str]:
    """Exact match and alignment, in words."""
    task = words.task_name(name)
    yield words.EXACT(name=task, exact=percent(verdict.exact), total=verdict.total)
    chosen = verdict.score_of(translator.reader)
    if chosen is None:
        return
    yield words.ALIGNED(
        name=task,
        accuracy=percent(chosen.accuracy),
        total=chosen.total,
        errors=percent(chosen.error_rate),
        reader=words.reader_name(chosen.reader),
    )
    head = next(score for score in verdict.scores if score.reader.head is not None)
    if head.reader != chosen.reader:
        yield words.BEST_HEAD(name=task, reader=words.reader_name(head.reader), accuracy=percent(head.accuracy))


def reading_line(translator: Translator, examples: Sequence[Example]) -> str:
    """The two ways to read the rows, side by side on some of the examples."""
    found = {}
    for reading in (WRITTEN, GIVEN):
        scores = alignment_scores(translator, examples[:SENTENCES_TO_CHOOSE_BY], reading)
        found[reading] = max(score.accuracy for score in scores)
    return words.READINGS(written=percent(found[WRITTEN]), given=percent(found[GIVEN]))


def alignment_line(translated: Translated, reader: Reader) -> str:
    """Each word of a translation, the source word it looked at most, and how much."""
    aligned = translated.aligned()
    entries = []
    for (start, stop), look in zip(aligned.target_words, looks(aligned.between_words(reader)), strict=True):
        word = translated.text[start:stop]
        if len(word) == 1 and not word.isalnum():
            continue  # nobody asks where a full stop comes from
        there = words.NO_WORD() if look.word is None else translated.source[slice(*aligned.source_words[look.word])]
        entries.append(f"{word} ← {there} {100 * look.weight:.0f} %")
    return " · ".join(entries)


class Quality(NamedTuple):
    """BLEU and chrF of a set of pairs, by sacrebleu."""

    pairs: int
    bleu: float
    chrf: float


def quality(written: Sequence[str], examples: Sequence[Example]) -> Quality:
    """Translations against the one reference each of them has."""
    import sacrebleu

    references = [[example.target for example in examples]]
    bleu, chrf = (f(list(written), references).score for f in (sacrebleu.corpus_bleu, sacrebleu.corpus_chrf))
    return Quality(len(examples), bleu, chrf)


def quality_lines(held_out: Quality, training: Quality) -> Iterator[str]:
    """Both beside each other, and what it means when they part."""
    for name, found in ((words.HELD_OUT, held_out), (words.TRAINED_ON, training)):
        yield words.QUALITY(name=name, **found._asdict())
    apart = training.bleu - held_out.bleu
    if apart > APART:
        yield words.MEMORISES(apart=apart)
