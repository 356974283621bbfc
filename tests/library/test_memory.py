from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from graymatter_mcp import (
    SHARED_AGENT_ID,
    AsyncMemory,
    CheckpointNotFoundError,
    Config,
    Fact,
    FactChangedError,
    FactNotFoundError,
    InvalidArgumentError,
    Memory,
    Message,
    NoCheckpointsError,
    Origin,
    RecallOptions,
    StoreClosedError,
    WriteOptions,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from graymatter_mcp.model.checkpoints import JsonObject

NONE: Any = None


def test_what_is_remembered_is_recalled_at_once_and_after_reopening(config: Config) -> None:
    """Contract 9.1, F22, C62."""
    with Memory(config=config) as memory:
        memory.remember("ana", "deploys run on Tuesday")
        fact = memory.remember_with_options(
            "ana", "lunch is at noon", WriteOptions(confidence="verified")
        )
        assert memory.recall("ana", "deploys")[0] == "deploys run on Tuesday"
    with Memory(config=config) as memory:
        assert memory.recall("ana", "lunch")[0] == "lunch is at noon"
        sure = memory.recall_with_options("ana", "lunch", RecallOptions(min_confidence="verified"))
        assert sure.facts == ("lunch is at noon",)
        assert [one for one in memory.advanced().list("ana") if one.id == fact.id] == [
            replace(fact, access_count=3, accessed_at=memory.advanced().list("ana")[0].accessed_at)
        ]


def test_shared_facts_are_recalled_alone_and_together_with_own_ones(memory: Memory) -> None:
    """Contract 9.1, scopes."""
    memory.remember("ana", "own deploys run on Tuesday")
    memory.remember_shared("shared deploys need approval")
    fact = memory.remember_shared_with_options("shared lunch", WriteOptions())
    assert fact.agent_id == SHARED_AGENT_ID
    assert memory.recall_shared("deploys")[0] == "shared deploys need approval"
    assert set(memory.recall_all("ana", "deploys")[:2]) == {
        "own deploys run on Tuesday",
        "shared deploys need approval",
    }
    options = RecallOptions(confidence_weight=0.2)
    assert memory.recall_shared_with_options("deploys", options).retrieval is not None
    assert memory.recall_all_with_options("ana", "deploys", options).retrieval is not None
    explained = memory.recall_explain_with_options("ana", "deploys", options)
    assert [one.text for one in explained.receipts] == ["own deploys run on Tuesday"]


def mistakes(memory: Memory) -> dict[str, Callable[[], object]]:
    """Return calls whose options break a rule."""

    def write(confidence: Any) -> Callable[[], object]:
        options = WriteOptions(confidence=confidence)
        return partial(memory.remember_with_options, "a", "t", options)

    def read(**options: Any) -> Callable[[], object]:
        return partial(memory.recall_with_options, "a", "q", RecallOptions(**options))

    label, weight = RecallOptions(min_confidence=NONE), RecallOptions(confidence_weight=NONE)
    store = memory.advanced()
    return {
        "write none": write(None),
        "write case": write("Verified"),
        "write number": write(1),
        "none": read(min_confidence=None),
        "none weight": read(confidence_weight=None),
        "unknown": read(min_confidence="sure"),
        "too much": read(confidence_weight=0.51),
        "negative": read(confidence_weight=-0.01),
        "not a number": read(confidence_weight=float("nan")),
        "boolean": read(confidence_weight=True),
        "text": read(confidence_weight="0.1"),
        "all": partial(memory.recall_all_with_options, "a", "q", label),
        "shared": partial(memory.recall_shared_with_options, "q", label),
        "explain": partial(memory.recall_explain_with_options, "a", "q", weight),
        "batch": partial(store.batch_recall_with_options, "a", ["q"], label, 3),
        "revise": partial(
            store.revise_with_options, "a", "kept", "t", WriteOptions(confidence=NONE)
        ),
    }


def test_an_explicit_none_and_a_value_out_of_range_are_errors(memory: Memory) -> None:
    """Contract 9: `UNSET` means "not given", which is not `None`; C33."""
    fact = memory.advanced().put_returning_fact("a", "kept")
    for name, call in mistakes(memory).items():
        with pytest.raises(InvalidArgumentError):
            pytest.fail(f"{name}: {call()}")
    assert memory.advanced().list("a") == [fact]


@pytest.mark.parametrize("top_k", [0, -1])
def test_raw_recalls_return_nothing_for_no_facts_and_the_others_eight(
    memory: Memory, top_k: int
) -> None:
    """C51."""
    store = memory.advanced()
    for number in range(9):
        store.put("ana", f"deploys {number}")
        store.put_shared(f"shared deploys {number}")
    assert store.recall("ana", "deploys", top_k) == []
    assert store.recall_shared("deploys", top_k) == []
    assert store.recall_all("ana", "deploys", top_k) == []
    assert store.recall_explain("ana", "deploys", top_k) == []
    options = RecallOptions()
    assert len(store.recall_with_options("ana", "deploys", options, top_k).facts) == 8
    assert len(store.recall_shared_with_options("deploys", options, top_k).facts) == 8
    assert len(store.recall_all_with_options("ana", "deploys", options, top_k).facts) == 8
    assert len(store.recall_explain_with_options("ana", "deploys", options, top_k).receipts) == 8
    batch = store.batch_recall_with_options("ana", ["deploys"], options, top_k)
    assert len(batch.merged) == 8


def test_raw_recalls_ignore_the_configured_weight(config: Config) -> None:
    """Contract 9.2: raw, weight always 0; the order is that of the labels otherwise."""
    with Memory.open(replace(config, confidence_weight=0.5)) as memory:
        store = memory.advanced()
        for label in ("verified", "unverified"):
            options = WriteOptions(confidence=label)
            store.put_with_options_returning_fact("ana", f"deploys {label}", options)
        by_label = ["deploys verified", "deploys unverified"]
        assert store.default_confidence_weight() == 0.5
        assert memory.recall("ana", "") == by_label
        assert store.recall("ana", "", 5) == by_label[::-1]
        raw = store.recall_explain("ana", "", 5)
        assert [(one.text, one.ranking) for one in raw] == [(text, None) for text in by_label[::-1]]


def test_facts_are_revised_retired_pinned_and_deleted_by_identity(memory: Memory) -> None:
    """Contract 9.2."""
    store = memory.advanced()
    first = store.put_returning_fact("ana", "the port is 1")
    second = store.revise_with_options("ana", "the port is 1", "the port is 2", WriteOptions())
    assert (second.confidence, second.origin) == ("inferred", Origin(source="library"))
    with pytest.raises(FactChangedError):
        store.revise_facts_with_options("ana", [first], "the port is 3", WriteOptions())
    third = store.revise_facts_with_options("ana", [second], "the port is 3", WriteOptions())
    store.set_pinned("ana", [third.id], True)
    store.retire("ana", [third.id])
    listed = {fact.id: fact for fact in store.list("ana")}
    assert listed[first.id].superseded_by == second.id
    assert listed[second.id].superseded_by == third.id
    assert (listed[third.id].superseded_by, listed[third.id].pinned) == ("agent", True)
    store.delete("ana", first.id)
    assert {fact.id for fact in store.list("ana")} == {second.id, third.id}
    assert store.list_agents() == ["ana"]
    assert store.stats("ana").fact_count == 2
    assert store.stats("nobody").fact_count == 0


def test_a_record_is_replaced_but_never_created_or_revived(memory: Memory) -> None:
    """Contract 9.2, 4.3: `update_fact`."""
    store = memory.advanced()
    fact = store.put_returning_fact("ana", "deploys run")
    store.update_fact("ana", replace(fact, text="deploys walk", confidence="verified", weight=0.5))
    (changed,) = store.list("ana")
    assert changed == replace(fact, text="deploys walk", confidence="verified", weight=0.5)
    assert memory.recall("ana", "walk") == ["deploys walk"]
    store.retire("ana", [fact.id])
    store.update_fact("ana", replace(changed, superseded_by="", pinned=True))
    (retired,) = store.list("ana")
    assert (retired.superseded_by, retired.pinned) == ("agent", True)
    store.delete("ana", fact.id)
    with pytest.raises(FactNotFoundError):
        store.update_fact("ana", fact)
    assert store.list("ana") == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("weight", -0.1),
        ("weight", 1.1),
        ("weight", float("nan")),
        ("access_count", -1),
        ("access_count", 2**63),
        ("accessed_at", datetime(2026, 3, 1)),  # noqa: DTZ001 - the mistake itself
        ("confidence", "half \ud800"),
        ("text", "nul \x00"),
        ("text", ""),
    ],
)
def test_a_record_that_no_store_could_give_back_is_refused(
    memory: Memory, field: str, value: Any
) -> None:
    """Contract 4.1, 9.4: our error, nothing written, and the next write works."""
    store = memory.advanced()
    fact = store.put_returning_fact("ana", "deploys run")
    with pytest.raises(InvalidArgumentError):
        store.update_fact("ana", replace(fact, **{field: value}))
    assert store.list("ana") == [fact]
    memory.remember("ana", "lunch")
    assert len(store.list("ana")) == 2


@pytest.mark.parametrize(
    "state", [{"at": datetime(2026, 3, 1, tzinfo=UTC)}, {"x": float("nan")}, {"x": "\ud800"}]
)
def test_a_checkpoint_that_could_not_come_back_is_refused(memory: Memory, state: Any) -> None:
    """Contract 7: what goes in comes back."""
    store = memory.advanced()
    with pytest.raises(InvalidArgumentError, match="JSON"):
        store.save_checkpoint("ana", state)
    with pytest.raises(InvalidArgumentError, match="JSON"):
        store.save_checkpoint("ana", messages=[Message(role="user", content="\ud800")])
    assert store.list_checkpoints("ana") == []


def test_a_state_as_deep_as_readers_go_is_saved_and_one_level_more_is_refused(
    memory: Memory,
) -> None:
    """Contract 7: the same edge as at the door of tools, whoever asks."""
    store = memory.advanced()
    deep: JsonObject = {}
    for _ in range(100):
        deep = {"x": deep}
    saved = store.save_checkpoint("ana", deep)
    with pytest.raises(InvalidArgumentError, match="deeper than"):
        store.save_checkpoint("ana", {"x": deep})
    assert store.list_checkpoints("ana") == [saved]


def test_options_are_read_once_and_aliases_and_counters_are_there(memory: Memory) -> None:
    """Contract 9.2: the rest of the raw store."""
    store = memory.advanced()
    alias = store.put_alias("ana", "deploy", ["rollout", " "])
    assert alias.alias is not None
    assert alias.alias.equivalents == ("rollout",)
    store.put("ana", "the rollout is Tuesday")
    assert store.recall_explain("ana", "deploy", 1)[0].ranks.keyword_rank == 1
    assert store.consolidation_counters() == {"consolidations": 0, "facts_consolidated": 0}
    with pytest.raises(InvalidArgumentError):
        store.put_alias("ana", "deploy", [" "])


def test_consolidation_is_asked_for_with_any_object_that_fits(memory: Memory) -> None:
    """Contract 9.2: `ConsolidateConfig` is a protocol; `Config` fits it."""
    store = memory.advanced()
    fact = store.put_returning_fact("ana", "deploys run")
    old = replace(fact, accessed_at=fact.accessed_at - timedelta(hours=720))
    store.update_fact("ana", old)
    store.maybe_consolidate("ana", Config(consolidate_threshold=2))
    assert store.list("ana")[0].weight == 1.0
    store.maybe_consolidate("ana", Config(consolidate_threshold=1))
    assert round(store.list("ana")[0].weight, 3) == 0.5
    store.consolidate("ana", Config(decay_half_life=timedelta(hours=360)))
    assert round(store.list("ana")[0].weight, 3) == 0.25
    memory.consolidate("ana")
    assert round(store.list("ana")[0].weight, 3) == 0.25


def test_checkpoints_are_saved_resumed_and_loaded_by_id(memory: Memory) -> None:
    """Contract 7."""
    store = memory.advanced()
    with pytest.raises(NoCheckpointsError):
        store.resume_checkpoint("ana")
    first = store.save_checkpoint("ana", {"step": 1, "big": 12345678901234567890})
    second = store.save_checkpoint(
        "ana", messages=[Message(role="user", content="hi")], metadata={"source": "test"}
    )
    assert store.resume_checkpoint("ana") == second
    assert store.load_checkpoint("ana", first.id) == first
    assert store.list_checkpoints("ana") == [second, first]
    with pytest.raises(CheckpointNotFoundError):
        store.load_checkpoint("ana", "nothing")


def test_eight_threads_at_once_lose_and_mix_nothing(memory: Memory) -> None:
    """Contract 9: `Memory` is safe to use from several threads."""
    gate = threading.Barrier(8)

    def work(number: int) -> list[list[str]]:
        gate.wait()
        answers: list[list[str]] = []
        for step in range(12):
            memory.remember(f"agent {number}", f"deploys of {number} step {step}")
            answers.append(memory.recall(f"agent {number}", f"step {step}"))
            memory.advanced().put_shared(f"shared {number} {step}")
        return answers

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(work, range(8)))
    for number, of_agent in enumerate(answers):
        for step, found in enumerate(of_agent):
            assert found[0] == f"deploys of {number} step {step}"
            assert all(text.startswith(f"deploys of {number} ") for text in found)
    store = memory.advanced()
    assert [len(store.list(f"agent {number}")) for number in range(8)] == [12] * 8
    assert len({fact.text for fact in store.list(SHARED_AGENT_ID)}) == 96


def everything(memory: Memory, fact: Fact) -> list[Callable[[], object]]:
    """Return every call of both facades on an open memory."""
    store, write, read = memory.advanced(), WriteOptions(), RecallOptions()
    return [
        memory.config,
        memory.advanced,
        partial(memory.remember, "a", "t"),
        partial(memory.remember_with_options, "a", "t", write),
        partial(memory.remember_shared, "t"),
        partial(memory.remember_shared_with_options, "t", write),
        partial(memory.recall, "a", "q"),
        partial(memory.recall_shared, "q"),
        partial(memory.recall_all, "a", "q"),
        partial(memory.recall_with_options, "a", "q", read),
        partial(memory.recall_shared_with_options, "q", read),
        partial(memory.recall_all_with_options, "a", "q", read),
        partial(memory.recall_explain_with_options, "a", "q", read),
        partial(memory.consolidate, "a"),
        partial(memory.wait_until_settled, 1.0),
        partial(store.put, "a", "t"),
        partial(store.put_shared, "t"),
        partial(store.put_returning_fact, "a", "t"),
        partial(store.put_with_options_returning_fact, "a", "t", write),
        partial(store.revise_with_options, "a", "t", "u", write),
        partial(store.revise_facts_with_options, "a", [fact], "u", write),
        partial(store.retire, "a", [fact.id]),
        partial(store.set_pinned, "a", [fact.id], True),
        partial(store.recall, "a", "q", 1),
        partial(store.recall_shared, "q", 1),
        partial(store.recall_all, "a", "q", 1),
        partial(store.recall_explain, "a", "q", 1),
        partial(store.recall_with_options, "a", "q", read, 1),
        partial(store.recall_explain_with_options, "a", "q", read, 1),
        partial(store.recall_shared_with_options, "q", read, 1),
        partial(store.recall_all_with_options, "a", "q", read, 1),
        partial(store.batch_recall_with_options, "a", ["q"], read, 1),
        partial(store.put_alias, "a", "t", ["u"]),
        partial(store.list, "a"),
        store.list_agents,
        partial(store.stats, "a"),
        partial(store.update_fact, "a", fact),
        partial(store.delete, "a", fact.id),
        partial(store.maybe_consolidate, "a", Config()),
        partial(store.consolidate, "a", Config()),
        store.consolidation_counters,
        store.default_confidence_weight,
        partial(store.set_graph, None, None),
        partial(store.save_checkpoint, "a"),
        partial(store.resume_checkpoint, "a"),
        partial(store.load_checkpoint, "a", "c"),
        partial(store.list_checkpoints, "a"),
    ]


def test_after_close_every_call_raises_the_typed_error_and_close_is_fine(memory: Memory) -> None:
    """Contract 9.1."""
    fact = memory.advanced().put_returning_fact("a", "t")
    calls = everything(memory, fact)
    memory.close()
    memory.close()
    for call in calls:
        with pytest.raises(StoreClosedError):
            call()


def test_the_asynchronous_facade_refuses_alike_after_close(config: Config) -> None:
    """Contract 9.1; a batch does not wrap the error in a group."""

    async def main() -> None:
        async with AsyncMemory(config=config) as memory:
            store = memory.advanced()
            fact = await store.put_returning_fact("a", "t")
            assert await memory.recall("a", "t") == ["t"]
        await memory.close()
        for call in (
            partial(memory.recall, "a", "q"),
            partial(store.list, "a"),
            partial(store.update_fact, "a", fact),
            partial(store.batch_recall_with_options, "a", ["q"], RecallOptions(), 1),
            partial(store.recall_all, "a", "q", 1),
            store.default_confidence_weight,
        ):
            with pytest.raises(StoreClosedError):
                await call()
        with pytest.raises(StoreClosedError):
            store.set_graph(None, None)

    anyio.run(main)


class Worker(threading.Thread):
    """Writes or reads until the memory is closed; keeps what was acknowledged, and what failed."""

    def __init__(self, memory: Memory, number: int, begun: threading.Barrier) -> None:
        super().__init__(daemon=True)
        self._memory, self._number, self._begun = memory, number, begun
        self.stored: list[str] = []
        self.failure: BaseException | None = None

    def run(self) -> None:
        """See the class."""
        self._begun.wait()
        try:
            for step in range(100_000):
                self._step(f"{id(self)} step {step}")
        except StoreClosedError:
            return
        except BaseException as exc:  # noqa: BLE001 - judged in the test's own thread
            self.failure = exc

    def _step(self, text: str) -> None:
        if self._number % 2:
            self._memory.recall("a", text)
        else:
            self._memory.remember("a", text)
            self.stored.append(text)


def test_closing_while_others_work_lets_each_call_end_in_an_answer_or_a_typed_error(
    config: Config,
) -> None:
    """Contract 9.1, C71: nobody waits for ever, and what was answered is stored."""
    stored: set[str] = set()
    for _ in range(8):
        memory = Memory.open(config)
        begun = threading.Barrier(9)
        workers = [Worker(memory, number, begun) for number in range(8)]
        for worker in workers:
            worker.start()
        begun.wait()
        memory.recall("a", "anything")
        memory.close()
        for worker in workers:
            worker.join(60)
            assert (worker.is_alive(), worker.failure) == (False, None)
            stored.update(worker.stored)
    assert stored
    with Memory.open(config) as memory:
        assert stored <= {fact.text for fact in memory.advanced().list("a")}
