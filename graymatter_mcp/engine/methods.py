"""What each method of `Memory` may do: the one list that every door and guard reads.

A method that stands in none of these sets counts as a write everywhere, and fails a test.
"""

from __future__ import annotations

from typing import Final

READS: Final = frozenset(
    {
        "recall",
        "recall_explain",
        "recall_all",
        "recall_batch",
        "resume_checkpoint",
        "load_checkpoint",
        "list_checkpoints",
        "list_facts",
        "newest",
        "list_agents",
        "stats",
        "status",
        "check",
        "default_confidence_weight",
        "wait_until_settled",
    }
)
"""Methods that tell and do not change; that a recall counts is book-keeping."""

OPEN: Final = frozenset({"ping"})
"""Methods that tell nothing of what is stored."""

COPIES: Final = frozenset({"backup"})
"""Methods that leave the facts as they are, but write elsewhere: no read to a read-only caller."""

WRITES: Final = frozenset(
    {
        "remember",
        "add_alias",
        "revise",
        "revise_facts",
        "retire",
        "pin_facts",
        "update_fact",
        "forget",
        "set_pinned",
        "link",
        "save_checkpoint",
        "consolidate",
        "delete",
        "erase",
    }
)
"""Methods that may change what is stored."""

LOCAL: Final = frozenset({"set_graph", "aclose"})
"""Methods that act on the object at hand; no other process may call them."""

REPEATABLE: Final = READS | OPEN | COPIES
"""Methods that leave the facts as they are; a lost answer of any other leaves its outcome open."""
