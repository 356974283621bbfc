"""What an inspection or a copy of the store says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CheckStatus(StrEnum):
    """How a check went, best first."""

    OK = "ok"
    INFO = "info"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at; `hint` says what to do, "" where there is nothing to do."""

    name: str
    status: CheckStatus
    detail: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupReport:
    """A copy that was read back and found equal."""

    path: str
    bytes: int
    facts: int
    """Records, retired ones and aliases included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactReport:
    """What a rewrite of the file saved; sizes in bytes."""

    bytes_before: int
    bytes_after: int
    rows_dropped: int
