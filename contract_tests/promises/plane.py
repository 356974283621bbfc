"""The data plane: what its schema files promise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "plane:routes": Promise(
        "plane:3", "Every route of the specification has its files, and no other route has."
    ),
    "plane:closed": Promise(
        "plane:2.7", "Every object of an answer is closed; every field of a request is described."
    ),
    "plane:twins": Promise(
        "D59", "A twin takes and gives what its route does, with the hints of the table."
    ),
}
