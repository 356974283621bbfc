"""The contract as a product: versions, the checker, the kit, pages and types made from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "compat:rules": Promise(
        "house:3", "Each rule of the checker reports its pair and lets a near one pass."
    ),
    "compat:edits": Promise(
        "issue:7", "Any one edit of any schema that we serve is classified right."
    ),
    "compat:sound": Promise(
        "issue:7", "What the checker calls compatible stays valid in the right direction."
    ),
    "contract:frozen": Promise(
        "house:3", "A frozen bundle is never edited, and the tree keeps every one of its major."
    ),
    "contract:notices": Promise(
        "1.2", "A break passes only after a notice in a release of the prior minor."
    ),
}
