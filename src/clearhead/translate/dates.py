"""Dates between Korean, English and French, written as CLDR says they are: the smallest real translation.

Every field moves: 2028년 12월 7일 목요일 is Thursday, December 7, 2028, with the year last and the weekday first, so
attention has to find each of them. Which characters are the year is known without guessing: a text is written by
walking its CLDR pattern field by field, and babel writes each field.

Korean goes to English, English to Korean, French to English. A source says everything its target says, and no text
has two translations: that is why French 7 mars 2028, which is long and medium at once, always becomes March 7, 2028.
"""

from __future__ import annotations

import datetime
import functools
import random
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from clearhead import checks
from clearhead.text.spans import CONTINUES
from clearhead.translate.examples import Example, Line, Task, linked

if TYPE_CHECKING:
    from babel import Locale

FIRST, LAST = datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)


class Format(NamedTuple):
    """A language and the way a date is written in it: a CLDR length (full), skeleton (yMMMEd) or pattern (y-MM-dd)."""

    locale: str
    style: str


class Route(NamedTuple):
    """How dates written in one way are translated."""

    source: Format
    target: Format


# A weekday is translated to one of the same length, a number of the month to a number or a name. Patterns are spelled
# out where people write what CLDR has no name for.
ROUTES = tuple(
    Route(Format(source, style), Format(target, target_style))
    for source, target, styles in (
        (
            "ko",
            "en",
            {
                "full": "full",  # 2028년 12월 7일 목요일 → Thursday, December 7, 2028
                "long": "long",  # 2028년 12월 7일 → December 7, 2028
                "medium": "medium",  # 2028. 12. 7. → Dec 7, 2028
                "short": "short",  # 28. 12. 7. → 12/7/28
                "yMMMEd": "yMMMEd",  # 2028년 12월 7일 (목) → Thu, Dec 7, 2028
                "yMEd": "yMEd",  # 2028. 12. 7. (목) → Thu, 12/7/2028
                "yMEEEEd": "EEEE, M/d/y",  # 2028. 12. 7. 목요일 → Thursday, 12/7/2028
                "y년 M월 d일(E)": "yMMMEd",
                "y년M월d일": "long",
                "y.MM.dd": "medium",
                "y.MM.dd.(E)": "yMEd",
                "y-MM-dd": "long",
                "MMMMd": "MMMMd",  # 12월 7일 → December 7
                "MMMEEEEd": "EEEE, MMMM d",  # 12월 7일 목요일 → Thursday, December 7
                "MMMEd": "MMMEd",  # 12월 7일 (목) → Thu, Dec 7
            },
        ),
        (
            "en",
            "ko",
            {
                "full": "full",
                "long": "long",
                "medium": "long",
                "short": "short",
                "yMMMEd": "yMMMEd",
                "yMd": "yMd",
                "yMEd": "yMEd",
                "EEEE, M/d/y": "yMEEEEd",
                "MMMMd": "MMMMd",
                "MMMd": "MMMMd",
                "EEEE, MMMM d": "MMMEEEEd",
                "MMMEd": "MMMEd",
            },
        ),
        ("en_GB", "ko", {"full": "full", "long": "long", "medium": "long", "yMMMEd": "yMMMEd", "MMMMd": "MMMMd"}),
        ("fr", "en", {"full": "full", "long": "long", "medium": "long", "yMMMEd": "yMMMEd", "MMMMd": "MMMMd"}),
    )
    for style, target_style in styles.items()
)

# One name for each field, however it is spelled: EEEE and ccc are both the weekday.
FIELDS = {"y": "year", "M": "month", "L": "month", "d": "day", "E": "weekday", "c": "weekday"}


def dates(count_train: int = 20_000, count_test: int = 1_000, seed: int = 0) -> Task:
    """Dates from 1900 to 2099, each written in one of the ways of ROUTES.

    No date of the test is in training in any form: neither December 7, 2028, nor, as 28. 12. 7. may be of either
    century, December 7, 1928. Where the test says December 7 without a year, training has that day of no year.
    """
    count_train = checks.count("count_train", count_train)
    count_test = checks.count("count_test", count_test)
    generator = random.Random(seed)
    days = [FIRST + datetime.timedelta(number) for number in range((LAST - FIRST).days + 1)]
    generator.shuffle(days)
    anniversaries = {_of_the_year(day) for day in days[:30]}
    held_out = {_of_a_century(day) for day in days[: len(days) // 20]}
    test = [day for day in days if _of_the_year(day) in anniversaries or _of_a_century(day) in held_out]
    train = sorted(set(days) - set(test))
    yearless = [day for day in test if _of_the_year(day) in anniversaries]
    return Task(
        "dates",
        _drawn(generator, count_train, train, train),
        _drawn(generator, count_test, test, yearless),
        date_pieces(),
    )


def _of_the_year(day: datetime.date) -> tuple[int, int]:
    return day.month, day.day


def _of_a_century(day: datetime.date) -> tuple[int, int, int]:
    return day.year % 100, day.month, day.day


def _drawn(
    generator: random.Random, count: int, days: list[datetime.date], yearless: list[datetime.date]
) -> list[Example]:
    """`count` different texts of these days, and of `yearless` ones where the year is not said."""
    most = len(days) * len(ROUTES) // 2
    if count > most:
        raise ValueError(
            f"{count} dates are too many: there are {len(days)} different days for them, written in {len(ROUTES)} "
            f"ways; ask for {most} at most"
        )
    weights = [_weight(route) for route in ROUTES]
    examples: dict[str, Example] = {}
    while len(examples) < count:
        [route] = generator.choices(ROUTES, weights)
        day = generator.choice(days if "y" in pattern(route.source) else yearless)
        example = translation(day, route)
        examples[example.source] = example
    return list(examples.values())


def _weight(route: Route) -> int:
    """How often a way is drawn: two-digit years more, as no other way begins with 86, those without a year less."""
    return 4 if route.source.style == "short" else 2 if "y" in pattern(route.source) else 1


def translation(day: datetime.date, route: Route) -> Example:
    """This day as the route's source and target write it, year linked to year, month to month, and so on."""
    return linked(written(day, route.source), written(day, route.target))


def written(day: datetime.date, way: Format) -> Line:
    """The date as text, with the places of year, month, day and weekday."""
    locale = _locale(way.locale)
    from babel.dates import DateTimeFormat

    fields = DateTimeFormat(day, locale)
    line = Line()
    for kind, token in _tokens(way):
        if kind == "field":
            letter, width = token
            line.add(fields[letter * width], FIELDS[letter])
        else:
            line.add(token)
    return line


def pattern(way: Format) -> str:
    """The CLDR pattern behind a format, for instance EEEE, MMMM d, y."""
    locale = _locale(way.locale)
    if way.style in locale.date_formats:
        return str(locale.date_formats[way.style].pattern)
    if way.style in locale.datetime_skeletons:
        return str(locale.datetime_skeletons[way.style].pattern)
    return way.style


@functools.cache
def _tokens(way: Format) -> tuple[tuple[str, Any], ...]:
    """The pattern taken apart: ("field", (letter, width)) and ("chars", text)."""
    text = pattern(way)
    from babel.dates import tokenize_pattern

    return tuple(tokenize_pattern(text))


@functools.cache
def _locale(name: str) -> Locale:
    try:
        from babel import Locale
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "dates are written by babel, which is not installed: pip install 'clearhead[translate]'"
        ) from error

    return Locale.parse(name)


def date_pieces() -> list[str]:
    """What dates are spelled with: numbers of up to two digits, names of months and weekdays, and what lies between.

    2028 is 20 and ##28, so a year is put together from halves that all occur in training.
    """
    every_day = [datetime.date(2028, 1, 1) + datetime.timedelta(number) for number in range(366)]
    every_year = [datetime.date(year, 1, 1) for year in range(FIRST.year, LAST.year + 1)]
    ways = {way for route in ROUTES for way in route}
    texts = {written(day, way).text for way in ways for day in every_day + every_year}
    pieces: set[str] = set()
    for word in {word for text in texts for word in text.split()}:
        first, *rest = re.findall(r"[0-9]{1,2}|[^\W\d_]+|.", word)
        pieces.update([first, *(CONTINUES + part for part in rest)])
    return sorted(pieces)
