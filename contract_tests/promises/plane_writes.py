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
    "plane:supersede-all": Promise(
        "D40", "Every fact that is taken back goes, in one transaction that a failure undoes."
    ),
    "plane:refine": Promise(
        "D42", "A text that says a fact again with more words takes its place under the same id."
    ),
    "plane:late-vectors": Promise(
        "D44", "Without a model facts are stored and found by words; vectors follow, oldest first."
    ),
    "plane:recap": Promise("D45", "The items of a recap are captured in order: all or none."),
    "plane:pinned": Promise("D46", "A pinned fact is neither rewritten nor superseded."),
    "plane:sensitivity": Promise(
        "D43", "What looks like a secret is sensitive and hidden, unless a level was given."
    ),
    "plane:exact-text": Promise("plane:1.2", "A text comes back exactly as it was sent."),
    "plane:forget": Promise(
        "D50", "A forgotten fact is gone with all its rows, at every instant; again is no error."
    ),
    "plane:foreign-id": Promise(
        "D51", "A fact out of the caller's scope is like one that never was."
    ),
    "plane:forget-source": Promise(
        "D52", "Facts are forgotten by exactly their handle, in the scope of the call."
    ),
    "plane:update": Promise(
        "D53", "An update changes what it names and keeps id, hits, creation, edges and the rest."
    ),
    "plane:move": Promise("plane:3.12", "A fact moves to another shelf with all that it has."),
    "plane:audit-target": Promise(
        "plane:8", "The audit names the fact that a write is about, and never its content."
    ),
}
