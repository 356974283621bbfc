"""Days as people write them, and the days that a question asks about."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta
from typing import Final

MONTHS: Final = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_WEEKDAYS: Final = (
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
)  # fmt: skip
_SHORT: Final = 3
_DECEMBER: Final = 12
_NUMBER_OF: Final = {name: number for number, name in enumerate(MONTHS, 1)} | {
    name[:_SHORT]: number for number, name in enumerate(MONTHS, 1)
}
_MONTH: Final = "|".join(sorted(_NUMBER_OF, key=len, reverse=True))
_DAY: Final = re.compile(
    rf"""
      \b(?P<iso>\d{{4}}-\d{{2}}-\d{{2}})\b
    | \b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\ (?:of\ )?(?P<month>{_MONTH})\b\.?,?\ (?P<year>\d{{4}})\b
    | \b(?P<month2>{_MONTH})\b\.?\ (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,?\ (?P<year2>\d{{4}})\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_MONTH_AND_YEAR: Final = re.compile(
    rf"\b(?P<month>{_MONTH})\b\.?,?\ (?:of\ )?(?P<year>\d{{4}})\b", re.IGNORECASE
)
_RELATIVE: Final = re.compile(
    rf"""
      \b(?P<word>today|yesterday|this\ (?:morning|afternoon|evening)|tonight|last\ night)\b
    | \b(?P<count>\d{{1,3}})\ (?P<unit>day|week)s?\ ago\b
    | \b(?P<which>this|last)\ (?P<span>week|month|year|{"|".join(_WEEKDAYS)})\b
    """,
    re.VERBOSE | re.IGNORECASE,
)

Days = tuple[date, date]
"""The first and the last day of a range."""


def written_day(text: str) -> date | None:
    """Return the first whole day that a text names, or None."""
    for match in _DAY.finditer(text):
        if match["iso"]:
            parts = match["iso"].split("-")
            found = _day(int(parts[0]), int(parts[1]), int(parts[2]))
        else:
            month = (match["month"] or match["month2"]).lower()
            year, day = (match[name] or match[f"{name}2"] for name in ("year", "day"))
            found = _day(int(year), _NUMBER_OF[month], int(day))
        if found is not None:
            return found
    return None


def asked_days(query: str, today: date) -> Days | None:
    """Return the days that a query asks about, or None where it names none.

    A whole day comes before a month with its year, and both before words such as "yesterday".

    Args:
        query: As sent.
        today: What such words are reckoned from.
    """
    day = written_day(query)
    if day is not None:
        return day, day
    month = _MONTH_AND_YEAR.search(query)
    if month:
        return _whole_month(int(month["year"]), _NUMBER_OF[month["month"].lower()])
    relative = _RELATIVE.search(query)
    return None if relative is None else _reckoned(relative, today)


def _reckoned(match: re.Match[str], today: date) -> Days:
    if match["word"]:
        is_past = match["word"].lower() in ("yesterday", "last night")
        day = today - timedelta(days=int(is_past))
        return day, day
    if match["count"]:
        span = 1 if match["unit"].lower() == "day" else 7
        day = today - timedelta(days=int(match["count"]) * span)
        return day, day + timedelta(days=span - 1)
    return _span(match["span"].lower(), today, back=int(match["which"].lower() == "last"))


def _span(name: str, today: date, back: int) -> Days:
    """Return the week, month or year that holds today, or the one before; or a day of the week."""
    if name in _WEEKDAYS:
        gap = (today.weekday() - _WEEKDAYS.index(name)) % 7
        day = today - timedelta(days=gap or 7 * back)
        return day, day
    if name == "week":
        monday = today - timedelta(days=today.weekday() + 7 * back)
        return monday, monday + timedelta(days=6)
    if name == "month":
        end = _end_of_month(today) if not back else today.replace(day=1) - timedelta(days=1)
        return end.replace(day=1), end
    return date(today.year - back, 1, 1), date(today.year - back, _DECEMBER, 31)


def _whole_month(year: int, month: int) -> Days | None:
    first = _day(year, month, 1)
    return None if first is None else (first, _end_of_month(first))


def _end_of_month(day: date) -> date:
    return day.replace(day=monthrange(day.year, day.month)[1])


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
