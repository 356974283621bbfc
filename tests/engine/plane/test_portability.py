"""Facts leave one user's memory and arrive in another's as they were."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.errors import ReadOnlyError
from graymatter_mcp.model.access import LOCAL_CALLER, Rights
from graymatter_mcp.model.plane import EntryUpdate
from graymatter_mcp.model.reports import ImportEntry, ImportFailure
from graymatter_mcp.model.requests import CallKey
from tests.engine.plane.brain import Brain, as_import, without_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from anyio.from_thread import BlockingPortal


@pytest.fixture
def brain(portal: BlockingPortal, tmp_path: Path) -> Iterator[Brain]:
    """Open a data plane."""
    brain = Brain(portal, tmp_path / "gray.duckdb")
    yield brain
    brain.close()


def filled(brain: Brain) -> None:
    """Store facts of every kind: captured, raw, replaced, deprecated, guarded, of the core."""
    brain.capture("graymatter deployment uses port 7778", source_refs=("chat-1", "chat-2"))
    brain.capture("graymatter deployment uses port 7779", namespace="default")
    brain.remember("Backups are kept for thirty days", confidence=0.4, agent_name="ana")
    brain.remember("password: hunter2hunter!2", namespace="ops")
    old = brain.remember("The old wiki holds the runbooks", metadata={"team": "core"})
    update = EntryUpdate(id=str(old.id), metadata={"lifecycleStatus": "deprecated", "team": "core"})
    brain.run(brain.plane.update, LOCAL_CALLER, update)
    brain.core("Ana owns the release train", "verified")
    brain.search("release train")


def test_pages_hold_every_fact_once_by_id(brain: Brain) -> None:
    """D19: export pages to the end, ids ascending, all lifecycles and levels."""
    filled(brain)
    whole = brain.exported()
    assert [one.id for one in whole] == sorted({one.id for one in whole})
    assert len(whole) == 6
    assert brain.exported(limit=2) == whole
    assert {str(one.metadata.get("lifecycleStatus", "active")) for one in whole} == {
        "active",
        "superseded",
        "deprecated",
    }
    assert "sensitive" in [one.metadata["sensitivity"] for one in whole]


def test_a_round_trip_keeps_everything_but_the_ids(brain: Brain) -> None:
    """D19: labels, lifecycle and createdAt survive; nothing became verified."""
    filled(brain)
    before = brain.exported()
    heir = brain.user("heir")
    told = brain.take(as_import(before), heir)
    assert (told.imported, told.deduplicated, told.failed) == (6, 0, ())
    after = brain.exported(heir)
    assert [without_id(one) for one in after] == [
        # What only the core wrote has a life of its own once it was imported.
        without_id(
            replace(one, metadata={**one.metadata, "lifecycleStatus": "active"})
            if "lifecycleStatus" not in one.metadata
            else one
        )
        for one in before
    ]
    assert not {one.id for one in after} & {one.id for one in before}
    assert [one.confidence_label for one in after].count("verified") == 1


def test_supersession_is_mapped_within_the_request(brain: Brain) -> None:
    """Data-plane contract 8: both sides are mapped when both are in the request."""
    filled(brain)
    heir = brain.user("heir")
    brain.take(as_import(brain.exported()), heir)
    old, new, *_ = brain.exported(heir)
    assert old.metadata["supersededBy"] == new.id
    assert new.metadata["supersedes"] == [old.id]


def test_a_side_outside_the_request_is_dropped(brain: Brain) -> None:
    """Data-plane contract 8: else dropped; the fact stays superseded."""
    filled(brain)
    heir = brain.user("heir")
    brain.take(as_import(brain.exported()[:1]), heir)
    (old,) = brain.exported(heir)
    assert old.metadata["supersededBy"] is None
    assert (old.metadata["lifecycleStatus"], old.metadata["supersededReason"]) == (
        "superseded",
        "contradiction",
    )
    assert brain.search("deployment port", heir) == []


def test_importing_twice_adds_nothing(brain: Brain) -> None:
    """D19: again -> all deduplicated; not even a read is counted."""
    filled(brain)
    heir = brain.user("heir")
    entries = as_import(brain.exported())
    brain.take(entries, heir)
    before = brain.exported(heir)
    told = brain.take(entries, heir)
    assert (told.imported, told.deduplicated) == (0, 6)
    assert brain.exported(heir) == before


def test_a_twin_of_another_life_is_no_duplicate(brain: Brain) -> None:
    """Data-plane contract 8: equal content and lifecycle make a duplicate."""
    entry = ImportEntry(index=0, content="The queue is called jobs")
    retired = replace(entry, index=1, metadata={"lifecycleStatus": "superseded"})
    assert brain.take([entry, retired, replace(entry, index=2)]).imported == 2
    assert brain.take([replace(entry, namespace="other")]).imported == 1


def test_a_key_makes_an_import_take_effect_once(brain: Brain) -> None:
    """Data-plane contract 2.2: the first answer again, and no second effect."""
    bad = ImportFailure(index=1, error="content: is required")
    entries = [ImportEntry(index=0, content="The queue is called jobs")]
    key = CallKey(key="k1", digest="d1")
    first = brain.run(brain.plane.import_entries, LOCAL_CALLER, entries, [bad], None, key)
    again = brain.run(brain.plane.import_entries, LOCAL_CALLER, entries, [bad], None, key)
    assert (first.is_replayed, again.is_replayed) == (False, True)
    assert first.answer == again.answer
    assert (again.answer.imported, again.answer.failed) == (1, (bad,))


def test_what_cannot_be_stored_is_named(brain: Brain) -> None:
    """Data-plane contract 8: failed entries are named by their place."""
    told = brain.take(
        [
            ImportEntry(index=0, content="   "),
            ImportEntry(index=1, content="The queue is called jobs"),
            ImportEntry(index=2, content="A shelf of others", namespace="\x1fp/local/x\x1fdefault"),
        ]
    )
    assert told.imported == 1
    assert [one.index for one in told.failed] == [0, 2]


def test_server_keys_of_a_wrong_form_are_dropped(brain: Brain) -> None:
    """ADR 0042: an entry brings no key that the server would not have written."""
    metadata = {
        "memoryType": "prophecy",
        "retention": {"policy": "x", "baseEffectiveDays": 10**9},
        "worthiness": {"overall": 7},
        "recap": "yes",
        "mine": 1,
    }
    brain.take([ImportEntry(index=0, content="The queue is called jobs", metadata=metadata)])
    (entry,) = brain.exported()
    assert entry.metadata == {"mine": 1, "lifecycleStatus": "active", "sensitivity": "private"}


def test_an_expired_fact_is_not_exported(brain: Brain) -> None:
    """Data-plane contract 1.2: hidden from this instant on, swept later."""
    brain.remember("The guest code is blue seven", expires_at=brain.now.now + timedelta(hours=1))
    assert len(brain.exported()) == 1
    brain.now.forward(hours=2)
    assert brain.exported() == []


def test_a_reading_token_cannot_import(brain: Brain) -> None:
    """Data-plane contract 2.1: read_only tokens only read."""
    reader = replace(LOCAL_CALLER, rights=Rights(may_write=False))
    with pytest.raises(ReadOnlyError):
        brain.take([ImportEntry(index=0, content="The queue is called jobs")], reader)


def test_projects_are_exported_to_their_members_only(brain: Brain) -> None:
    """Data-plane contract 8: what the caller owns or shares."""
    ana, bob = brain.user("ana"), brain.user("bob")
    project = brain.plane.accounts.projects.create(ana, "shared")
    brain.remember("The team meets on Mondays", ana, project=project.id)
    assert [one.project_id for one in brain.exported(ana)] == [project.id]
    assert brain.exported(bob) == []
    brain.plane.accounts.projects.add_member(ana, project.id, "bob")
    assert [one.project_id for one in brain.exported(bob)] == [project.id]


def test_reads_of_a_marked_name_are_refused(brain: Brain) -> None:
    """Data-plane contract 1.1: nothing crosses the wall between owners."""
    ana = brain.user("ana")
    brain.remember("The vault is on the third floor", ana)
    name = next(one for one in brain.store.namespaces() if one.startswith("\x1f"))
    with pytest.raises(Exception, match="namespace must not begin"):
        brain.search("vault floor", namespace=str(name))
