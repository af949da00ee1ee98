"""`clearhead visualize`: a sentence, translated and drawn, as files in a folder and as one page."""

from __future__ import annotations

import argparse
from pathlib import Path

from clearhead.languages import RefusedError, spoken
from clearhead.showcase import captions
from clearhead.showcase.captions import DESCRIPTION as DESCRIPTION
from clearhead.translate.command import asked_texts, mistake
from clearhead.translate.words import NO_MODEL, doubt

FORMATS = ("png", "svg", "pdf")
SENTENCE = "고양이 세 마리가 공원에서 물을 마셨다"
OTHERS = ("고양이가 쥐를 잡았다", "쥐를 고양이가 잡았다")  # to try next


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = captions.EXAMPLES(program=parser.prog)
    parser.set_defaults(prog=parser.prog)
    said = {name: text(sentence=SENTENCE) for name, text in captions.OPTIONS.items()}
    parser.add_argument("words", nargs="*", metavar="TEXT", help=said["words"])
    parser.add_argument("--text", help=said["text"])
    parser.add_argument("--out", type=Path, default=Path("attention"), metavar="DIR", help=said["out"])
    parser.add_argument("--format", choices=FORMATS, default="png", help=said["format"])
    parser.add_argument("--model", type=Path, metavar="FILE", help=said["model"])


def asked_text(options: argparse.Namespace) -> str:
    """The one text to look at."""
    if options.text is not None and options.words:
        raise mistake(captions.TWO_TEXTS)
    if options.text is not None:
        return str(options.text)
    texts = asked_texts(options.words) if options.words else [SENTENCE]
    if len(texts) > 1:
        raise mistake(captions.SEVERAL_TEXTS.filled(count=len(texts)))
    return texts[0]


def run(options: argparse.Namespace) -> int:
    """Draw everything first, then write it, so that a text that cannot be read leaves nothing behind."""
    text = asked_text(options)
    from clearhead.figures.sheet import rendered
    from clearhead.files import write_whole
    from clearhead.showcase.gallery import page
    from clearhead.showcase.pictures import pictures, read
    from clearhead.translate.translator import Translator

    folder: Path = options.out
    if folder.exists() and not folder.is_dir():
        raise RefusedError(captions.A_FILE.filled(folder=folder))
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
    others = (sentence for sentence in OTHERS if sentence != " ".join(text.split()))
    print(captions.ANOTHER(program=options.prog, sentence=next(others)))
    return 0
