"""What clearhead says to people, in each of its languages: which one is spoken, and a text in both.

The command line, figures and pages speak Korean or English; exceptions are English, so that they can be searched for.
A room keeps its texts in one table of its own, each a `Said`, so that none can be there in one language alone.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from clearhead import checks

LANGUAGES = ("en", "ko")
VARIABLE = "CLEARHEAD_LANG"
LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first that is set counts, as POSIX has it


class Said(NamedTuple):
    """One text in every language, with places in braces to put values in."""

    en: str
    ko: str

    def __call__(self, language: str | None = None, **values: object) -> str:
        """The text in a language, by default the one that is spoken, with values put in."""
        text = self[LANGUAGES.index(spoken(language))]
        return text.format(**values) if values else text


def spoken(language: str | None = None) -> str:
    """The language asked for, else that of CLEARHEAD_LANG, else that of the locale, else English.

    Raises:
        ValueError: `language` or CLEARHEAD_LANG names one that clearhead does not speak.
    """
    if language is not None:
        return checks.choice("language", language, LANGUAGES)
    if chosen := os.environ.get(VARIABLE):
        return checks.choice(VARIABLE, chosen, LANGUAGES)
    locale = next((value for name in LOCALE if (value := os.environ.get(name))), "")
    return "ko" if locale.partition("_")[0].partition(".")[0] == "ko" else "en"
