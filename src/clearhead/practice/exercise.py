"""What an exercise is made of: the task, the judge, the mistakes that have a name, and the hints.

An exercise is data and plain functions. It knows nothing of files, processes or terminals, which are other files'
subjects; so one can be read from top to bottom as a lesson, and written without knowing how it is run.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from clearhead.languages import Said


class Call(NamedTuple):
    """The arguments that a learner's function is called with."""

    arguments: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = {}


class Section(NamedTuple):
    """A place in the notes: the number of the note, "01" to "08", and its heading as it stands in each language."""

    note: str
    heading: Said


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """A wrong answer that people give, and what to say to them.

    wrong       the answer with this one mistake in it, called as the right one is. Where an answer is a dict of named
                numbers, it gives the names it speaks of and no others.
    said        one to three sentences to the learner: what the output shows, what went wrong, what to change.
    explained   where in the notes, if not in the exercise's own section.
    """

    name: str
    wrong: Callable[..., Any]
    said: Said
    explained: Section | None = None


def mistake(en: str, ko: str, explained: Section | None = None) -> Callable[[Callable[..., Any]], Mistake]:
    """A wrong answer becomes a Mistake of its name, with what is said to the learner above it."""
    return lambda wrong: Mistake(name=wrong.__name__, wrong=wrong, said=Said(en, ko), explained=explained)


def variant_of(slip: Mistake) -> Callable[[Callable[..., Any]], Mistake]:
    """The same mistake in an answer that otherwise differs, so that its numbers do; what is said is the same."""
    return lambda wrong: dataclasses.replace(slip, name=wrong.__name__, wrong=wrong)


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """One function to write, and how an answer is judged.

    solution   the answer as a good programmer would write it; shown to the learner when it is time.
    judge      the definition, loop by loop or in another independent way: what is right.
    draw       arguments for given sizes, the last axis last: `draw(rng, sizes)`. Everything float is float64.
    sizes      the sizes to begin with, each different from the others, so that no mixed-up axis goes unseen. A
               counterexample is shrunk by making them smaller, down to `smallest` or 1.
    further    calls beyond those drawn: one score exactly 0, huge scores, a row without keys, a single word.
    outputs    the name of each output with the letters of its axes: {"weights": "b h n_q n_k"}; letters are names of
               sizes. One output is compared as it is, several as a tuple in this order.
    weights    which output holds attention weights, if one does, so that row sums and causality can be spoken of.
    examples   Python expressions shown in the learner's file beside what they give, worked out by the solution.
    stub       the code a learner finds, if it is more than an empty function.
    loops      False where the task asks for an answer without Python loops.
    tolerance  how far from the judge an answer may be, relative to the largest number of the output.
    ask        how a function is asked for its answer, where calling it is not enough: `ask(function, call)`. A mistake
               and the judge are asked in the same way.
    adapt      where a learner's function works with tensors, makes of it one that takes arrays as the judge and the
               mistakes do. So the grader never waits for torch to load; the types to expect are then the judge's.
    again      False where asking a second time, to see whether the answer is the same, takes too long.
    may_change the arguments that an answer may write into, by name: a cache, a buffer.
    """

    solution: Callable[..., Any]
    judge: Callable[..., Any]
    draw: Callable[[np.random.Generator, Mapping[str, int]], Call] = lambda rng, sizes: Call()
    sizes: Mapping[str, int] = field(default_factory=dict)
    smallest: Mapping[str, int] = field(default_factory=dict)
    further: Callable[[np.random.Generator], Iterable[Call]] = lambda rng: ()
    outputs: Mapping[str, str] = field(default_factory=dict)
    weights: str | None = None
    mistakes: tuple[Mistake, ...] = ()
    examples: tuple[str, ...] = ()
    stub: str | None = None
    loops: bool = True
    tolerance: float = 1e-8
    ask: Callable[[Callable[..., Any], Call], Any] | None = None
    adapt: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None
    again: bool = True
    may_change: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The function's name, in the learner's file too."""
        return str(self.solution.__name__)

    @property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.solution)

    def adapted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A learner's function as one that can be asked as ours are."""
        return function if self.adapt is None else self.adapt(function)

    def answer(self, function: Callable[..., Any], call: Call) -> Any:
        """What a function, the learner's as it is adapted or one of ours, answers to a call."""
        if self.ask is not None:
            return self.ask(function, call)
        return function(*call.arguments, **call.keywords)


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """A task with its judge, in the order of the notes.

    note      the number of the note it belongs to, "01" to "08".
    section   the heading of that note, as it stands there in each language, that explains what is asked.
    task      what to write, two to six sentences, with the shape contract in the last lines.
    parts     most exercises have one, named as the exercise is; several are checked one after the other.
    hints     three steps, the last of which nearly gives it away.
    imports   what the learner's file begins with.
    seconds   how long a check may take, imports aside.
    """

    name: str
    note: str
    section: Said
    title: Said
    task: Said
    parts: tuple[Part, ...]
    hints: tuple[Said, Said, Said]
    imports: str = "import numpy as np"
    seconds: float = 10.0

    @property
    def explained(self) -> Section:
        return Section(self.note, self.section)
