"""What clearhead says to people, in each of its languages: which one is spoken, and a text in both.

The command line, figures and pages speak Korean or English; exceptions are English, so that they can be searched for.
A room keeps its texts in one table of its own, each a `Said`, so that none can be there in one language alone.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextvars import ContextVar
from typing import NamedTuple

LANGUAGES = ("en", "ko")
VARIABLE = "CLEARHEAD_LANG"
LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first that is set counts, as POSIX has it


class Said(NamedTuple):
    """One text in every language, with places in braces to put values in."""

    en: str
    ko: str

    def __call__(self, language: str | None = None, **values: object) -> str:
        """The text in a language, by default the one that is spoken, with values put in."""
        said = self.filled(**values) if values else self
        return said[LANGUAGES.index(spoken(language))]

    def filled(self, **values: object) -> Said:
        """The text with values put in; one that is itself said in every language is put in as it is said there."""

        def fill(text: str, language: int) -> str:
            return text.format(**{k: v[language] if isinstance(v, Said) else v for k, v in values.items()})

        return Said(*(fill(text, language) for language, text in enumerate(self)))


class RefusedError(ValueError):
    """A ValueError for people at a command line: English like all exceptions, and `said` in every language."""

    def __init__(self, said: Said) -> None:
        super().__init__(said.en)
        self.said = said

    def __reduce__(self) -> tuple[type[RefusedError], tuple[Said]]:
        return type(self), (self.said,)


class NotThereError(RefusedError, FileNotFoundError):
    """A file or folder that is not there, said in every language."""


_now: ContextVar[str | None] = ContextVar("clearhead's language", default=None)


def spoken(language: str | None = None) -> str:
    """The language asked for, else the one that is being spoken, else that of CLEARHEAD_LANG, else of the locale.

    Raises:
        ValueError: `language` or CLEARHEAD_LANG names one that clearhead does not speak.
    """
    if language is not None:
        return _known("language", language)
    if now := _now.get():
        return now
    if chosen := os.environ.get(VARIABLE):
        return _known(VARIABLE, chosen)
    return spoken_by_locale()


def spoken_by_locale() -> str:
    """Korean in a Korean locale, else English."""
    locale = next((value for name in LOCALE if (value := os.environ.get(name))), "")
    return "ko" if locale.partition("_")[0].partition(".")[0] == "ko" else "en"


@contextlib.contextmanager
def speaking(language: str | None) -> Iterator[str]:
    """Speak a language for a while, wherever none is asked for: in all rooms, but in no other thread or task.

    None goes on with the one that is spoken.
    """
    before = _now.set(spoken(language))
    try:
        yield spoken()
    finally:
        _now.reset(before)


def _known(name: str, language: str) -> str:
    if language in LANGUAGES:
        return language
    from clearhead import checks  # which loads NumPy: help, which is in a language too, does not wait for it

    return checks.choice(name, language, LANGUAGES)
