"""What can be set of the data plane."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from graymatter_mcp.errors import InvalidArgumentError

MAX_FAN_OUT: Final = 16
"""Beyond it a fact would be near to half of its shelf."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaneConfig:
    """Settings of the data plane; each works alone."""

    max_entries: int | None = None
    """Entries that a user may store, unless an admin says otherwise; None for any number."""
    writes_per_minute: int | None = None
    """Of a user, unless an admin says otherwise; None for any number."""
    changes_kept: timedelta = timedelta(days=30)
    """How long the feed of changes tells of one."""
    audit_kept: timedelta = timedelta(days=180)
    max_captured: int = 4000
    """Characters of a captured text; 0 for any length."""
    personal_terms: tuple[str, ...] = ()
    """Words that make a fact relevant to its user."""
    decay_every: timedelta = timedelta(hours=6)
    """Between passes of decay and expiry; 0 for none."""
    decay_base_days: int = 7
    """How long a fact without a retention of its own stays warm unread; >= 1."""
    fan_out: int = 3
    """Near facts that count as neighbours of each; 0 for none."""

    def check(self) -> None:
        """Refuse values out of range.

        Raises:
            InvalidArgumentError: Names the field and its range.
        """
        for name, value, low, high in (
            ("max_entries", self.max_entries, 1, math.inf),
            ("writes_per_minute", self.writes_per_minute, 1, math.inf),
            ("max_captured", self.max_captured, 0, math.inf),
            ("decay_base_days", self.decay_base_days, 1, math.inf),
            ("fan_out", self.fan_out, 0, MAX_FAN_OUT),
        ):
            if value is not None and not low <= value <= high:
                bound = f"at least {low}" if high == math.inf else f"between {low} and {high}"
                raise InvalidArgumentError(f"{name} must be {bound}")
        if self.decay_every < timedelta(0):
            raise InvalidArgumentError("decay_every must not be negative")
        for name, kept in (("changes_kept", self.changes_kept), ("audit_kept", self.audit_kept)):
            if kept <= timedelta(0):
                raise InvalidArgumentError(f"{name} must be longer than zero")
