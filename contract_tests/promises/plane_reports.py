"""The data plane: reports, upkeep, and facts on their way from one store to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "plane:hygiene": Promise(
        "D55", "Each list of hygiene holds what deserves a look and nothing else, and only reads."
    ),
    "plane:pinned-pair": Promise(
        "D46", "A pinned fact and one that contradicts it are listed by hygiene."
    ),
    "plane:evaluate": Promise(
        "D56", "Evaluate names each check and whether it holds, and sees an index that is broken."
    ),
    "plane:adoption": Promise(
        "D57", "Adoption compares what a client saw with what is served, and says what to do."
    ),
    "plane:reports-alike": Promise(
        "D59", "Reports and projects are told alike by REST and by the twins."
    ),
    "plane:decay": Promise(
        "D58", "A fact goes cold when it was idle for too long, unless it is pinned."
    ),
    "plane:promotion": Promise(
        "D58", "A search that returns a cold fact often read makes it warm, in that answer."
    ),
    "plane:pinned-stats": Promise("D54", "Stats of a pinned token count its project only."),
    "plane:export": Promise(
        "D19", "What a user exports another may import, with all that it was but its ids."
    ),
    "plane:import": Promise("D19", "An import says what of it is new, known, and not storable."),
    "plane:claims": Promise("D60", "Every route that is described is claimed by a case."),
    "plane:health": Promise("plane:8", "Health tells an admin of store, model and what is owed."),
    "plane:members": Promise("plane:8", "Members of a project are listed to its members."),
    "plane:cookie": Promise(
        "plane:8", "A token opens a session of the page, which reads, and changes with an Origin."
    ),
}
