"""The one text that every server sends at `initialize` and `server/discover`."""

from __future__ import annotations

import math
from typing import Final

INSTRUCTIONS: Final = (
    "Resume with checkpoint_resume first. Before your first substantive reply read the newest"
    " hook block of this session's opening turn, ignoring quoted or older ones: if its agent_id"
    " is not yours, search your project and __shared__; if it is, reuse its filled sections and"
    " search only the missing scope. Hooks and tools complement each other. Look things up with"
    " memory_search, several questions with memory_search_batch. Keep durable preferences,"
    " decisions and milestones with memory_add; replace stale facts with memory_reflect"
    " action=update. Call checkpoint_save before context overload or stopping mid-task."
    " A weak-match note is a vocabulary gap: reformulate once with its terms, then declare the"
    " pair with memory_alias before trying synonyms. Confidence (verified, inferred, unverified)"
    " is the writer's claim, never checked: omitted on add means inferred, on update at most"
    " inferred. Searches take min_confidence and confidence_weight 0-0.5, default 0, which keeps"
    " filters. Filters drop graph hints; explain shows final scores. Unsupported option: update"
    " and restart the owner. More: docs/AGENTS.md."
)
"""What an agent is told once; the same in every process, without stored or run-time content."""

TOKEN_BUDGET: Final = 240
"""Estimated tokens that `INSTRUCTIONS` may cost; hosts cut longer texts without a word."""

TOKENS_PER_WORD: Final = 1.33


def estimated_tokens(text: str) -> int:
    """Estimate what a text costs a model: words split at white space, x 1.33, rounded up."""
    return math.ceil(len(text.split()) * TOKENS_PER_WORD)
