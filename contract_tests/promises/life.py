"""What becomes of facts that are left alone, and of facts that were replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "life:half-life": Promise(
        "C65", "A weight falls by half with each half-life without a read; no read raises it."
    ),
    "life:prune": Promise(
        "C66",
        "A fact whose weight falls below 0.01 is pruned; a pinned one neither fades nor goes.",
    ),
    "life:any-rhythm": Promise(
        "F28",
        "Weight follows from time, not from how often a consolidation ran.",
        "undoing a prune, and reports of what it took, come with consolidation as a command",
    ),
    "hints:on-request": Promise(
        "C69", "Without the setting no hints follow the facts; with it at most three do."
    ),
    "doctor:looks": Promise(
        "C75", "`doctor` exits 1 only when a check fails, creates nothing and starts nothing."
    ),
    "replaced:everywhere": Promise(
        "F20",
        "A fact that one surface replaced is in no read of the other; as-of still gives it.",
        "the block of a hook comes with hooks",
    ),
}
