"""Days and times of day that there are none of, as 2월 30일 or 오후 25시, and dates written in ways nobody taught.

A model that is shown 12월 alone, or 12-07-2028, makes some date of it all the same. So what looks like a date has to be
written in one of the ways of `dates`, which are spelled out here once more: they come from babel there, and a
translation needs no babel.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator

from clearhead.languages import Said
from clearhead.translate import words
from clearhead.translate.vocabulary import shortened

LEAP_YEAR = 2028  # stands for the year where none is given

_ENGLISH = [*enumerate(calendar.month_name), *enumerate(calendar.month_abbr), (9, "Sept")]
_FRENCH = (
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
)
MONTHS = {name: number for number, name in _ENGLISH if name}
FRENCH_MONTHS = {name: number for names in _FRENCH for number, name in enumerate(names.split(), start=1)}

DAYS_OF_THE_WEEK = {
    "ko": "[일월화수목금토](?:요일)?",
    "en": "|".join(name for name in (*calendar.day_name, *calendar.day_abbr)),
    "fr": r"(?:lun|mar|jeu)(?:di|\.)|mer(?:credi|\.)|ven(?:dredi|\.)|sam(?:edi|\.)|dim(?:anche|\.)",
}


def _any(names: dict[str, int]) -> str:
    """One of these names, the longest that there is."""
    return f"(?:{'|'.join(re.escape(name) for name in sorted(names, key=len, reverse=True))})(?![^\\W\\d])"


# The parts of a date. Years are those of training, 1000 to 2999.
YEAR, SHORT, EITHER = r"(?P<year>[12]\d{3})", r"(?P<year>\d\d)", r"(?P<year>[12]\d{3}|\d\d)"
MONTH, DAY = r"(?P<month>\d{1,2})", r"(?P<day>\d{1,2})"
NAME, FRENCH = f"(?P<name>{_any(MONTHS)})", f"(?P<name>{_any(FRENCH_MONTHS)})"
MONTH_FIRST = r"(?P<month>0?[1-9]|1[0-2])/(?P<day>\d{1,2})"  # 25/12/2026 has its day first, which is not taught
OF_THE_DAY = r"\d{1,2}시(?: ?\d{1,2}분)?"
HALF_OF_THE_DAY = rf"(?:오전|오후) ?(?:{OF_THE_DAY}|\d{{1,2}}:\d\d)"
IN_BRACKETS = r"(?: ?\([일월화수목금토]\)| [일월화수목금토]요일)?"
EN, FR = f"(?:(?:{DAYS_OF_THE_WEEK['en']}),? )?", f"(?:(?:{DAYS_OF_THE_WEEK['fr']}) )?"

# Whole dates, in the ways of training.
TAUGHT = [
    re.compile(pattern)
    for pattern in (
        f"(?:{EITHER}년 ?)?{MONTH}월 ?{DAY}일(?:{IN_BRACKETS}| {HALF_OF_THE_DAY})",
        f"{EITHER}년(?: ?{MONTH}월)?",
        rf"{YEAR}(?P<mark>[-/]){MONTH}(?P=mark){DAY}",
        rf"{YEAR}\. ?{MONTH}\. ?{DAY}\.?{IN_BRACKETS}",
        rf"{SHORT}\. {MONTH}\. {DAY}\.",
        rf"{EITHER}(?P<month>\d\d)(?P<day>\d\d)",
        f"{MONTH}/{DAY}",
        rf"{MONTH}\. ?{DAY}\.?",
        f"{EN}{MONTH_FIRST}/{EITHER}",
        f"{EN}{NAME} {DAY}(?:, {YEAR})?",
        f"{EN}{DAY} {NAME}(?: {YEAR})?",
        f"{FR}{DAY} {FRENCH}(?: {YEAR})?",
        OF_THE_DAY,
        HALF_OF_THE_DAY,
    )
]

# Days that are found in any text.
DATES = [
    re.compile(pattern)
    for pattern in (
        f"(?:(?P<year>\\d{{2,4}})년 ?)?{MONTH}월 ?{DAY}일",
        rf"(?<!\d)(?P<year>\d{{4}})(?P<mark>[-/.]) ?{MONTH}(?P=mark) ?{DAY}(?!\d)",
        r"(?<!\d)(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?!\d)",
        rf"(?<![\d/]){MONTH}/{DAY}(?![\d/])",
        rf"{NAME} {DAY}(?!\d)(?:, (?P<year>\d{{4}}))?",
        rf"(?<!\d){DAY} {NAME}(?: (?P<year>\d{{4}}))?",
        rf"(?<!\d){DAY} {FRENCH}(?: (?P<year>\d{{4}}))?",
    )
]
TIME = re.compile(
    r"(?:(?P<half>오전|오후) ?)?(?<!\d)(?P<hour>\d{1,2})(?:시(?: ?(?P<minute>\d{1,2})분)?|:(?P<colon>\d{2})(?!\d))"
)

# All that a date is made of, in whatever order: a text of nothing else is meant as one.
_NAMES = "|".join((*map(_any, (MONTHS, FRENCH_MONTHS)), *DAYS_OF_THE_WEEK.values()))
DATELIKE = re.compile(rf"(?:\d|[년월일시분]|오전|오후|\((?:{DAYS_OF_THE_WEEK['ko']})\)|{_NAMES}|[-/.,:\s])+")


def impossible(text: str) -> Said | None:
    """Why a day or a time of day in a text does not exist; None if all of them do."""
    return next((said for said in (*_days(text), *_times(text)) if said is not None), None)


def untaught(text: str) -> Said | None:
    """Why something that looks like a date cannot be read as one; None for what can be, and for all other texts."""
    text = " ".join(text.split())
    if not re.search("[0-9A-Za-z]", text) or not DATELIKE.fullmatch(text) or taught(text):
        return None
    return words.UNTAUGHT_DATE.filled(text=shortened(text), known=" · ".join(words.DATES))


def taught(text: str) -> list[re.Match[str]]:
    """The ways in which a whole text can be read as a date or a time of day; none if it is something else."""
    return [match for match in (pattern.fullmatch(" ".join(text.split())) for pattern in TAUGHT) if match]


def _days(text: str) -> Iterator[Said | None]:
    within = [match for pattern in DATES for match in pattern.finditer(text)]
    for match in (*within, *taught(text)):
        found = match.groupdict()
        name, month, day = (found.get(field) for field in ("name", "month", "day"))
        if day and (name or month):
            number = (MONTHS | FRENCH_MONTHS)[name] if name else int(month or 0)
            yield _day(match.group(), found.get("year"), number, int(day))


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
