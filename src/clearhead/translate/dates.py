"""Dates between Korean, English and French, written as CLDR says they are: the smallest real translation.

Every field moves: 2028년 12월 7일 목요일 is Thursday, December 7, 2028, with the year last and the weekday first, so
attention has to find each of them. Which characters are the year is known without guessing: a text is written by
walking its CLDR pattern field by field, and babel writes each field.

Korean goes to English, English to Korean, French to English. A source says everything its target says, and no text
has two translations: that is why French 7 mars 2028, which is long and medium at once, always becomes March 7, 2028.

Years are those from 1000 to 2999. A year of two digits stays one where the translation has a short form too: 28. 12. 7.
is 12/7/28. Where it has none, as in 24년 3월 5일, the year is taken to lie from 1950 to 2049: March 5, 2024. A time of
day is AM or PM only if the source says so.
"""

from __future__ import annotations

import datetime
import functools
import itertools
import random
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from clearhead import checks
from clearhead.advice import install
from clearhead.text.spans import CONTINUES
from clearhead.translate.examples import Example, Line, Task, linked

if TYPE_CHECKING:
    from babel import Locale

FIRST, LAST = datetime.datetime(1000, 1, 1), datetime.datetime(2999, 12, 31)
MINUTES = (LAST - FIRST).days * 24 * 60
MOST = 1_000_000
PIVOT = 50  # a year of two digits from here on is of the twentieth century, one before of the twenty-first


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
                "y년 MM월 dd일": "long",
                "yy년 M월 d일": "long",  # 28년 12월 7일 → December 7, 2028
                "yy년 M월 d일 EEEE": "full",
                "yy년 M월": "MMMM y",
                "y년 M월": "MMMM y",
                "y년": "y",
                "y.MM.dd": "medium",
                "y.MM.dd.": "medium",
                "y.M.d": "medium",
                "y.M.d.": "medium",
                "y.MM.dd.(E)": "yMEd",
                "y-MM-dd": "long",
                "y-M-d": "long",
                "y/MM/dd": "long",
                "y/M/d": "long",
                "yMMdd": "long",  # 20281207
                "yyMMdd": "long",  # 281207
                "M/d": "MMMMd",
                "MM/dd": "MMMMd",
                "M.d": "MMMMd",
                "M. d.": "MMMMd",
                "M월d일": "MMMMd",
                "M월 d일(E)": "MMMEd",
                "aaaa h시": "h a",  # 오전 9시 → 9 AM
                "aaaa h시 m분": "h:mm a",
                "aaaa h:mm": "h:mm a",
                "H시": "H:00",
                "H시 m분": "H:mm",
                "M월 d일 aaaa h시": "MMMM d, h a",
                "M월 d일 aaaa h시 m분": "MMMM d, h:mm a",
                "y년 M월 d일 aaaa h시": "MMMM d, y, h a",
                "y년 M월 d일 aaaa h시 m분": "MMMM d, y, h:mm a",
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
FIELDS |= {"a": "half of the day", "h": "hour", "H": "hour", "m": "minute"}


class Days:
    """The days of the test, none of which is in training in any form.

    Neither December 7, 2028, nor, as 28. 12. 7. may be of any century, December 7, 1928. Where the test says December 7
    without a year, training has that day of no year; and so with months of a year, and with minutes of a day.
    """

    def __init__(self, generator: random.Random) -> None:
        year = [datetime.date(2028, 1, 1) + datetime.timedelta(number) for number in range(366)]
        self._anniversaries = {(day.month, day.day) for day in generator.sample(year, 30)}
        days = itertools.product(range(100), ((day.month, day.day) for day in year))
        self._days = {day for day in days if generator.random() < 0.05}
        self._months = {month for month in itertools.product(range(100), range(1, 13)) if generator.random() < 0.05}
        self._minutes = {time for time in itertools.product(range(24), range(60)) if generator.random() < 0.05}

    def unseen(self, moment: datetime.datetime, way: Format) -> bool:
        """Whether what `way` writes of this moment is for the test."""
        said = fields(way)
        date, of_the_year = (moment.year % 100, (moment.month, moment.day)), (moment.month, moment.day)
        if "day" in said:
            return of_the_year in self._anniversaries or ("year" in said and date in self._days)
        if "month" in said:
            return (moment.year % 100, moment.month) in self._months
        return "minute" in said and (moment.hour, moment.minute) in self._minutes


def dates(count_train: int = 20_000, count_test: int = 1_000, seed: int = 0) -> Task:
    """Dates of all years and times of day, each written in one of the ways of ROUTES; `Days` says what is unseen."""
    count_train = checks.count("count_train", count_train)
    count_test = checks.count("count_test", count_test)
    generator = random.Random(seed)
    days = Days(generator)
    test, train = (
        _drawn(generator, count, days, unseen=unseen) for count, unseen in ((count_test, True), (count_train, False))
    )
    return Task("dates", train, test, date_pieces())


def _drawn(generator: random.Random, count: int, days: Days, *, unseen: bool) -> list[Example]:
    """`count` different texts, all of days that are unseen, or of others."""
    if count > MOST:
        raise ValueError(f"{count} dates are too many: ask for {MOST} or fewer")
    weights = [_weight(route) for route in ROUTES]
    examples: dict[str, Example] = {}
    while len(examples) < count:
        [route] = generator.choices(ROUTES, weights)
        moment = FIRST + datetime.timedelta(minutes=generator.randrange(MINUTES))
        if generator.random() < 0.5:  # what people write about most
            moment = moment.replace(year=1900 + moment.year % 200, day=min(moment.day, 28))
        if days.unseen(moment, route.source) == unseen:
            example = translation(moment, route)
            examples.setdefault(example.source, example)
    return list(examples.values())


def _weight(route: Route) -> int:
    """How often a way is drawn: two-digit years more, as no other way begins with 86, those with few texts less."""
    said = fields(route.source)
    if "year" not in said or "day" not in said:
        return 1
    return 4 if route.source.style in ("short", "yyMMdd") else 3 if "yy년" in route.source.style else 2


def translation(moment: datetime.datetime, route: Route) -> Example:
    """This moment as the route's source and target write it, year linked to year, month to month, and so on."""
    digits = [_digits_of_the_year(way) for way in route]
    if digits[0] == 2 != digits[1]:
        short = moment.year % 100
        moment = moment.replace(year=short + (1900 if short >= PIVOT else 2000))
    return linked(written(moment, route.source), written(moment, route.target))


def _digits_of_the_year(way: Format) -> int:
    return next((width for kind, (letter, width) in _fields(way) if letter == "y"), 0)


def fields(way: Format) -> set[str]:
    """What a way of writing says: year, month, day …"""
    return {FIELDS[letter] for _, (letter, _) in _fields(way)}


def _fields(way: Format) -> list[tuple[str, Any]]:
    return [(kind, token) for kind, token in _tokens(way) if kind == "field"]


def written(moment: datetime.datetime, way: Format) -> Line:
    """The date as text, with the places of year, month, day and weekday, and of the parts of the time."""
    locale = _locale(way.locale)
    from babel.dates import DateTimeFormat

    values = DateTimeFormat(moment, locale)
    line = Line()
    for kind, token in _tokens(way):
        if kind == "field":
            letter, width = token
            line.add(values[letter * width], FIELDS[letter])
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
            f"dates are written by babel, which is not installed: {install('translate')}"
        ) from error

    return Locale.parse(name)


def date_pieces() -> list[str]:
    """What dates are spelled with: numbers of up to two digits, names of months and weekdays, and what lies between.

    2028 is 20 and ##28, so a year is put together from halves that all occur in training.
    """
    moments = [datetime.datetime(2028, month, day, 12 * (day % 2)) for month in range(1, 13) for day in range(1, 8)]
    texts = {written(moment, way).text for route in ROUTES for way in route for moment in moments}
    numbers = {f"{number:0{width}}" for number in range(100) for width in (1, 2)}
    pieces = numbers | {CONTINUES + number for number in numbers}
    for word in {word for text in texts for word in text.split()}:
        first, *rest = re.findall(r"[0-9]{1,2}|[^\W\d_]+|.", word)
        pieces.update([first, *(CONTINUES + part for part in rest)])
    return sorted(pieces)
