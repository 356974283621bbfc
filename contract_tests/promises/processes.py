"""Many processes on one memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "owner:shared": Promise(
        "C70", "The first client starts the owner, later ones share it, it leaves when idle."
    ),
    "owner:private": Promise(
        "C71",
        "A wrong or missing local token is refused; stopping the owner unblocks waiting calls.",
    ),
    "owner:remember-beside": Promise(
        "C72",
        "An owner already running never makes `remember` fail.",
        "the routes /ready, /healthz and /remember come with HTTP",
    ),
    "clients:one-store": Promise(
        "F1", "Any number of clients read and write; the death of the owner is invisible to them."
    ),
    "calls:bounded": Promise(
        "contract 10.2, 10.6",
        "An owner that hangs is not waited for without end, and nobody is told what is not known.",
    ),
    "clients:no-orphans": Promise("F2", "Nothing that we start outlives its use."),
    "start:at-once": Promise(
        "F5", "The opening needs neither model nor database, and the first calls answer at once."
    ),
    "ids:taken-everywhere": Promise(
        "F12",
        "An id that one surface prints is the id of the same fact on every other.",
        "consumers of ids beyond the checkpoint come with REST, export and hooks",
    ),
    "scope:by-directory": Promise(
        "F15", "Equal names in two directories never cross, whatever else a call says."
    ),
    "writes:exactly-once": Promise(
        "F27", "A call that is delivered twice takes effect once and gives one answer."
    ),
    "start:says-where": Promise(
        "F34", "The start line names the absolute directory and why; misspelt variables warn."
    ),
}
