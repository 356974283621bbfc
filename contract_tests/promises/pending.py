"""Cases of the specification that no row holds yet, and with what they come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_CONSOLIDATION: Final = "consolidation as a command; its arithmetic is held in tests/engine"
_HOOKS: Final = "hooks and `init`"

PENDING: Final[Mapping[str, str]] = {
    "C67": _CONSOLIDATION,
    "C68": _CONSOLIDATION,
    "C74": _HOOKS,
    "F4": "bounds of dependencies; held in tests/packaging",
    "F6": "environments of other builds of Python",
    "F19": "encryption",
    "F23": "another model; held in tests/engine",
    "F25": "origins told apart on the data plane and the command line, hooks among them",
    "F29": "import of many facts, seen from outside; its route is held by D19",
    "F31": _HOOKS,
    "F32": _HOOKS,
    "F33": _HOOKS,
    "F36": "import of notes that another program wrote",
}
"""Case -> with what its rows come. A case leaves this list when it gets its first row."""

CASES: Final = 75
FIELD_CASES: Final = 36
"""How many acceptance cases and field cases the specification holds."""
