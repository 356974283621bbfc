"""Curation: what each action of reflect changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "reflect:update-retires": Promise(
        "C35", "An update stores the replacement and marks the old fact with its id."
    ),
    "reflect:forget-keeps-the-record": Promise(
        "C36",
        "A forgotten fact is marked and stays in the list.",
        "the export comes with its command",
    ),
    "reflect:retired-never-return": Promise(
        "C37", "A retired text is in no search, plain, explained or batched."
    ),
    "reflect:update-to-same-text": Promise(
        "C38", "An update to the same text leaves one new live fact."
    ),
    "reflect:everywhere": Promise(
        "C39",
        "C35 to C38 hold in process, over stdio and through the owner's socket.",
        "HTTP comes with its transport",
    ),
    "reflect:update-never-raises": Promise(
        "C41", "An update without a label never raises confidence; the replacement is unpinned."
    ),
    "reflect:outcomes": Promise("section 6", "Each action tells its outcome."),
    "reflect:not-found": Promise("section 6", "A target is found by its exact text only."),
    "reflect:lineage": Promise("3.1", "Lineage is transitive, nearest first."),
    "reflect:unpin-clears-retired-copies": Promise(
        "section 6", "Unpin also clears retired copies."
    ),
    "writes:all-or-nothing": Promise(
        "C40", "When a replacement cannot be written, nothing is retired."
    ),
    "writes:pin-and-label": Promise(
        "C42",
        "A pin and a label that change together both stay.",
        "two clients at once come with the owner socket",
    ),
    "writes:update-fact-is-safe": Promise(
        "4.3", "A record update never creates and never revives."
    ),
}
