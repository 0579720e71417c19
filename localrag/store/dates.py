"""Dates as a person writes them: each is a stretch of time, from a month to a second."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

__all__ = ["Period", "parse_period"]

_DATE = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d{2})(?:-(?P<day>\d{2})(?:[T ](?P<clock>\d{2}:\d{2}"
    r"(?P<second>:\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?))?)?"
)


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time; seconds since 1970, UTC."""

    start: float
    end: float
    """The first moment that is no longer meant."""


def parse_period(text: str) -> Period | None:
    """Return what a date means: ``2024-05``, ``2024-05-01``, ``2024-05-01T10:30``; None if none.

    Without an offset the time is UTC, so that a filter means the same on every machine.
    """
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    try:
        if match["day"] is None:
            return _month(int(match["year"]), int(match["month"]))
        start = datetime.fromisoformat(text.replace(" ", "T"))
        if start.tzinfo is None:
            start = start.replace(tzinfo=UTC)
        end = start + (
            timedelta(days=1)
            if match["clock"] is None
            else timedelta(minutes=1)
            if match["second"] is None
            else timedelta(seconds=1)
        )
        return Period(start.timestamp(), end.timestamp())
    except (ValueError, OverflowError):
        return None


def _month(year: int, month: int) -> Period:
    start = datetime(year, month, 1, tzinfo=UTC)
    end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
    return Period(start.timestamp(), end.timestamp())
