"""A language small enough to be learned in seconds: seven words, said backwards and in other letters.

The target's order depends on the whole source, so nothing is learned without attention that finds its place.
"""

from __future__ import annotations

import functools

import numpy as np

from clearhead.translate.alignment import Reader
from clearhead.translate.batches import Corpus
from clearhead.translate.examples import Example, Line, Task, linked
from clearhead.translate.model import Shape
from clearhead.translate.training import Settings, Trainer, train
from clearhead.translate.translator import Translator
from clearhead.translate.vocabulary import Vocabulary

WORDS = ("ba", "ce", "di", "fo", "gu", "ha", "je")
NAMES = ("일", "이", "삼", "사", "오", "육", "칠")
SHAPE = Shape(d_model=32, num_heads=2, num_layers=1, num_decoder_layers=1, d_ff=64)
SETTINGS = Settings(steps=240, batch_size=64, learning_rate=1e-2, warm_up=40, look_every=60, held_out=61, patience=3)


def example(numbers) -> Example:
    source, target = Line(), Line()
    for place, number in enumerate(numbers):
        source.add(" " if place else "")
        source.add(WORDS[number], str(place))
    for place, number in reversed(list(enumerate(numbers))):
        target.add(" " if target.text else "")
        target.add(NAMES[number], str(place))
    return linked(source, target)


@functools.cache
def task() -> Task:
    rng = np.random.default_rng(7)
    drawn = {tuple(rng.integers(0, len(WORDS), rng.integers(2, 5)).tolist()): None for _ in range(3000)}
    examples = [example(numbers) for numbers in drawn]
    return Task("backwards", examples[:-200], examples[-200:], [*WORDS, *NAMES])


def vocabulary() -> Vocabulary:
    return Vocabulary(task().pieces)


def trainer(shape: Shape = SHAPE, settings: Settings = SETTINGS, **changes) -> Trainer:
    corpus = Corpus.encoded(task().train, vocabulary())
    watched = Corpus.encoded(task().test[:1], vocabulary())
    options = {"watched": (watched.sources[0], watched.targets[0])} | changes
    return Trainer("backwards", corpus, vocabulary(), shape, settings, **options)


@functools.cache
def trained() -> Trainer:
    """Trained once for all tests of a process; they only read it."""
    learner = trainer()
    assert train(learner)
    return learner


class At:
    """A watcher that does something at one step."""

    def __init__(self, step, action):
        self.step, self.action = step, action

    def stepped(self, trainer, loss):
        if trainer.step == self.step:
            self.action(trainer)

    def looked(self, trainer, moment):
        pass


@functools.cache
def translator() -> Translator:
    """The trained model in NumPy."""
    learner = trained()
    return Translator(learner.model.to_textbook(), vocabulary(), "backwards", learner.corpus.longest, Reader(0, None))
