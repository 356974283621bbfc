"""What lies on the disk: damaged, full, older or newer than the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "storage:kills": Promise(
        "F24",
        "Whatever is killed within whichever writes, every acknowledged fact is there, once.",
        "hundreds of kills, with four clients, are counted by `python -m bench crash`",
    ),
    "storage:damaged-log": Promise(
        "F24", "A cut, garbled or lost write-ahead log costs nothing that was acknowledged."
    ),
    "storage:side-files": Promise("F24", "Side files that are gone cost no fact."),
    "storage:full-disk": Promise(
        "F24", "On a full disk searches go on, after a restart too, and writes say why not."
    ),
    "storage:damaged-vectors": Promise(
        "F24",
        "Damaged vectors fail no call, and are made again.",
        "that they are made again is held in tests/store",
    ),
    "storage:older-stores": Promise(
        "F35", "The store of every released version is served with all its facts."
    ),
    "storage:newer-store": Promise(
        "F35", "The store of a newer version is refused by each door, and no byte of it changes."
    ),
    "storage:killed-migration": Promise(
        "F35",
        "A kill in the middle of a migration leaves a store that opens.",
        "a kill before each statement of each migration is tried in tests/store",
    ),
}
