"""Who may come over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "tokens:shown-once": Promise(
        "11.2", "A token is shown when it is made; lists and files never hold it."
    ),
    "tokens:rotated": Promise(
        "11.2", "Rotation keeps name, scope, project and expiry, and ends the old token."
    ),
    "tokens:private-files": Promise(
        "issue:4", "Files about tokens are for their user alone, whatever the umask."
    ),
}
