"""The data plane: what a write stores, rewrites, supersedes and refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "plane:supersede": Promise(
        "D38", "A captured fact supersedes what it takes back, which then leaves every read."
    ),
    "plane:keep-both": Promise("D39", "Facts that may both hold both stay active."),
}
