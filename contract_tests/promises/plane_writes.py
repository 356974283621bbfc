"""The data plane: what a write stores, rewrites, supersedes and refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "plane:capture-keys": Promise(
        "D36", "A captured fact shows type, worthiness, retention, lifecycle and what was done."
    ),
    "plane:gate": Promise(
        "D37", "Filler, and what is too short or too long, is refused with a reason, status 200."
    ),
    "plane:supersede": Promise(
        "D38", "A captured fact supersedes what it takes back, which then leaves every read."
    ),
    "plane:keep-both": Promise("D39", "Facts that may both hold both stay active."),
    "plane:duplicate": Promise(
        "D41", "A text that its shelf holds already strengthens that fact and makes no other."
    ),
    "plane:sensitivity": Promise(
        "D43", "What looks like a secret is sensitive and hidden, unless a level was given."
    ),
    "plane:exact-text": Promise("plane:1.2", "A text comes back exactly as it was sent."),
}
