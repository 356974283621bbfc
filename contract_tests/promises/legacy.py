"""The routes of the core from before `/v1`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "legacy:one-memory": Promise(
        "D60", "What any surface stores is recalled here, and what is stored here is found there."
    ),
    "legacy:answers": Promise("11.4", "Each route answers with the documented keys and statuses."),
    "legacy:facts": Promise(
        "plane:1.5", "The list holds the live facts that the core may show, newest first."
    ),
    "legacy:forget": Promise(
        "11.4", "A delete is for good; by a query it shows first what it would erase."
    ),
    "legacy:refusals": Promise("11.4", "Each refusal has its exact text, and a status of 400."),
    "legacy:body-limit": Promise("11.4", "A body over 1 MiB is answered 413 with its own text."),
    "legacy:access": Promise(
        "plane:10", "A bearer is needed, and one that may only read changes nothing."
    ),
    "legacy:internal": Promise("11.4", "A failure inside is `internal error`, and no word more."),
}
