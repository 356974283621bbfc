"""Items in the spelling of the wire."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from graymatter_mcp.model.items import Signals
from graymatter_mcp.policy.packs import pack
from graymatter_mcp.policy.shaping import shaped
from graymatter_mcp.surfaces.rest.bodies import encoded, item_json, pack_json, time_json
from tests.policy.items import item


def test_times_have_three_decimals_and_are_never_rounded_up() -> None:
    """Data-plane contract, notation."""
    assert time_json(datetime(2026, 5, 7, 8, 30, tzinfo=UTC)) == "2026-05-07T08:30:00.000Z"
    late = datetime(2026, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    assert time_json(late) == "2026-12-31T23:59:59.999Z"


def test_a_whole_item_with_all_its_keys() -> None:
    """Data-plane contract 2.7."""
    found = replace(
        item(1),
        truncated=True,
        signals=Signals(keyword=1.0, vector=0.5, graph=0.0, recency=0.0, entity=0.25),
    )
    assert item_json(found) == {
        "id": "0" * 25 + "1",
        "score": 0.5,
        "content": "text",
        "tier": "warm",
        "namespace": "default",
        "project": None,
        "source": "manual",
        "metadata": {"sensitivity": "private"},
        "sourceType": "chat",
        "capturedFrom": "call",
        "agentName": "ana",
        "confidence": 0.9,
        "createdAt": "2026-05-07T08:30:15.123Z",
        "updatedAt": "2026-05-08T08:30:15.123Z",
        "truncated": True,
        "signals": {"keyword": 1.0, "vector": 0.5, "graph": 0.0, "recency": 0.0, "entity": 0.25},
    }


def test_what_is_not_set_is_left_out_and_nought_is_set() -> None:
    """Data-plane contract 2.7: neighbours have one signal, `ids` no content."""
    bare = shaped(replace(item(1), project="p"), "ids")
    assert item_json(replace(bare, signals=Signals(graph=0.5))) == {
        "id": "0" * 25 + "1",
        "score": 0.5,
        "tier": "warm",
        "namespace": "default",
        "project": "p",
        "source": "manual",
        "createdAt": "2026-05-07T08:30:15.123Z",
        "updatedAt": "2026-05-08T08:30:15.123Z",
        "signals": {"graph": 0.5},
    }
    doubted = item_json(replace(item(1), confidence=0.0, metadata={}))
    assert (doubted["confidence"], doubted["metadata"]) == (0.0, {})


def test_a_pack_has_every_section() -> None:
    """Data-plane contract 3.1."""
    one = {
        "id": "0" * 25 + "1",
        "content": "text",
        "namespace": "default",
        "project": None,
        "memoryType": "decision",
        "createdAt": "2026-05-07T08:30:15.123Z",
    }
    empty = (
        "projectScoped userPreferences currentSetup projectConventions bugRootCauses"
        " deploymentState safetyConstraints pitfalls recentDecisions"
    )
    made = pack_json(pack([item(1, memory_type="decision")], []))
    assert made == {
        **{name: [] for name in empty.split()},
        "userGlobal": [one],
        "decisions": [one],
        "all": [one],
    }
    assert pack_json(pack([item(1)], [], "ids"))["all"] == [
        {name: one[name] for name in one if name not in {"content", "memoryType"}}
        | {"memoryType": None}
    ]


def test_bytes_are_compact_and_not_escaped() -> None:
    """What counts for `maxBytes` is what is sent."""
    assert encoded({"a": ["é", 1]}) == '{"a":["é",1]}'.encode()
    with pytest.raises(ValueError, match="JSON compliant"):
        encoded({"a": float("nan")})
