"""Days and times of day that there are none of: 2월 30일, 2023-02-29, 오후 25시."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator

from clearhead.languages import Said
from clearhead.translate import words

LEAP_YEAR = 2028  # stands for the year where none is given
MONTHS = {name[:3].lower(): number for number, name in enumerate(calendar.month_name) if name}
NAMED = "|".join(name for name in calendar.month_name if name)
ABBREVIATED = "|".join(f"{name}\\b" for name in calendar.month_abbr if name)
DATES = [
    re.compile(pattern)
    for pattern in (
        r"(?:(?P<year>\d{2,4})년 ?)?(?P<month>\d{1,2})월 ?(?P<day>\d{1,2})일",
        r"(?<!\d)(?P<year>\d{4})(?P<mark>[-/.]) ?(?P<month>\d{1,2})(?P=mark) ?(?P<day>\d{1,2})(?!\d)",
        r"(?<!\d)(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?!\d)",
        r"(?<![\d/])(?P<month>\d{1,2})/(?P<day>\d{1,2})(?![\d/])",
        rf"(?P<name>{NAMED}|{ABBREVIATED}) (?P<day>\d{{1,2}})(?!\d)(?:, (?P<year>\d{{4}}))?",
        rf"(?<!\d)(?P<day>\d{{1,2}}) (?P<name>{NAMED}|{ABBREVIATED})(?: (?P<year>\d{{4}}))?",
    )
]
TIME = re.compile(
    r"(?:(?P<half>오전|오후) ?)?(?<!\d)(?P<hour>\d{1,2})(?:시(?: ?(?P<minute>\d{1,2})분)?|:(?P<colon>\d{2})(?!\d))"
)


def impossible(text: str) -> Said | None:
    """Why a day or a time of day in a text does not exist; None if all of them do."""
    return next((said for said in (*_days(text), *_times(text)) if said is not None), None)


def _days(text: str) -> Iterator[Said | None]:
    for pattern in DATES:
        for match in pattern.finditer(text):
            found = match.groupdict()
            month = MONTHS[found["name"][:3].lower()] if found.get("name") else int(found["month"])
            yield _day(match.group(), found.get("year"), month, int(found["day"]))


def _day(text: str, year: str | None, month: int, day: int) -> Said | None:
    if not 1 <= month <= 12:
        return words.NO_SUCH_MONTH.filled(text=text)
    # Of two digits only the leap year can be told, and it is the same in the last century and in this one.
    days = calendar.monthrange(int(year) if year else LEAP_YEAR, month)[1]
    if 1 <= day <= days:
        return None
    of_the_year = Said(calendar.month_name[month], f"{month}월")
    if year:
        of_the_year = Said(f"{calendar.month_name[month]} {year}", f"{year}년 {month}월")
    return words.NO_SUCH_DAY.filled(text=text, month=of_the_year, days=days)


def _times(text: str) -> Iterator[Said | None]:
    for match in TIME.finditer(text):
        last = 12 if match["half"] else 24
        minute = int(match["minute"] or match["colon"] or 0)
        if int(match["hour"]) > last or minute > 59:
            yield words.NO_SUCH_TIME.filled(text=match.group(), hours=last)
