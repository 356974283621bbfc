"""What users of memory servers keep reporting, and the manifest itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "manifest:complete": Promise("house:3", "Every row has a test and every test a row."),
    "stdout:only-messages": Promise("F3", "Every byte on stdout is a JSON-RPC line."),
    "stdout:drained": Promise("10.2", "Every request that was read is answered before the end."),
    "locale:utf8": Promise("F7", "The wire and the command are UTF-8 whatever the locale says."),
    "interop:typescript": Promise(
        "F8",
        "A strict TypeScript client takes every answer.",
        "HTTP and the second client library come with HTTP",
    ),
    "inputs:absent-null-empty": Promise(
        "F9", "Absent, null, empty, blank and wrong types each have one rule."
    ),
    "inputs:null-params": Promise("F9", "A list may be asked for with null or empty params."),
    "limits:few-tools": Promise(
        "F10", "Seven tools by default, under 12 KB.", "other toolsets come with the data plane"
    ),
    "hosts:schema-shapes": Promise("F11", "No schema has a shape that some host refuses."),
    "found:at-once": Promise(
        "F22",
        "An acknowledged fact is found at once.",
        "across clients with the owner socket and HTTP",
    ),
    "found:vector-survives-a-kill": Promise(
        "F22", "A vector that was not made before a kill is made after it."
    ),
    "found:nothing-relevant": Promise(
        "F21",
        "A store that holds no answer says so, and one that holds it gives it.",
        "the weak-match feedback of the core marks fewer: docs/recall.md",
    ),
    "docs:figures-have-a-source": Promise(
        "F30", "Each measured figure in the docs stands in a page that names its command and date."
    ),
}
