"""What a write leaves behind: all of it, or none."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from contract_tests.clients import RawClient, reply_of
from contract_tests.inside import engine, engine_with, keyword_config, serving
from contract_tests.manifest import promise
from graymatter_mcp import (
    CommittedButFailedError,
    Config,
    FactChangedError,
    FactNotFoundError,
    Memory,
    ReadOnlyError,
    WriteOptions,
)
from graymatter_mcp.embedding.hashed import HashedEmbedder
from graymatter_mcp.engine.base import Memory as MemoryProtocol
from graymatter_mcp.store.duckdb.store import DuckDBStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from contract_tests.caller import Caller
    from graymatter_mcp.embedding.base import Windows
    from graymatter_mcp.store.base import PendingVector


class _Counting(HashedEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()

    def embed(self, texts: Sequence[str]) -> list[Windows]:
        """Embed and count."""
        self.seen.update(texts)
        return super().embed(texts)


@promise("writes:thirty-at-once")
def test_thirty_identical_adds_at_once_make_thirty_facts(newest: Caller, agent: str) -> None:
    """Contract C63: each answered with its own id, on one connection."""
    client = newest.client
    assert isinstance(client, RawClient)
    arguments = {"agent_id": agent, "text": "The same", "confidence": "inferred"}
    requests = [client.call_request("memory_add", arguments) for _ in range(30)]
    client.wire.send(*requests)
    answers = [client.wire.receive() for _ in requests]
    assert {answer["id"] for answer in answers} == {request["id"] for request in requests}
    replies = [newest.checked("memory_add", reply_of(answer)) for answer in answers]
    ids = {reply.structured["fact_id"] for reply in replies}
    assert len(ids) == 30
    assert newest.facts(agent) == ["The same"]
    newest.reflect("update", agent, target="The same", text="Another")
    (receipt,) = newest.receipts(agent)
    assert set(receipt["provenance"]["supersedes"]) == ids


class _Raced(DuckDBStore):
    """Lets a write in just before the store is asked what still has no vector."""

    writes: ClassVar[list[Callable[[], None]]] = []

    def pending_vectors(self, limit: int) -> list[PendingVector]:
        """Write once, then look."""
        if self.writes:
            self.writes.pop()()
        return super().pending_vectors(limit)


@promise("writes:thirty-at-once")
def test_each_fact_is_embedded_once(tmp_path: Path) -> None:
    """Contract C63: also when its writer and a reconciliation both ask for its vector."""
    embedder = _Counting()
    config = Config(
        data_dir=tmp_path,
        async_consolidate=False,
        vector_reconcile_interval=timedelta(milliseconds=20),
    )
    with (
        engine_with(lambda: embedder, config, _Raced) as opened,
        serving(opened.memory) as caller,
    ):
        assert opened.run(opened.memory.wait_until_settled, 60)
        _Raced.writes.append(partial(caller.add, "a", *["Raced"] * 30))
        caller.add("a", *["The same"] * 30)
        # The model's thread writes before its next look, which the interval brings.
        while embedder.seen.total() < 60:
            assert opened.run(opened.memory.wait_until_settled, 60)
        assert opened.run(opened.memory.status).pending_vector_ops == 0
        assert embedder.seen == {"The same": 30, "Raced": 30}


@promise("writes:read-only")
def test_a_read_only_store_refuses_writes_and_goes_on_reading(tmp_path: Path) -> None:
    """Contract C64, C40: and an update that cannot be written retires nothing."""
    with Memory.open(keyword_config(tmp_path)) as memory:
        memory.remember("a", "Kept")
        memory.advanced().save_checkpoint("a", {"step": 1})
    config = keyword_config(tmp_path, read_only=True)
    with engine(config) as opened, serving(opened.memory) as caller:
        for tool, arguments, prefix in (
            ("memory_add", {"text": "New"}, "remember error"),
            ("memory_add", {"text": "New", "confidence": "verified"}, "remember failed"),
            ("memory_alias", {"term": "x", "equivalents": ["y"]}, "alias error"),
            ("checkpoint_save", {"state": {"step": 2}}, "checkpoint save error"),
            ("memory_reflect", {"action": "add", "text": "New"}, "add failed"),
            (
                "memory_reflect",
                {"action": "update", "target": "Kept", "text": "New"},
                "update failed",
            ),
            ("memory_reflect", {"action": "forget", "target": "Kept"}, "suppress fact"),
            ("memory_reflect", {"action": "pin", "target": "Kept"}, "pin failed"),
            ("memory_reflect", {"action": "link", "target": "x", "text": "y"}, "link nodes"),
        ):
            text = caller.refused(tool, agent_id="a", **arguments)
            assert text == f"{prefix}: store is read-only"
        assert caller.facts("a", "kept") == ["Kept"]
        assert caller.receipts("a", "kept")[0]["text"] == "Kept"
        assert caller.ok("checkpoint_resume", agent_id="a")["state"] == {"step": 1}


@promise("writes:read-only")
def test_a_strict_writer_does_not_open_where_only_reading_is_possible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Contract C64: the fallback is reading, unless it is refused."""
    with Memory.open(keyword_config(tmp_path)) as memory:
        memory.remember("a", "Kept")
    # Modes would not do: whoever runs the tests as root may write anywhere.
    access = os.access

    def read_only(path: Path, mode: int) -> bool:
        return mode != os.W_OK and access(path, mode)

    monkeypatch.setattr(os, "access", read_only)
    with pytest.raises(ReadOnlyError):
        Memory.open(keyword_config(tmp_path, strict_write=True))
    with Memory.open(keyword_config(tmp_path)) as memory:
        assert memory.recall("a", "kept") == ["Kept"]
        with pytest.raises(ReadOnlyError):
            memory.remember("a", "New")


@promise("writes:all-or-nothing")
def test_a_source_that_moved_stops_the_whole_update(tmp_path: Path) -> None:
    """Contract C40, section 6: nothing is written, nothing else retired."""
    with Memory.open(keyword_config(tmp_path)) as memory:
        store = memory.advanced()
        first = store.put_returning_fact("a", "First")
        second = store.put_returning_fact("a", "Second")
        store.update_fact("a", replace(second, confidence="verified"))
        with pytest.raises(FactChangedError):
            store.revise_facts_with_options("a", [first, second], "Both", WriteOptions())
        records = {fact.text: fact for fact in store.list("a")}
        assert records.keys() == {"First", "Second"}
        assert not any(fact.is_superseded for fact in records.values())


@promise("writes:update-fact-is-safe")
def test_a_record_update_never_creates_and_never_revives(tmp_path: Path) -> None:
    """Contract 4.3."""
    with Memory.open(keyword_config(tmp_path)) as memory:
        store = memory.advanced()
        gone = store.put_returning_fact("a", "Gone")
        store.delete("a", gone.id)
        with pytest.raises(FactNotFoundError):
            store.update_fact("a", gone)
        retired = store.put_returning_fact("a", "Retired")
        store.retire("a", [retired.id])
        store.update_fact("a", replace(retired, confidence="verified"))
        (fact,) = store.list("a")
        assert (fact.superseded_by, fact.confidence) == ("agent", "verified")
        assert memory.recall("a", "retired") == []


@promise("writes:pin-and-label")
def test_a_pin_loses_no_label_that_was_changed_meanwhile(tmp_path: Path) -> None:
    """Contract C42: a pin touches its own field of the freshly read record."""
    with engine(keyword_config(tmp_path)) as opened, serving(opened.memory) as caller:
        for action, is_pinned in (("pin", True), ("unpin", False)):
            caller.add("a", action, confidence="unverified")
            (seen, *_) = opened.run(opened.memory.list_facts, "a")
            opened.run(
                opened.memory.update_fact,
                "a",
                replace(seen, confidence="verified", pinned=not is_pinned),
            )
            # By the id that was looked up before the label changed.
            opened.run(opened.memory.pin_facts, "a", [seen.id], is_pinned)
            (now, *_) = opened.run(opened.memory.list_facts, "a")
            assert (now.id, now.pinned, now.confidence) == (seen.id, is_pinned, "verified")


class _FailsAfterCommit:
    """Commits through the real memory, then reports what a later phase would."""

    def __init__(self, memory: MemoryProtocol) -> None:
        self._memory = memory

    def __getattr__(self, name: str) -> Any:
        return getattr(self._memory, name)

    async def remember(self, request: Any) -> Any:
        """Commit, then fail."""
        fact = await self._memory.remember(request)
        raise CommittedButFailedError(fact, "the index could not be refreshed")

    async def revise(self, *arguments: Any) -> Any:
        """Commit, then fail."""
        revision = await self._memory.revise(*arguments)
        raise CommittedButFailedError(revision.replacement, "the index could not be refreshed")


@promise("writes:failure-after-commit")
def test_a_failure_after_the_commit_names_the_fact_that_is_there(tmp_path: Path) -> None:
    """Contract C60."""
    with engine(keyword_config(tmp_path)) as opened:
        memory: Any = _FailsAfterCommit(opened.memory)
        with serving(memory) as caller:
            for tool, arguments, verb, label in (
                ("memory_add", {"text": "One"}, "remember", "inferred"),
                ("memory_add", {"text": "Two", "confidence": "verified"}, "remember", "verified"),
                (
                    "memory_reflect",
                    {"action": "update", "target": "Two", "text": "Three"},
                    "update",
                    "inferred",
                ),
            ):
                text = caller.refused(tool, agent_id="a", **arguments)
                receipt = caller.receipts("a")[0]
                assert receipt["text"] == arguments["text"]
                fact_id = receipt["provenance"]["fact_id"]
                assert text == (
                    f"{verb} failed after committing fact_id {fact_id} (confidence {label}):"
                    " the index could not be refreshed"
                )


@promise("writes:same-text-twice")
def test_the_same_text_twice_is_two_facts(caller: Caller, agent: str) -> None:
    """Contract 3.4."""
    ids = {
        caller.ok("memory_add", agent_id=agent, text="Twice", confidence="inferred")["fact_id"]
        for _ in range(2)
    }
    assert len(ids) == 2
    assert all(len(fact_id) == 26 for fact_id in ids)
