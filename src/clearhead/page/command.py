"""Draw what a trained translator looks at: self-attention, causal attention, head by head, and cross-attention.

A sentence is read and translated by the model that comes with clearhead, or by one of yours. The figures go into a
folder, with a page, index.html, to look through them; nothing is opened.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from clearhead.page.captions import LANGUAGES, ON_ONE_PAGE, in_language

FORMATS = ("png", "svg", "pdf")
SENTENCE = "고양이 세 마리가 공원에서 물을 마셨다"
EXAMPLES = """\
examples:
  clearhead visualize
  clearhead visualize --text "2028년 12월 7일 목요일" --format svg
  clearhead visualize --language ko --out 그림
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("--text", default=SENTENCE, help=f"what to translate and look at (default: {SENTENCE})")
    parser.add_argument("--out", type=Path, default=Path("attention"), metavar="DIR", help="default: attention/")
    parser.add_argument("--format", choices=FORMATS, default="png", help="of the figures (default: png)")
    parser.add_argument("--language", choices=LANGUAGES, default="en", help="of titles and captions (default: en)")
    parser.add_argument("--model", type=Path, metavar="FILE", help="a trained translator (default: clearhead's own)")


def run(options: argparse.Namespace) -> int:
    """Draw everything first, then write it, so that a text that cannot be read leaves nothing behind."""
    from clearhead.figures.sheet import rendered
    from clearhead.files import write_whole
    from clearhead.page.gallery import page
    from clearhead.page.showcase import pictures, read
    from clearhead.translate.translator import Translator

    folder: Path = options.out
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"--out {folder} is a file; name a folder, which is made if it is not there")
    translator = Translator.load(options.model)
    subject = read(translator, options.text)
    drawn = pictures(subject, options.language)
    files = {picture.name: rendered(picture.figure, options.format) for picture in drawn}
    inside, shown = options.format, files
    if options.format == "pdf":  # which a browser does not show inside a page
        inside, shown = "png", {picture.name: rendered(picture.figure, "png") for picture in drawn}
    source, target = subject.attention.translated.source, subject.attention.translated.text
    document = page(drawn, shown, source, target, language=options.language, file_type=inside)
    folder.mkdir(parents=True, exist_ok=True)
    print(f"{source} → {target}")
    for picture in drawn:
        path = folder / f"{picture.name}.{options.format}"
        write_whole(path, files[picture.name])
        print(f"{path}: {in_language(picture.words.shows, options.language)}")
    write_whole(folder / "index.html", document.encode())
    print(f"{folder / 'index.html'}: {in_language(ON_ONE_PAGE, options.language)}")
    return 0
