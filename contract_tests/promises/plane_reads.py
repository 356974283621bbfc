"""The data plane: what single reads show, beside search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "plane:recent": Promise(
        "D47", "Recent lists the newest first, from an instant on; today goes back 24 hours."
    ),
    "plane:linked": Promise(
        "D48", "Neighbours of a fact are those that an agent linked with it, and never itself."
    ),
    "plane:session": Promise(
        "D49", "Facts of one session are neighbours; what is hidden is neither one nor a bridge."
    ),
    "plane:stats": Promise("D54", "Stats count each shelf, and apart what is no longer active."),
    "plane:expiry": Promise("plane:1.2", "A fact is hidden from the instant of its end on."),
    "plane:twins-served": Promise(
        "D59", "The twins are served as their files say, and answer what REST answers."
    ),
    "plane:one-engine": Promise(
        "D60", "A fact written through one surface is found through the other, on its shelf."
    ),
}
