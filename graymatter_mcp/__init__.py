"""Long-term memory for AI agents; names are loaded on first use, importing costs nothing."""

from __future__ import annotations

from importlib import import_module

# Not from `typing`: every bridge passes here, and its import takes a third of their start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from graymatter_mcp.engine.graph import EntityExtractor, GraphAccessor
    from graymatter_mcp.errors import (
        CapabilityUnsupportedError,
        CheckpointNotFoundError,
        CommittedButFailedError,
        CommitUnknownError,
        ConflictError,
        CorruptRecordError,
        ErrorCode,
        FactChangedError,
        FactNotFoundError,
        ForbiddenError,
        GraymatterError,
        InvalidArgumentError,
        NoCheckpointsError,
        NoStoreError,
        NotFoundError,
        QuotaError,
        ReadOnlyError,
        RetryRecallError,
        RoutingConflictError,
        StoreClosedError,
        StoreUnavailableError,
        TokenNotFoundError,
        UnauthorizedError,
    )
    from graymatter_mcp.library.advanced import AsyncAdvancedStore, ConsolidateConfig
    from graymatter_mcp.library.aio import AsyncMemory
    from graymatter_mcp.library.blocking import AdvancedStore, Memory
    from graymatter_mcp.model.checkpoints import Checkpoint, Message
    from graymatter_mcp.model.config import (
        Config,
        EmbeddingMode,
        SignalWeights,
        default_config,
        default_signal_weights,
    )
    from graymatter_mcp.model.facts import Alias, Confidence, Fact, Origin
    from graymatter_mcp.model.ids import SHARED_AGENT_ID, SUPERSEDED_BY_AGENT, UNSET
    from graymatter_mcp.model.plane_config import PlaneConfig
    from graymatter_mcp.model.requests import RecallOptions, WriteOptions
    from graymatter_mcp.model.results import (
        BatchEntry,
        BatchRecallResult,
        ConfidenceRanking,
        MemoryStats,
        RecallExplainResult,
        RecallProvenance,
        RecallRanks,
        RecallReceipt,
        RecallResult,
        RetrievalMetadata,
    )

_HOME = {
    "engine.graph": "EntityExtractor GraphAccessor",
    "errors": (
        "CapabilityUnsupportedError CheckpointNotFoundError CommitUnknownError"
        " CommittedButFailedError ConflictError"
        " CorruptRecordError ErrorCode FactChangedError FactNotFoundError"
        " ForbiddenError GraymatterError InvalidArgumentError NoCheckpointsError NoStoreError"
        " NotFoundError QuotaError"
        " ReadOnlyError RetryRecallError RoutingConflictError StoreClosedError"
        " StoreUnavailableError TokenNotFoundError UnauthorizedError"
    ),
    "library.advanced": "AsyncAdvancedStore ConsolidateConfig",
    "library.aio": "AsyncMemory",
    "library.blocking": "AdvancedStore Memory",
    "model.checkpoints": "Checkpoint Message",
    "model.config": ("Config EmbeddingMode SignalWeights default_config default_signal_weights"),
    "model.facts": "Alias Confidence Fact Origin",
    "model.ids": "SHARED_AGENT_ID SUPERSEDED_BY_AGENT UNSET",
    "model.plane_config": "PlaneConfig",
    "model.requests": "RecallOptions WriteOptions",
    "model.results": (
        "BatchEntry BatchRecallResult ConfidenceRanking MemoryStats RecallExplainResult"
        " RecallProvenance RecallRanks RecallReceipt RecallResult RetrievalMetadata"
    ),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = [
    "SHARED_AGENT_ID",
    "SUPERSEDED_BY_AGENT",
    "UNSET",
    "AdvancedStore",
    "Alias",
    "AsyncAdvancedStore",
    "AsyncMemory",
    "BatchEntry",
    "BatchRecallResult",
    "CapabilityUnsupportedError",
    "Checkpoint",
    "CheckpointNotFoundError",
    "CommitUnknownError",
    "CommittedButFailedError",
    "Confidence",
    "ConfidenceRanking",
    "Config",
    "ConflictError",
    "ConsolidateConfig",
    "CorruptRecordError",
    "EmbeddingMode",
    "EntityExtractor",
    "ErrorCode",
    "Fact",
    "FactChangedError",
    "FactNotFoundError",
    "ForbiddenError",
    "GraphAccessor",
    "GraymatterError",
    "InvalidArgumentError",
    "Memory",
    "MemoryStats",
    "Message",
    "NoCheckpointsError",
    "NoStoreError",
    "NotFoundError",
    "Origin",
    "PlaneConfig",
    "QuotaError",
    "ReadOnlyError",
    "RecallExplainResult",
    "RecallOptions",
    "RecallProvenance",
    "RecallRanks",
    "RecallReceipt",
    "RecallResult",
    "RetrievalMetadata",
    "RetryRecallError",
    "RoutingConflictError",
    "SignalWeights",
    "StoreClosedError",
    "StoreUnavailableError",
    "TokenNotFoundError",
    "UnauthorizedError",
    "WriteOptions",
    "default_config",
    "default_signal_weights",
]


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{module}"), name)
