"""A training from its first to its last line: data, model, bar, checkpoint, verdict, files.

Nothing is written over without being asked to, and everything that could stop it is looked at before it begins.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from rich.console import Console

from clearhead.advice import program
from clearhead.languages import RefusedError
from clearhead.translate import report, words
from clearhead.translate.answers import answers
from clearhead.translate.batches import Corpus, source_ids
from clearhead.translate.checkpoint import checked_place
from clearhead.translate.doubt import Answer, Doubt, forms, meanings, threshold
from clearhead.translate.examples import Example, Task, together
from clearhead.translate.model import write
from clearhead.translate.odd import odd_texts
from clearhead.translate.pairs import read_pairs, split
from clearhead.translate.progress import Bar
from clearhead.translate.recipes import RECIPES, Goals, make_tasks
from clearhead.translate.report import percent
from clearhead.translate.training import Trainer, train
from clearhead.translate.translator import SHIPPED_BY, Translated, Translator
from clearhead.translate.vocabulary import Vocabulary, learn

INTERRUPTED = 130
PAIRS_VOCABULARY = 4000  # pieces, if the characters leave room for so few
SHARE_FOR_TEST, MOST_TEST_PAIRS, SHARE_HELD_OUT = 0.1, 1000, 0.05
SKIPPED_LINES_SHOWN = 5
EXAMPLES_SHOWN = 4
MOST_LINKS_FILMED = 5
SENTENCES_FOR_MEANINGS = 40_000
ODD_SHARE = 4  # of the texts that doubt is calibrated on, one odd one for so many others


@dataclass(frozen=True)
class Order:
    """What is asked for."""

    task: str  # one of recipes.TASKS, or pairs
    out: Path
    pairs: Path | None = None
    swap: bool = False
    resume: bool = False
    overwrite: bool = False
    half: bool = False
    seed: int = 0
    steps: int | None = None
    figure: Path | None = None
    films: tuple[Path, ...] = ()

    @property
    def checkpoint(self) -> Path:
        """Where the training is kept until it is finished."""
        return self.out.with_name(f"{self.out.stem}.checkpoint.safetensors")


def run(order: Order) -> int:
    """Train, judge, and write the translator; returns the exit status."""
    check_places(order)
    tasks = make_tasks(order.task) if order.pairs is None else [pairs_task(order)]
    trainer = prepared(order, tasks)
    with Bar(trainer, Console(stderr=True, soft_wrap=True)) as bar:
        finished = train(trainer, path=order.checkpoint, watcher=bar)
    if not finished:
        stopped = words.STOPPED(step=trainer.step, path=order.checkpoint)
        print(f"{program()} translate: {stopped}", file=sys.stderr)
        return INTERRUPTED
    translator = finished_translator(order, trainer, tasks)
    translator.save(order.out, np.float16 if order.half else np.float32)
    order.checkpoint.unlink(missing_ok=True)
    translator = Translator.load(order.out)  # what is judged is what is in the file
    for line in summary(order, trainer, translator, tasks):
        print(line, flush=True)
    draw(order, trainer, translator, tasks)
    text = shlex.quote(filmed_example(tasks).source)
    print(words.TRY(command=f"{program()} translate {text} --model {shlex.quote(str(order.out))}"))
    return 0


def run_all(folder: Path, order: Order) -> int:
    """Dates and then sentences, a model of each, with every picture there is, in a folder that is made if need be.

    With `resume`, what is finished is left as it is, and what was not begun is begun.
    """
    if folder.exists() and not folder.is_dir():
        raise RefusedError(words.FILE_FOR_FOLDER.filled(folder=folder))
    folder.mkdir(parents=True, exist_ok=True)
    orders = []
    for task in ("dates", "sentences"):
        films = folder / f"{task}-learning.gif", folder / f"{task}-learning.png"
        out, figure = folder / f"{task}.safetensors", folder / f"{task}-heads.png"
        made = replace(order, task=task, out=out, figure=figure, films=films)
        if order.resume and made.out.exists() and not made.checkpoint.exists():
            print(words.FINISHED_BEFORE(task=words.task_name(task), path=made.out))
            continue
        orders.append(replace(made, resume=order.resume and made.checkpoint.exists()))
    for made in orders:
        check_places(made)
    status = next(filter(None, map(run, orders)), 0)
    if not status:
        print(words.KNOWS_BOTH(command=SHIPPED_BY))
    return status


def check_places(order: Order) -> None:
    """Every file that will be written can be, and none is lost that nobody spoke of."""
    checked_place(order.out)
    if order.films:
        from clearhead.translate.film import checked_film

        for path in order.films:
            checked_film(path)
    if order.figure is not None:
        from clearhead.figures.sheet import checked_path

        checked_path(order.figure)
    if order.out.exists() and not order.overwrite:
        raise RefusedError(words.EXISTS.filled(path=order.out))
    if order.checkpoint.exists() and not (order.resume or order.overwrite):
        raise RefusedError(words.UNFINISHED.filled(path=order.checkpoint))


def pairs_task(order: Order) -> Task:
    """The pairs of a file, parted into training and test; what was left out is said."""
    assert order.pairs is not None
    pairs = read_pairs(order.pairs, swap=order.swap)
    for skipped in pairs.skipped[:SKIPPED_LINES_SHOWN]:
        print(words.SKIPPED(path=order.pairs, line=skipped.line, reason=skipped.reason), file=sys.stderr)
    if len(pairs.skipped) > SKIPPED_LINES_SHOWN:
        print(words.MORE_SKIPPED(count=len(pairs.skipped) - SKIPPED_LINES_SHOWN), file=sys.stderr)
    share = min(SHARE_FOR_TEST, MOST_TEST_PAIRS / len(pairs.examples))
    task = split(pairs, share, order.seed)
    texts = [text for example in task.train for text in (example.source, example.target)]
    try:
        vocabulary = learn(texts, PAIRS_VOCABULARY)
    except ValueError:  # more characters than that: every one of them, and as much again for pieces
        letters = len(set("".join(texts)))
        vocabulary = learn(texts, PAIRS_VOCABULARY + 4 * letters)
    return replace(task, pieces=list(vocabulary.pieces))


def prepared(order: Order, tasks: Sequence[Task]) -> Trainer:
    """A trainer at its beginning, or where it was stopped."""
    task = tasks[0] if len(tasks) == 1 else together(order.task, list(tasks))
    recipe = RECIPES[task.name]
    vocabulary = Vocabulary(task.pieces)
    settings = replace(recipe.settings, seed=order.seed)
    settings = settings if order.steps is None else replace(settings, steps=order.steps)
    if task.name == "pairs":
        held_out = max(1, min(settings.held_out, int(len(task.train) * SHARE_HELD_OUT)))
        settings = replace(settings, held_out=held_out)
    corpus = Corpus.encoded(task.train, vocabulary)
    filmed = Corpus.encoded([filmed_example(tasks)], vocabulary)
    watched = filmed.sources[0], filmed.targets[0]
    trainer = Trainer(task.name, corpus, vocabulary, recipe.shape, settings, watched)
    if order.resume:
        trainer.resume(order.checkpoint)
    return trainer


def filmed_example(tasks: Sequence[Task]) -> Example:
    """The example that is filmed: much to align, few signs, short. Unseen, but for pairs, where it must be spelled."""
    task = tasks[-1]
    examples = task.test[:100] if task.test[0].links else task.train[:100]

    def rank(example: Example) -> tuple[int, int, int]:
        letters = example.source + example.target
        signs = sum(not letter.isalnum() for letter in letters.replace(" ", ""))
        return -min(len(example.links), MOST_LINKS_FILMED), signs, len(letters)

    return min(examples, key=rank)


def finished_translator(order: Order, trainer: Trainer, tasks: Sequence[Task]) -> Translator:
    """The best weights in NumPy, with the reader that its training examples speak for."""
    from clearhead.tensors import to_torch

    trainer.model.load_state_dict({name: to_torch(array) for name, array in trainer.best.items()})
    record = {
        "seed": trainer.settings.seed,
        "steps": trainer.step,
        "parameters": sum(p.numel() for p in trainer.model.parameters()),
        "made by": "clearhead translate --train " + ("--pairs" if order.pairs else f"--task {trainer.task}"),
    }
    translator = Translator(
        trainer.model.to_textbook(), trainer.vocabulary, trainer.task, trainer.corpus.longest, record=record
    )
    some = [example for task in tasks for example in task.train[: report.SENTENCES_TO_CHOOSE_BY // len(tasks)]]
    translator = replace(translator, reader=report.best_reader(translator, some))
    return translator if order.pairs is not None else doubtful(translator, tasks, trainer.corpus.sources)


def doubtful(translator: Translator, tasks: Sequence[Task], sources: Sequence[Sequence[int]]) -> Translator:
    """The translator with its doubt calibrated on the second half of what is unseen, and on odd texts.

    What it promises is kept on the unseen alone, and on both together. The first half is left to judge it by.
    """
    learned = [example for task in tasks for example in task.train[:SENTENCES_FOR_MEANINGS]]
    vocabulary = translator.vocabulary
    doubt = Doubt(meanings=meanings(learned, vocabulary), forms=forms(sources, vocabulary))
    unseen = [example for task in tasks for example in task.test[len(task.test) // 2 :]]
    odd = odd_texts(unseen, vocabulary, len(unseen) // ODD_SHARE)
    targets = [*(example.target for example in unseen), *(one.target for one in odd)]
    asked = answers(translator, [*(example.source for example in unseen), *(one.text for one in odd)])
    judged = []
    for (_, found), target in zip(asked, targets, strict=True):
        if isinstance(found, Translated):  # and not a refusal, as of a day that there is none of
            spoilt = doubt.lost(found.source_ids, found.target_ids) or doubt.strange(found.source_ids, vocabulary)
            judged.append(Answer(found.confidence, bool(spoilt), found.text == target))
    least = max(threshold(judged), threshold(judged[: len(unseen)]))
    return replace(translator, doubt=doubt._replace(threshold=least))


def summary(order: Order, trainer: Trainer, translator: Translator, tasks: Sequence[Task]) -> list[str]:
    """What is printed at the end."""
    lines = [
        words.TRAINED(
            task=words.task_name(trainer.task),
            parameters=translator.model.num_parameters,
            steps=trainer.step,
            seconds=trainer.seconds,
            load=words.LOAD.filled(load=os.getloadavg()[0]) if hasattr(os, "getloadavg") else "",
            processor=trainer.processor,
        )
    ]
    if order.pairs is not None:
        lines += pairs_lines(trainer, tasks[0])
    for task in tasks if order.pairs is None else []:
        verdict = report.judge(translator, task.test)
        lines += report.verdict_lines(translator, task.name, verdict)
        lines += goal_lines(RECIPES[trainer.task].goals, verdict, translator, trainer.seconds)
        wrong = verdict.wrong[:EXAMPLES_SHOWN]
        lines += [f"  {words.WRONG(source=e.source, text=t.text, expected=e.target)}" for e, t in wrong]
    if order.pairs is None:
        lines.append(report.reading_line(translator, [example for task in tasks for example in task.test]))
    lines.append(words.UNSEEN())
    for task in tasks:
        for translated in readable(translator, task.test):
            lines += [
                f"  {translated.source} → {translated.text}",
                f"    {report.alignment_line(translated, translator.reader)}",
            ]
    return [*lines, words.WRITTEN(path=order.out)]


def readable(translator: Translator, examples: Sequence[Example]) -> list[Translated]:
    """The first few examples that the vocabulary can spell, translated."""
    known = [e.source for e in examples if not translator.vocabulary.unknown(e.source)]
    known = [text for text in known if len(translator.vocabulary.encode(text).ids) < translator.longest[0]]
    return translator.translate(known[:EXAMPLES_SHOWN])


def goal_lines(goals: Goals | None, verdict: report.Verdict, translator: Translator, seconds: float) -> list[str]:
    """The goals of a recipe, each met or missed."""
    if goals is None:
        return []
    score = verdict.score_of(translator.reader)
    judged = [
        (words.GOALS["exact"](goal=percent(goals.exact)), verdict.exact >= goals.exact),
        (words.GOALS["aligned"](goal=percent(goals.aligned)), score is not None and score.accuracy >= goals.aligned),
        (words.GOALS["seconds"](goal=goals.seconds), seconds <= goals.seconds),
    ]
    told = ", ".join(f"{goal} {words.MET() if met else words.MISSED()}" for goal, met in judged)
    return [words.GOALS["all"](goals=told)]


def pairs_lines(trainer: Trainer, task: Task) -> list[str]:
    """BLEU and chrF of held-out pairs and of as many training pairs. A source that cannot be read counts as silence."""
    vocabulary = trainer.vocabulary
    found = []
    lost = 0
    for examples in (task.test, task.train[: len(task.test)]):
        known = [i for i, example in enumerate(examples) if not vocabulary.unknown(example.source)]
        lost += len(examples) - len(known)
        written = write(
            trainer.model, [source_ids(examples[i].source, vocabulary) for i in known], max_len=trainer.max_len
        )
        texts = dict(zip(known, map(vocabulary.decode, written), strict=True))
        found.append(report.quality([texts.get(i, "") for i in range(len(examples))], examples))
    lines = list(report.quality_lines(*found))
    if lost:
        lines.append(words.SILENCE(count=lost))
    return lines


def draw(order: Order, trainer: Trainer, translator: Translator, tasks: Sequence[Task]) -> None:
    """The figures that were asked for."""
    if order.figure is None and not order.films:
        return
    from clearhead.translate import film

    filmed = filmed_example(tasks)
    if order.figure is not None:
        film.heads(translator.translate([filmed.source])[0], save=order.figure)
        print(words.WRITTEN(path=order.figure))
    for path in order.films:
        watched = translator.forced(filmed.source, filmed.target)
        looks = {moment.step: moment.exact for moment in trainer.moments}
        film.strip(watched, trainer.film, looks, translator.reader, save=path)
        print(words.WRITTEN(path=path))
