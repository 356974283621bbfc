from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import graymatter_mcp
from graymatter_mcp import AdvancedStore, AsyncAdvancedStore, AsyncMemory, Config, Memory
from graymatter_mcp import errors as error_module

MEMORY = {
    "open", "remember", "remember_with_options", "remember_shared", "remember_shared_with_options",
    "recall", "recall_shared", "recall_all", "recall_with_options", "recall_shared_with_options",
    "recall_all_with_options", "recall_explain_with_options", "consolidate", "advanced", "config",
    "close",
}  # fmt: skip
ADVANCED = {
    "put", "put_shared", "put_returning_fact", "put_with_options_returning_fact",
    "revise_with_options", "revise_facts_with_options", "retire", "set_pinned", "recall",
    "recall_shared", "recall_all", "recall_explain", "recall_with_options",
    "recall_explain_with_options", "recall_shared_with_options", "recall_all_with_options",
    "batch_recall_with_options", "put_alias", "list", "list_agents", "stats", "update_fact",
    "delete", "maybe_consolidate", "consolidate", "consolidation_counters",
    "default_confidence_weight", "set_graph", "save_checkpoint", "resume_checkpoint",
    "load_checkpoint", "list_checkpoints",
}  # fmt: skip
BEYOND_THE_CONTRACT = {"wait_until_settled"}
TYPES = {
    "WriteOptions": ["confidence"],
    "RecallOptions": ["min_confidence", "confidence_weight"],
    "SignalWeights": ["vector", "keyword", "recency"],
    "PlaneConfig": [
        "max_entries", "writes_per_minute", "changes_kept", "audit_kept", "max_captured",
        "personal_terms", "decay_every", "decay_base_days", "fan_out"
    ],
    "MemoryStats": ["agent_id", "fact_count", "oldest_at", "newest_at", "avg_weight"],
    "RecallReceipt": [
        "text", "weight", "age_days", "ranks", "provenance", "kg_links", "ranking"
    ],
    "RecallRanks": ["vector_rank", "keyword_rank", "recency_rank", "fused_score", "k"],
    "Checkpoint": ["id", "agent_id", "created_at", "state", "messages", "metadata"],
    "Message": ["role", "content"],
}  # fmt: skip
CONFIG = {
    "data_dir", "top_k", "signal_weights", "min_relevance", "confidence_weight", "embedding_mode",
    "model", "stem_keywords", "stem_language", "decay_half_life", "consolidate_threshold",
    "async_consolidate", "max_async_consolidations", "vector_reconcile_interval",
    "knowledge_graph", "usage_alias", "usage_alias_affinity", "read_only", "strict_write",
    "plane",
}  # fmt: skip


def methods(kind: type) -> dict[str, Any]:
    """Return the public methods of a class."""
    return {
        name: value
        for name, value in inspect.getmembers(kind, inspect.isroutine)
        if not name.startswith("_")
    }


@pytest.mark.parametrize(
    ("blocking", "asynchronous", "promised"),
    [(Memory, AsyncMemory, MEMORY), (AdvancedStore, AsyncAdvancedStore, ADVANCED)],
)
def test_both_facades_have_every_method_with_the_same_parameters(
    blocking: type, asynchronous: type, promised: set[str]
) -> None:
    """Contract 9.1, 9.2: same names, `await`."""
    assert set(methods(blocking)) - BEYOND_THE_CONTRACT == promised
    assert set(methods(blocking)) == set(methods(asynchronous))
    for name, method in methods(blocking).items():
        one, other = inspect.signature(method), inspect.signature(methods(asynchronous)[name])
        assert list(one.parameters.values()) == list(other.parameters.values()), name
        if name not in {"open", "advanced"}:  # these give the facade itself
            assert one.return_annotation == other.return_annotation, name


def test_calls_of_the_asynchronous_facade_are_awaited_but_for_those_that_only_look() -> None:
    """Contract 9: same names, `await`."""
    plain = {
        name
        for kind in (AsyncMemory, AsyncAdvancedStore)
        for name, method in methods(kind).items()
        if not inspect.iscoroutinefunction(method)
    }
    assert plain == {"config", "advanced", "set_graph"}


@pytest.mark.parametrize("name", sorted(TYPES))
def test_a_value_has_its_fields_in_their_order(name: str) -> None:
    """Contract 9.3."""
    kind = getattr(graymatter_mcp, name)
    assert [field.name for field in dataclasses.fields(kind)] == TYPES[name]


def test_a_configuration_has_the_fields_of_this_version() -> None:
    """Contract 9.3; what later work brings is listed in docs/api-stability.md."""
    assert {field.name for field in dataclasses.fields(Config)} >= CONFIG
    assert graymatter_mcp.default_config() == Config()
    assert graymatter_mcp.default_signal_weights() == graymatter_mcp.SignalWeights(
        vector=1.0, keyword=1.0, recency=0.5
    )


def test_every_exported_name_is_there_and_every_error_is_exported() -> None:
    """Contract 9: exported by `graymatter_mcp`."""
    for name in graymatter_mcp.__all__:
        assert getattr(graymatter_mcp, name) is not None
    raised = {
        name
        for name, value in vars(error_module).items()
        if isinstance(value, type) and issubclass(value, error_module.GraymatterError)
    }
    assert raised <= set(graymatter_mcp.__all__)
    assert (graymatter_mcp.SHARED_AGENT_ID, graymatter_mcp.SUPERSEDED_BY_AGENT) == (
        "__shared__",
        "agent",
    )
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = graymatter_mcp.no_such_name


def test_the_page_on_stability_names_every_public_identifier() -> None:
    """Issue 2, item 8: stated in docs/api-stability.md."""
    page = (Path(__file__).parents[2] / "docs" / "api-stability.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)(?:\(\))?`", page))
    public = set(graymatter_mcp.__all__) | set(methods(Memory)) | set(methods(AdvancedStore))
    public |= {field.name for field in dataclasses.fields(Config)} & CONFIG
    public |= {code.value for code in graymatter_mcp.ErrorCode}
    assert public - named == set()
