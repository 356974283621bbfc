"""Checks of the rules that need no store: cases 1 to 6 of an evaluation.

Source: data-plane contract 7.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graymatter_mcp.model.ids import FactId
from graymatter_mcp.model.items import Item
from graymatter_mcp.model.times import EPOCH
from graymatter_mcp.policy.contradiction import contradicts
from graymatter_mcp.policy.gate import rejection
from graymatter_mcp.policy.hygiene import HygieneFact, SupersededFact, hygiene
from graymatter_mcp.policy.memory_types import MEMORY_TYPES, RETENTION, MemoryType
from graymatter_mcp.policy.packs import pack
from graymatter_mcp.policy.sensitivity import inferred

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_REPLACED: Final = (
    "graymatter deployment uses port 7778",
    "graymatter deployment uses port 7779",
)
_BOTH_HOLD: Final = (
    ("Staging API uses port 7778", "Production API uses port 7779"),
    ("Invoice 1041 is due 2026-02-01", "Invoice 1042 is due 2026-02-03"),
    ("Bob likes tea", "Bob likes coffee"),
)
_SECRETS: Final = (
    "AKIA" + "ABCDEFGHIJKL2345",
    "-----BEGIN RSA PRIVATE KEY-----",
    "password: tr0ub4dor&3",
)


def supersession() -> bool:
    """The newer of two ports takes the place of the older; three other pairs stay."""
    old, new = _REPLACED
    return contradicts(new, old) and not any(contradicts(b, a) for a, b in _BOTH_HOLD)


def packing() -> bool:
    """A preference, a decision and a setup fact land in their sections, and in no other's."""
    kinds = (MemoryType.USER_PREFERENCE, MemoryType.DECISION, MemoryType.SETUP_FACT)
    found = pack([_item(kind) for kind in kinds], [], "full")
    sections = (found.user_preferences, found.decisions, found.current_setup)
    return all(
        [one.memory_type for one in section] == [kind]
        for kind, section in zip(kinds, sections, strict=True)
    )


def _item(kind: str) -> Item:
    return Item(
        id=FactId(kind),
        score=1.0,
        content="An example",
        tier="warm",
        namespace="default",
        project=None,
        source="evaluate",
        metadata={"memoryType": kind},
        created_at=EPOCH,
        updated_at=EPOCH,
    )


def gate() -> bool:
    """What is no knowledge is refused."""
    return rejection("ok", max_length=None, force=False) is not None


def hygiene_lists() -> bool:
    """Each of the five lists finds what was prepared for it, and the summary counts it."""
    old, new = _REPLACED
    found = hygiene(
        [
            _fact("short", "Cats sleep"),
            _fact("stale", "The broker runs on host alpha", kind=MemoryType.SETUP_FACT, age=40.0),
            _fact("new", new),
            _fact("copy", old),
            _fact("orphan", "Backups are kept for a whole month", owed=11.0),
            _fact("twin", "Backups are kept for a whole month, always"),
        ],
        [
            SupersededFact(
                fact_id="old",
                content=old,
                namespace="default",
                project_id=None,
                superseded_by="new",
            )
        ],
        k=5,
    )
    counts = found.counts
    return (
        "short" in [one.fact_id for one in found.low_value]
        and {one.fact_id for one in found.stale} == {"stale", "copy"}
        and ("orphan", "twin") in found.duplicate_clusters
        and ("new", "copy") in [one.fact_ids for one in found.contradiction_candidates]
        and found.orphan_candidates == ("orphan",)
        and (counts.scanned, counts.stale, counts.orphan_candidates) == (6, 2, 1)
    )


def _fact(
    fact_id: str, content: str, kind: str | None = None, age: float = 0.0, owed: float | None = None
) -> HygieneFact:
    return HygieneFact(
        fact_id=fact_id,
        content=content,
        namespace="default",
        project_id=None,
        memory_type=kind,
        confidence=None,
        overall=None,
        base_days=None,
        age_days=age,
        vector_owed_minutes=owed,
    )


def retention() -> bool:
    """Every type has a policy, and the state of a deployment counts only while it is current."""
    is_current = RETENTION[MemoryType.DEPLOYMENT_STATE].policy == "current_only"
    return is_current and all(kind in RETENTION for kind in MEMORY_TYPES)


def secrets() -> bool:
    """Three shapes of a secret are guarded; the word alone is not."""
    return all(inferred(None, None, text)[0] == "sensitive" for text in _SECRETS) and (
        inferred(None, None, "The token limit is 4096")[0] == "private"
    )


RULES: Final[Mapping[str, Callable[[], bool]]] = {
    "newer fact supersedes older fact": supersession,
    "context pack groups typed memories": packing,
    "junk capture is rejected": gate,
    "hygiene report exposes review candidates": hygiene_lists,
    "memory-type retention policies are available": retention,
    "secrets are recognised": secrets,
}
"""By the name of the case, in order."""
