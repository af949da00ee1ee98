"""How commands are parsed and explained: argparse, made to speak two languages and to count in columns."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NoReturn

from clearhead.cli.words import ARGPARSE, LANGUAGE, MISUSED
from clearhead.languages import LANGUAGES

OPTION, SHORT = "--language", "--lang"
USAGE = 2  # the exit status that says a command was not used as it is to be


def asked_language(arguments: Sequence[str]) -> str | None:
    """The language that --language asks for, known before anything else can be said; None if it asks for none."""
    asked = None
    for argument, following in itertools.pairwise([*arguments, ""]):
        if argument == "--":
            break
        name, _, value = argument.partition("=")
        if name in (OPTION, SHORT):
            value = value or following
            asked = value if value in LANGUAGES else asked
    return asked


def without_language(arguments: Sequence[str]) -> list[str]:
    """The arguments from the command on, if the language was asked for before it."""
    rest = list(arguments)
    while rest and rest[0].partition("=")[0] in (OPTION, SHORT) and asked_language(rest[:2]) is not None:
        rest = rest[1 if "=" in rest[0] else 2 :]
    return rest


class Parser(argparse.ArgumentParser):
    """A parser that answers a mistake with what is wrong, and leaves the usage to --help."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, MISUSED(program=self.prog, message=message))


def make_parser(prog: str, **options: str) -> argparse.ArgumentParser:
    """A parser with --help and --language, which takes no abbreviations."""
    parser = Parser(prog=prog, formatter_class=Formatter, allow_abbrev=False, **options)  # type: ignore[arg-type]
    parser.add_argument(OPTION, SHORT, choices=LANGUAGES, help=LANGUAGE())
    return parser


@contextlib.contextmanager
def argparse_speaking(language: str) -> Iterator[None]:
    """Have argparse say its own words in a language; it asks two functions of its module for them."""
    table = {said.en: said(language) for said in ARGPARSE}
    one, several = argparse._, argparse.ngettext  # type: ignore[attr-defined]
    argparse._ = lambda text: table.get(text, text)  # type: ignore[attr-defined]
    argparse.ngettext = lambda single, plural, n: argparse._(single if n == 1 else plural)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        argparse._, argparse.ngettext = one, several  # type: ignore[attr-defined]


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Help in lines that fit the terminal, where a syllable of Hangul takes two columns."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrapped(text, width)


def wrapped(text: str, width: int) -> list[str]:
    """A text in lines of at most so many columns, if its words allow it."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".lstrip()
        if columns(longer) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def columns(text: str) -> int:
    """How many columns of a terminal a text of ours takes. What takes any text, clearhead.text, loads NumPy."""
    return sum(
        0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in "WF") for letter in text
    )
