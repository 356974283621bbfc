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
    "tokens:revoked-at-once": Promise(
        "10.3", "A running server obeys the command from its next request on."
    ),
    "oauth:scopes": Promise(
        "issue:4", "What an issuer granted decides who comes in and who may write."
    ),
    "oauth:strangers": Promise(
        "F14", "A token of another issuer, for another audience or past its end is refused."
    ),
    "oauth:metadata": Promise(
        "F14", "With an issuer, a 401 names the metadata and the scopes; without one, nothing."
    ),
    "tokens:private-files": Promise(
        "issue:4", "Files about tokens are for their user alone, whatever the umask."
    ),
}
