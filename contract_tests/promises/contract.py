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
    "compat:routes": Promise(
        "issue:5", "REST routes are frozen and compared by the same rules as tools."
    ),
    "compat:edits": Promise(
        "issue:7", "Any one edit of any schema that we serve is classified right."
    ),
    "compat:sound": Promise(
        "issue:7", "What the checker calls compatible stays valid in the right direction."
    ),
    "kit:ours-passes": Promise(
        "issue:7",
        "Our server keeps every promise of the kit, over stdio and HTTP, in every era.",
    ),
    "kit:every-check-can-fail": Promise(
        "issue:7", "For each check there is a broken server that it catches."
    ),
    "kit:rows": Promise("issue:7", "Each check of the kit is a row of this manifest."),
    "errors:unreadable": Promise("2.5", "Bad JSON and batches are answered, and it goes on."),
    "server:list-is-stable": Promise(
        "2.1", "The list of tools is fixed for the life of a connection."
    ),
    "server:stateless-answers": Promise(
        "wire:3", "A stateless list says how long it holds and whom it is for."
    ),
    "server:ping": Promise("wire:6", "A ping is answered in the revisions that have one."),
    "identity:blank-namespace": Promise(
        "3.1", "A namespace holds a character that is not white space, on every tool."
    ),
    "identity:scopes-apart": Promise(
        "F15", "An argument that a tool does not know never changes the scope."
    ),
    "search:payload": Promise("3.2", "A search answers with scope, query and a true count."),
    "order:recency-ranks": Promise(
        "5.3", "Ranks of each list are 1, 2, 3 and so on; a newer fact has the better recency."
    ),
    "order:receipt-forms": Promise("3.1", "A receipt shows what applies, and times to the digit."),
    "add:text-tells-the-payload": Promise("3.4", "The text of an add tells its payload."),
    "reflect:pins": Promise("section 6", "A pin shows and goes; twice is as once."),
    "contract:frozen": Promise(
        "house:3", "A frozen bundle is never edited, and the tree keeps every one of its major."
    ),
    "contract:notices": Promise(
        "1.2", "A break passes only after a notice in a release of the prior minor."
    ),
    "contract:diff": Promise(
        "issue:7", "A difference is told for people, programs and pull requests, with its level."
    ),
    "contract:check": Promise("issue:7", "Anyone can run the kit with one command."),
    "contract:pages": Promise(
        "issue:7", "Reference pages and types are what the schema files make, examples included."
    ),
    "limits:toolsets": Promise(
        "F10", "Each toolset that is shipped has snapshots, and no tool is in two."
    ),
    "toolsets:chosen": Promise(
        "F10", "The core is served unless more is asked for by name; an unknown name is an error."
    ),
}
