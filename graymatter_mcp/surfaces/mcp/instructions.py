"""The text that a server sends at `initialize` and `server/discover`: one for each toolset."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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

PLANE_INSTRUCTIONS: Final = (
    "Call memory_context once before substantive work, not for greetings. After the work keep"
    " durable outcomes with memory_capture, never secrets; at the end of a session recap them with"
    " memory_session_recap, no transcripts. Search with memory_hybrid_search before you ask the"
    " user to repeat something. Judge hits by content, not by score; an abstained answer means not"
    " stored; deduplicated is success. Use force only on the user's word, and memory_forget only"
    " on request."
)
"""The same for the data plane."""

_TEXTS: Final[Mapping[str, str]] = {"core": INSTRUCTIONS, "dataplane": PLANE_INSTRUCTIONS}

LONGEST: Final = 2048
"""Characters after which a host cuts the whole text without a word."""

TOKEN_BUDGET: Final = 240
"""Estimated tokens that `INSTRUCTIONS` may cost; hosts cut longer texts without a word."""

TOKENS_PER_WORD: Final = 1.33


def instructions_for(toolsets: Sequence[str]) -> str:
    """Return what an agent is told that has these toolsets."""
    return " ".join(_TEXTS[name] for name in toolsets)


def estimated_tokens(text: str) -> int:
    """Estimate what a text costs a model: words split at white space, x 1.33, rounded up."""
    return math.ceil(len(text.split()) * TOKENS_PER_WORD)
