"""UTC datetimes to epoch microseconds and back, exactly."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def to_microseconds(moment: datetime) -> int:
    """Return whole microseconds since the epoch; integer arithmetic, so nothing is rounded."""
    return (moment - EPOCH) // _MICROSECOND


def from_microseconds(microseconds: int) -> datetime:
    """Return the UTC datetime of an epoch microsecond."""
    return EPOCH + timedelta(microseconds=microseconds)
