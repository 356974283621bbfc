"""The data plane: the shape of requests and answers, and of errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "plane:remember-recent": Promise(
        "D1", "What remember stores is listed by recent with its content and a score of 1."
    ),
}
