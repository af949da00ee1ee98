"""What each task is trained with, and what it should reach: sizes, steps, rates and goals.

The figures were found by trying, on two cores; `make translate` prints what they come to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from clearhead import checks
from clearhead.translate.command import HANDWRITTEN
from clearhead.translate.examples import Task
from clearhead.translate.model import Shape
from clearhead.translate.score import plain, read_list
from clearhead.translate.training import Settings

TASKS = ("dates", "sentences", "all")


@dataclass(frozen=True)
class Goals:
    """Shares of unseen texts and of content words, and seconds of training."""

    exact: float
    aligned: float
    seconds: int


@dataclass(frozen=True)
class Recipe:
    """A model's shape, how it is trained, and what it should reach, where that is known beforehand."""

    shape: Shape
    settings: Settings
    goals: Goals | None = None


RECIPES = {
    "dates": Recipe(Shape(), Settings(steps=900, batch_size=64, learning_rate=3e-3), Goals(0.95, 0.95, 60)),
    "sentences": Recipe(Shape(), Settings(steps=1200, batch_size=64, learning_rate=3e-3), Goals(0.8, 0.95, 60)),
    # What comes with clearhead. One encoder layer keeps what a word says in its place, three decoder layers find it.
    "all": Recipe(
        Shape(d_model=128, num_decoder_layers=3, d_ff=512),
        Settings(
            steps=10000,
            batch_size=128,
            learning_rate=2e-3,
            warm_up=400,
            smoothing=0.02,  # little: every sentence has one right answer, and doubt is read off the probabilities
            look_every=500,
            patience=20,
            held_out=512,
        ),
    ),
    # Few pairs and many words: dropout, since there is more to remember than to understand.
    "pairs": Recipe(
        Shape(d_model=128, num_layers=3, d_ff=384, dropout=0.2),
        Settings(steps=4000, batch_size=64, learning_rate=1e-3, warm_up=400, look_every=200, patience=8),
    ),
}


def make_tasks(name: str) -> list[Task]:
    """The data of a task, or of all. They are always the same: a seed changes weights and order, not what is asked.

    The model of all learns from more: from every kind of sentence, where that of sentences learns simple ones.
    """
    from clearhead.translate.dates import dates
    from clearhead.translate.sentences import sentences

    if checks.choice("task", name, TASKS) == "all":
        return [without_handwritten(task) for task in (dates(35_000), sentences(400_000))]
    return [without_handwritten(dates() if name == "dates" else sentences(only_simple=True))]


def without_handwritten(task: Task) -> Task:
    """The task without what judges every model: should one of those sentences be drawn, it is not trained on."""
    judges = {plain(line.source) for line in read_list(HANDWRITTEN)}
    return replace(task, train=[example for example in task.train if plain(example.source) not in judges])
