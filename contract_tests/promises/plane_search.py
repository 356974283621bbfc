"""The data plane: what search and its relatives find, in which order, and when nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "plane:fusion": Promise(
        "D21",
        "A score is the weighted mean of the signals that ran, times the rank prior.",
        known_gap="E1 from its raw values is held in tests/ranking/hybrid.",
    ),
    "plane:worked-examples": Promise(
        "D22",
        "Rank prior and token budget give the figures of E2 and E4.",
        known_gap="E3 and E5 to E7 are held in tests/ranking/hybrid and tests/policy.",
    ),
    "plane:meaning": Promise(
        "D23", "A fact is found by its meaning where it shares no word with the query."
    ),
    "plane:weights": Promise(
        "D24", "A leg of weight 0 is configured out, which is not degraded; one must weigh."
    ),
    "plane:identifiers": Promise(
        "D25", "A path, version, port or identifier is found first as it was typed."
    ),
    "plane:filters-first": Promise("D26", "No filter ever shrinks a page: filters come before k."),
    "plane:degraded": Promise(
        "D27", "Without its model search answers by words and says so; empty-handed it fails."
    ),
    "plane:abstention": Promise(
        "D28", "A question that the store cannot answer gets nothing, and the answer says so."
    ),
    "plane:compounds": Promise(
        "ADR 0061",
        "A word that no fact holds finds compounds of it, and a compound its parts, also where"
        " a store may answer that it knows nothing.",
    ),
    "plane:hits": Promise("D29", "Only a search of the present counts reads, of what it returns."),
    "plane:as-of": Promise("D30", "A read of an earlier instant shows the store as it was then."),
    "plane:diversity": Promise(
        "D31", "Copies give way to other facts; other values and names are no copies."
    ),
    "plane:token-budget": Promise(
        "D32", "Results stop at the first that the budget cannot hold, but never before one."
    ),
    "plane:content-modes": Promise(
        "D33", "Content comes whole, as a snippet or not; what a budget leaves out is named."
    ),
    "plane:context": Promise(
        "D34", "A context holds the relevant and recent facts, sorted by what they are for."
    ),
    "plane:inert": Promise(
        "F18",
        "A fact's text stands only as the content of its item, in context and search; instructions,"
        " tool descriptions and guidance carry none of it. Hooks and pages are not there yet.",
    ),
    "plane:believable": Promise(
        "F26",
        "Equal texts come once in what a search found, with their date; hygiene names what"
        " contradicts. Recent facts are listed each; hooks are not there yet.",
    ),
    "plane:shelves": Promise(
        "D35", "Without a shelf all shelves in scope are read; a list of them beats a single one."
    ),
}
