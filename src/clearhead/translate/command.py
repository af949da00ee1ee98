"""`clearhead translate`: texts translated, what the model knows and how well, or a translator trained.

Help and mistakes of usage load nothing; what a command needs is loaded when it runs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from clearhead import advice
from clearhead.languages import RefusedError, Said
from clearhead.translate import words
from clearhead.translate.words import DESCRIPTION as DESCRIPTION

if TYPE_CHECKING:
    from clearhead.translate.translator import Translator

TASKS = ("dates", "sentences", "all")
FOLDER = Path("translator")
STANDARD_INPUT = "-"
MOST_COLUMNS = 60  # of a text that is named in a message
HANDWRITTEN = Path(__file__).with_name("handwritten.tsv")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = words.EXAMPLES(program=parser.prog)
    parser.set_defaults(prog=parser.prog)
    said = {name: text() for name, text in words.OPTIONS.items()}
    parser.add_argument("texts", nargs="*", metavar="TEXT", help=said["texts"])
    parser.add_argument("--task", choices=TASKS, help=said["task"])
    parser.add_argument("--figure", type=Path, metavar="FILE", help=said["figure"])

    asking = parser.add_argument_group(words.TRANSLATING())
    asking.add_argument("--model", type=Path, metavar="FILE", help=said["model"])
    asking.add_argument("--plain", action="store_true", help=said["plain"])
    asking.add_argument("--layer", type=number, metavar="N", help=said["layer"])
    asking.add_argument("--head", type=number, metavar="N", help=said["head"])

    knowing = parser.add_argument_group(words.KNOWING())
    knowing.add_argument("--words", action="store_true", help=said["words"])
    knowing.add_argument("--score", type=Path, metavar="FILE", nargs="?", const=HANDWRITTEN, help=said["score"])
    knowing.add_argument("--list", action="store_true", help=said["list"])

    training = parser.add_argument_group(words.TRAINING())
    training.add_argument("--train", action="store_true", help=said["train"])
    training.add_argument("--pairs", type=Path, metavar="FILE", help=said["pairs"])
    training.add_argument("--swap", action="store_true", help=said["swap"])
    training.add_argument("--out", type=Path, metavar="FILE", help=said["out"])
    training.add_argument("--resume", action="store_true", help=said["resume"])
    training.add_argument("--overwrite", action="store_true", help=said["overwrite"])
    training.add_argument("--half", action="store_true", help=said["half"])
    training.add_argument("--seed", type=number, default=0, metavar="N", help=said["seed"])
    training.add_argument("--steps", type=positive, metavar="N", help=said["steps"])
    training.add_argument("--film", type=Path, metavar="FILE", help=said["film"])


def number(text: str, least: int = 0) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(words.NOT_A_NUMBER(least=least, text=text))
    return int(text)


def positive(text: str) -> int:
    return number(text, least=1)


def run(options: argparse.Namespace) -> int:
    """Train if that is asked for, or tell what is known, else translate."""
    training = "pairs", "swap", "out", "resume", "overwrite", "half", "steps", "film"
    translating = "texts", "task", "figure", "plain", "layer", "head"
    if options.train:
        refuse(options, "--train", "texts", "model", "plain", "layer", "head", "words", "score", "list")
        if options.pairs is not None:
            refuse(options, "--pairs", "task")
        elif options.swap:
            raise mistake(words.NEEDS.filled(given="--swap", with_="--pairs"))
        elif options.task is None:
            refuse(options, words.TRAIN_ALONE(), "figure", "film", advice="--task")
        return train(options)
    if options.words:
        refuse(options, "--words", *translating, *training, "score", "list")
        return known(options)
    if options.score is not None:
        refuse(options, "--score", *translating, *training)
        return scored(options)
    refuse(options, words.TRANSLATING(), *training, advice="--train")
    refuse(options, words.TRANSLATING(), "list", advice="--score")
    texts = asked_texts(options.texts)
    if options.head is not None and options.layer is None:
        raise mistake(words.NEEDS_LAYER.filled(head=options.head))
    if options.figure is not None and len(texts) > 1:
        raise mistake(words.ONE_FIGURE.filled(count=len(texts)))
    return translate(options, texts)


def mistake(said: Said) -> argparse.ArgumentError:
    """Options that do not go together."""
    return argparse.ArgumentError(None, said())


def refuse(options: argparse.Namespace, what: str, *names: str, advice: str | None = None) -> None:
    """Options that mean nothing here are not ignored."""
    for name in names:
        value = getattr(options, name)
        if not (value is None or value is False or value == []):  # layer 0 is a layer
            given = "TEXT" if name == "texts" else f"--{name}"
            said = words.GOES_WITH if advice else words.REFUSED
            raise mistake(said.filled(given=given, what=what, advice=advice))


def asked_texts(arguments: list[str]) -> list[str]:
    """The texts that the arguments stand for: one together if none of them has a space in it, else each its own.

    Beside texts with spaces, a word is one of its own if it is a date or ends as a sentence does; otherwise somebody
    has put half a sentence in quotes. A lone - stands for the lines of standard input that are not empty.
    """
    if arguments == [STANDARD_INPUT]:
        lines = [line.strip() for line in sys.stdin if line.strip()]
        if not lines:
            raise RefusedError(words.NOTHING_TO_READ)
        return lines
    if not arguments:
        raise mistake(words.NOTHING_TO_DO)
    if any(letter.isspace() for argument in arguments for letter in argument):
        for argument in arguments:
            whole = argument.endswith((".", "!", "?")) or any(map(str.isdecimal, argument))
            if argument and not whole and not any(map(str.isspace, argument)):
                raise mistake(words.HALF_QUOTED.filled(word=argument))
        return arguments
    return [" ".join(arguments)]


def load(options: argparse.Namespace) -> Translator:
    """The model that is asked for."""
    from clearhead.translate.translator import Translator

    if options.model is not None and not options.model.exists():
        raise RefusedError(words.NO_MODEL.filled(path=options.model))
    translator = Translator.load(options.model)
    if translator.task != "all" and options.task not in (None, translator.task):
        raise RefusedError(
            words.OTHER_TASK.filled(
                model=options.model or words.SHIPPED_MODEL, known=translator.task, task=options.task
            )
        )
    return translator


def translate(options: argparse.Namespace, texts: list[str]) -> int:
    """Print each translation, and below it where its words come from; a refused text does not end the others."""
    from clearhead.text.clusters import shorten
    from clearhead.translate import report
    from clearhead.translate.alignment import Reader
    from clearhead.translate.answers import answers

    translator = load(options)
    check_head(options, translator)
    reader = translator.reader if options.layer is None else Reader(options.layer, options.head)
    save = None
    if options.figure is not None:
        from clearhead.figures.sheet import checked_path

        save = checked_path(options.figure)
    status = 0
    for text, found in answers(translator, texts):
        which = f"{shorten(text, MOST_COLUMNS)}: " if len(texts) > 1 else ""
        if isinstance(found, RefusedError):
            status = 1
            print(f"{options.prog}: {which}{found.said()}", file=sys.stderr)
            if options.plain and which:
                print()  # the lines of the others stay in their places
            continue
        print(found.text)
        if options.plain and not found.sure:
            print(f"{options.prog}: {which}{words.doubt(found.strange, found.unusual)()}", file=sys.stderr)
        if not options.plain:
            print(f"  {report.alignment_line(found, reader)}")
            if not found.sure:
                print(f"  {words.doubt(found.strange, found.unusual)()}")
        if save is not None:
            from clearhead.translate import film

            if options.layer is None:
                film.heads(found, save=save)
            else:
                film.one(found, reader, save=save)
            print(words.WRITTEN(path=options.figure))
    return status


def check_head(options: argparse.Namespace, translator: Translator) -> None:
    """A layer and a head that the model has."""
    model = translator.model
    for name, count in (("layer", model.num_decoder_layers), ("head", model.num_heads)):
        asked = getattr(options, name)
        if asked is not None and not 0 <= asked < count:
            raise RefusedError(words.NO_SUCH_PART.filled(name=name, last=count - 1, count=count, asked=asked))


def known(options: argparse.Namespace) -> int:
    """Print what the model knows."""
    from clearhead.translate.listing import listed

    for line in listed(load(options)):
        print(line)
    return 0


def scored(options: argparse.Namespace) -> int:
    """Print how well the model does on a list."""
    from clearhead.translate.score import read_list, score, score_lines

    for line in score_lines(score(load(options), read_list(options.score)), every=options.list):
        print(line)
    return 0


def train(options: argparse.Namespace) -> int:
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError:
        raise RefusedError(words.NEEDS_EXTRA.filled(install=advice.install("translate"))) from None
    from clearhead.translate import session

    task = "pairs" if options.pairs is not None else options.task
    order = session.Order(
        task=task or "all",
        out=options.out or Path(f"{task}.safetensors"),
        pairs=options.pairs,
        swap=options.swap,
        resume=options.resume,
        overwrite=options.overwrite,
        half=options.half,
        seed=options.seed,
        steps=options.steps,
        figure=options.figure,
        films=() if options.film is None else (options.film,),
    )
    return session.run_all(options.out or FOLDER, order) if task is None else session.run(order)
