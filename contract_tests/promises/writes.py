"""Writes: all or nothing, visible at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "confidence:write-payload": Promise(
        "C59", "A labelled write returns its id and label; an unlabelled one neither."
    ),
    "writes:failure-after-commit": Promise(
        "C60", "A failure after the commit names the fact, which is there."
    ),
    "confidence:weights-refused": Promise(
        "C61", "Opening refuses a confidence weight out of range."
    ),
    "confidence:visible-at-once": Promise("C62", "A label is visible at once and after reopening."),
    "writes:thirty-at-once": Promise(
        "C63", "Thirty identical writes at once make thirty facts, each embedded once."
    ),
    "writes:read-only": Promise("C64", "A write to a read-only store is an error and reads go on."),
    "writes:same-text-twice": Promise("3.4", "The same text twice is two facts."),
    "confidence:none-is-an-error-in-the-library": Promise(
        "section 9", "An explicit None is an error in the library."
    ),
}
