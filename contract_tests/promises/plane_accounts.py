"""The data plane: who comes, what they reach, what they may write, and what is told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "plane:bearers": Promise(
        "D11", "Whoever shows no token that is good now is refused in one text, on every route."
    ),
    "plane:read-only": Promise(
        "D12", "A read-only token reads by every route and tool, and changes nothing."
    ),
    "plane:pinned": Promise(
        "D13", "A pinned token reads and writes in its project alone, while its user is in it."
    ),
    "plane:active-project": Promise(
        "D14", "Where nothing is sent, the active project counts, as long as there is one."
    ),
    "plane:project-refs": Promise(
        "D15", "A reference to a project that is unknown, somebody else's or malformed says so."
    ),
    "plane:shared-project": Promise(
        "D16", "What is in a project is its members', whoever wrote it; the rest is its user's."
    ),
    "plane:rotation": Promise(
        "D17", "A rotated token works in the place of the old one, with its rights and its end."
    ),
    "plane:admins": Promise("D17", "Routes of admins answer admins with a full token only."),
    "plane:rate": Promise(
        "D18", "Calls of one token are counted together, over all connections, REST and MCP."
    ),
    "plane:quota": Promise(
        "D18", "Who has a quota is told when it is used up; what stored nothing is not charged."
    ),
    "plane:moving": Promise(
        "D19", "What was exported is the same after an import, and a second import adds nothing."
    ),
    "plane:changes": Promise(
        "D20", "The feed tells in order that facts changed, and neither it nor the audit what."
    ),
    "plane:accounts-once": Promise(
        "plane:2.2", "A change of accounts under one key takes effect once; no token is kept."
    ),
    "plane:audit": Promise(
        "plane:8", "The audit names every write and every 401 and 403, by ids and outcome alone."
    ),
    "plane:strangers-ids": Promise(
        "D51", "An id of somebody else's fact is answered like one that never was."
    ),
}
