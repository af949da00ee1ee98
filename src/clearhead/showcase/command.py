"""`clearhead visualize`: a sentence, translated and drawn, as files in a folder and as one page."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from clearhead.languages import RefusedError, spoken
from clearhead.showcase import captions
from clearhead.showcase.captions import DESCRIPTION as DESCRIPTION
from clearhead.translate.command import asked_texts, mistake
from clearhead.translate.words import NO_MODEL, doubt

FORMATS = ("png", "svg", "pdf")
SENTENCE = "고양이 세 마리가 공원에서 물을 마셨다"
KNOWN = re.compile(r"[\w.-]+(/[\w.-]+)?")  # a model's name on a hub
MODEL_SENTENCE = "The cat that we fed sat on the mat because it was tired."
OTHERS = ("고양이가 쥐를 잡았다", "쥐를 고양이가 잡았다")  # to try next


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = captions.EXAMPLES(program=parser.prog)
    parser.set_defaults(prog=parser.prog)
    said = {name: text(sentence=SENTENCE) for name, text in captions.OPTIONS.items()}
    parser.add_argument("words", nargs="*", metavar="TEXT", help=said["words"])
    parser.add_argument("--text", help=said["text"])
    parser.add_argument("--out", type=Path, default=Path("attention"), metavar="DIR", help=said["out"])
    parser.add_argument("--format", choices=FORMATS, default="png", help=said["format"])
    parser.add_argument("--model", type=Path, metavar="FILE|DIR|NAME", help=said["model"])
    parser.add_argument("--no-browser", action="store_true", help=said["no_browser"])


def asked_text(options: argparse.Namespace) -> str:
    """The one text to look at."""
    if options.text is not None and options.words:
        raise mistake(captions.TWO_TEXTS)
    if options.text is not None:
        return str(options.text)
    default = SENTENCE if options.model is None or not names_a_model(options.model) else MODEL_SENTENCE
    texts = asked_texts(options.words) if options.words else [default]
    if len(texts) > 1:
        raise mistake(captions.SEVERAL_TEXTS.filled(count=len(texts)))
    return texts[0]


def names_a_model(model: Path) -> bool:
    """Whether this is a model of transformers: a folder, or a name that is no file here."""
    if model.exists():
        return model.is_dir()
    return model.suffix != ".safetensors" and KNOWN.fullmatch(str(model)) is not None


def run(options: argparse.Namespace) -> int:
    text = asked_text(options)
    if options.out.exists() and not options.out.is_dir():
        raise RefusedError(captions.A_FILE.filled(folder=options.out))
    if options.model is not None and names_a_model(options.model):
        return show_model(options, text)
    return show_translator(options, text)


def show_model(options: argparse.Namespace, text: str) -> int:
    """A page of a model of transformers on a text."""
    from clearhead.showcase.exploring import explore_model, open_page

    path, trace = explore_model(str(options.model), text, options.out, spoken())
    heads = sum(view.heads for view in trace)
    print(captions.MODEL_PAGE(path=path, layers=len(trace), heads=heads))
    if not options.no_browser and open_page(path):
        print(captions.OPENED())
    return 0


def show_translator(options: argparse.Namespace, text: str) -> int:
    """Draw everything first, then write it, so that a text that cannot be read leaves nothing behind."""
    from clearhead.figures.sheet import rendered
    from clearhead.files import write_whole
    from clearhead.showcase.exploring import explore_translation, open_page
    from clearhead.showcase.gallery import page
    from clearhead.showcase.pictures import pictures, read
    from clearhead.translate.translator import Translator

    folder: Path = options.out
    if options.model is not None and not options.model.exists():
        raise RefusedError(NO_MODEL.filled(path=options.model))
    language = spoken()
    subject = read(Translator.load(options.model), text)
    translated = subject.attention.translated
    drawn = pictures(subject, language)
    files = {picture.name: rendered(picture.figure, options.format) for picture in drawn}
    inside, shown = options.format, files
    if options.format == "pdf":  # which a browser does not show inside a page
        inside, shown = "png", {picture.name: rendered(picture.figure, "png") for picture in drawn}
    document = page(drawn, shown, translated, language=language, file_type=inside)
    folder.mkdir(parents=True, exist_ok=True)
    print(f"{translated.source} → {translated.text}")
    if not translated.sure:
        print(f"  {doubt(translated.strange, translated.unusual)()}")
    for picture in drawn:
        path = folder / f"{picture.name}.{options.format}"
        write_whole(path, files[picture.name])
        print(f"{path}: {picture.words.shows()}")
    write_whole(folder / "index.html", document.encode())
    print(f"{folder / 'index.html'}: {captions.ON_ONE_PAGE()}")
    explored = explore_translation(subject.attention, folder, language)
    print(f"{explored}: {captions.EXPLORE()}")
    if not options.no_browser and open_page(explored):
        print(captions.OPENED())
    others = (sentence for sentence in OTHERS if sentence != " ".join(text.split()))
    print(captions.ANOTHER(program=options.prog, sentence=next(others)))
    return 0
