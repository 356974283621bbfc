from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from datetime import UTC, datetime, timedelta

import pytest

import graymatter_mcp.model
from graymatter_mcp.errors import ErrorCode, NoCheckpointsError, StoreClosedError
from graymatter_mcp.model.config import Config, EmbeddingMode, SignalWeights
from graymatter_mcp.model.facts import LEVELS, Confidence, Fact, FactKind, effective_confidence
from graymatter_mcp.model.ids import UNSET, FactId, Namespace
from graymatter_mcp.model.times import from_microseconds, to_microseconds

START = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


@pytest.mark.parametrize(
    ("stored", "label", "level"),
    [
        ("verified", Confidence.VERIFIED, 2),
        ("inferred", Confidence.INFERRED, 1),
        ("", Confidence.INFERRED, 1),
        ("unverified", Confidence.UNVERIFIED, 0),
        ("Verified", Confidence.UNVERIFIED, 0),
        ("of old", Confidence.UNVERIFIED, 0),
    ],
)
def test_a_stored_label_is_read_as_the_contract_says(
    stored: str, label: Confidence, level: int
) -> None:
    """Contract 4.4; C50, C53."""
    assert effective_confidence(stored) is label
    assert LEVELS[effective_confidence(stored)] == level


def test_a_fact_without_the_newer_fields_is_live_unpinned_legacy_content() -> None:
    """C50."""
    fact = Fact(
        id=FactId("x"), agent_id=Namespace("a"), text="t", created_at=START, accessed_at=START
    )
    assert (fact.is_superseded, fact.pinned, fact.pinned_at) == (False, False, None)
    assert (fact.confidence, fact.kind, fact.alias_source) == ("", FactKind.CONTENT, "")
    assert (fact.weight, fact.access_count) == (1.0, 0)


def test_every_value_is_frozen_slotted_and_built_by_keyword() -> None:
    """House, types: values cannot change under a reader."""
    modules = [
        importlib.import_module(f"graymatter_mcp.model.{module.name}")
        for module in pkgutil.iter_modules(graymatter_mcp.model.__path__)
    ]
    values = {
        value
        for module in modules
        for value in vars(module).values()
        if dataclasses.is_dataclass(value) and isinstance(value, type)
    }
    assert Fact in values
    assert Config in values
    for value in values:
        assert "__slots__" in vars(value), value
        assert all(field.kw_only for field in dataclasses.fields(value)), value
        assert value.__dataclass_params__.frozen, value  # type: ignore[attr-defined] - typeshed hides it


def test_not_given_has_one_spelling() -> None:
    """Contract 9."""
    assert repr(UNSET) == "UNSET"
    assert UNSET is type(UNSET)("unset")


def test_times_keep_their_microseconds() -> None:
    """Contract 4.1."""
    for moment in (START, START - timedelta(days=365 * 120), START + timedelta(microseconds=1)):
        assert from_microseconds(to_microseconds(moment)) == moment


def test_the_defaults_are_those_of_the_contract() -> None:
    """Contract 9.3, the table."""
    config = Config()
    config.check()
    assert config.weights == SignalWeights(vector=1.0, keyword=1.0, recency=0.5)
    assert (config.top_k, config.min_relevance, config.confidence_weight) == (8, 0.0, 0.0)
    assert (config.embedding_mode, config.is_keyword_only) == (EmbeddingMode.AUTO, False)
    assert (config.stem_keywords, config.stem_language) == (True, "english")
    assert (config.decay_half_life, config.consolidate_threshold) == (timedelta(hours=720), 20)
    assert (config.async_consolidate, config.max_async_consolidations) == (True, 2)
    assert config.vector_reconcile_interval == timedelta(seconds=30)
    assert (config.knowledge_graph, config.usage_alias, config.usage_alias_affinity) == (
        False,
        False,
        3,
    )
    assert (config.read_only, config.strict_write) == (False, False)


def test_typed_absence_and_a_closed_store_say_the_phrases_that_are_contract() -> None:
    """Contract 3.6: `no checkpoints for agent` and `not initialised`."""
    assert str(NoCheckpointsError("ana")) == 'no checkpoints for agent "ana"'
    assert "not initialised" in str(StoreClosedError())
    assert StoreClosedError.code is ErrorCode.STORE_UNAVAILABLE
