"""Translate Korean sentences and dates, and see which word came from which; or train a translator of your own.

The model that comes with clearhead knows the words of two small worlds, everyday sentences (Korean to English) and
dates (Korean, English, French), and says so when it is asked for another word. It needs nothing but NumPy.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clearhead.translate.translator import Translator

TASKS = ("dates", "sentences", "all")
FOLDER = Path("translator")
DOUBTFUL = 0.75  # a mean probability of a piece below this is guessing; with smoothing 0.1 a sure one has 0.9
EXAMPLES = """\
examples:
  clearhead translate "고양이가 쥐를 잡았다"
  clearhead translate "2028년 12월 7일 목요일" --figure dates.png
  clearhead translate "고양이가 쥐를 잡았다" --figure head.svg --layer 1 --head 2
  clearhead translate --train
  clearhead translate --train --task dates --out dates.safetensors --film learning.gif
  clearhead translate --train --task dates --out dates.safetensors --resume
  clearhead translate "December 7, 2028" --model dates.safetensors
  clearhead translate --train --pairs kor.tsv --swap --out mine.safetensors
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("texts", nargs="*", metavar="TEXT", help="a sentence or a date to translate")
    parser.add_argument("--task", choices=TASKS, help="what to learn, or what the model must know")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="draw cross-attention: .png, .svg or .pdf")

    asking = parser.add_argument_group("translating")
    asking.add_argument("--model", type=Path, metavar="FILE", help="a trained translator (default: clearhead's own)")
    asking.add_argument("--plain", action="store_true", help="print translations only, not where words come from")
    asking.add_argument("--layer", type=int, metavar="N", help="draw and read this layer, counted from 0")
    asking.add_argument("--head", type=int, metavar="N", help="and of it this head, counted from 0")

    training = parser.add_argument_group("training")
    training.add_argument(
        "--train", action="store_true",
        help="train a translator and judge it by unseen texts; without --task one of dates and one of sentences, with "
        "pictures of both, into a folder",
    )  # fmt: skip
    training.add_argument("--pairs", type=Path, metavar="FILE", help="learn from lines of: source, tab, target")
    training.add_argument("--swap", action="store_true", help="with --pairs: the second column is the source")
    training.add_argument(
        "--out", type=Path, metavar="FILE",
        help="where to write it (default: TASK.safetensors, or without --task the folder translator/)",
    )  # fmt: skip
    training.add_argument("--resume", action="store_true", help="go on with a training that was stopped or killed")
    training.add_argument("--overwrite", action="store_true", help="replace what is at --out, or begin anew")
    training.add_argument("--half", action="store_true", help="write float16, half the size")
    training.add_argument("--seed", type=number, default=0, metavar="N", help="of weights and order (default: 0)")
    training.add_argument("--steps", type=positive, metavar="N", help="at most so many (default: enough for the task)")
    training.add_argument("--film", type=Path, metavar="FILE", help="how attention changed: .gif, .png, .svg or .pdf")


def number(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 0, got {text!r}")
    return int(text)


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Train if that is asked for, else translate."""
    if options.train:
        refuse(options, "--train", "texts", "model", "plain", "layer", "head")
        if options.pairs is not None:
            refuse(options, "--pairs", "task")
        elif options.swap:
            raise argparse.ArgumentError(None, "--swap goes with --pairs")
        elif options.task is None:
            refuse(options, "--train alone, which draws everything", "figure", "film", advice="--task")
        return train(options)
    refuse(
        options, "translating", "pairs", "swap", "out", "resume", "overwrite", "half", "steps", "film", advice="--train"
    )
    if not options.texts:
        raise argparse.ArgumentError(
            None, 'nothing to do: give a text in quotes, "고양이가 쥐를 잡았다", or --train to train a translator'
        )
    if options.head is not None and options.layer is None:
        raise argparse.ArgumentError(None, f"--head {options.head} needs --layer: which layer's head is meant?")
    if options.figure is not None and len(options.texts) > 1:
        raise argparse.ArgumentError(None, f"--figure draws one text, got {len(options.texts)}; ask for one at a time")
    return translate(options)


def refuse(options: argparse.Namespace, what: str, *names: str, advice: str | None = None) -> None:
    """Options that mean nothing here are not ignored."""
    for name in names:
        value = getattr(options, name)
        if not (value is None or value is False or value == []):  # layer 0 is a layer
            given = "TEXT" if name == "texts" else f"--{name}"
            hint = f"it goes with {advice}" if advice else "leave out one of the two"
            raise argparse.ArgumentError(None, f"{given} cannot be used with {what}; {hint}")


def translate(options: argparse.Namespace) -> int:
    """Print each translation, and below it where its words come from."""
    from clearhead.translate import report
    from clearhead.translate.alignment import Reader
    from clearhead.translate.translator import Translator

    translator = Translator.load(options.model)
    if translator.task != "all" and options.task not in (None, translator.task):
        raise ValueError(
            f"{options.model or 'the model that comes with clearhead'} was trained on {translator.task}, not on "
            f"{options.task}; leave --task out, or name a model of that task with --model"
        )
    check_head(options, translator)
    reader = translator.reader if options.layer is None else Reader(options.layer, options.head)
    save = None
    if options.figure is not None:
        from clearhead.figures.sheet import checked_path

        save = checked_path(options.figure)
    for translated in translator.translate(options.texts):
        print(translated.text)
        if not options.plain:
            print(f"  {report.alignment_line(translated, reader)}")
            if not translated.ended or translated.probability < DOUBTFUL:
                print("  it is not sure of this: the words are known, but not in such a sentence")
    if save is not None:
        from clearhead.translate import film

        if options.layer is None:
            film.heads(translated, save=save)
        else:
            film.one(translated, reader, save=save)
        print(f"written: {options.figure}")
    return 0


def check_head(options: argparse.Namespace, translator: Translator) -> None:
    """A layer and a head that the model has."""
    model = translator.model
    for name, count in (("layer", model.num_decoder_layers), ("head", model.num_heads)):
        asked = getattr(options, name)
        if asked is not None and not 0 <= asked < count:
            raise ValueError(f"--{name} must be in [0, {count - 1}] for a decoder of {count} {name}s, got {asked}")


def train(options: argparse.Namespace) -> int:
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError:
        raise ModuleNotFoundError("training needs PyTorch and more: pip install 'clearhead[translate]'") from None
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
