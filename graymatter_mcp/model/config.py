"""Everything that can be set, checked when a memory is opened."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final

from graymatter_mcp.errors import InvalidArgumentError
from graymatter_mcp.model.plane_config import PlaneConfig

MAX_CONFIDENCE_WEIGHT: Final = 0.5
BUNDLED_MODEL: Final = "all-MiniLM-L6-v2"


class EmbeddingMode(StrEnum):
    """How vectors are made: `auto` and `local` by the model, `keyword` not at all."""

    AUTO = "auto"
    LOCAL = "local"
    KEYWORD = "keyword"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalWeights:
    """Weight of each list, finite and >= 0; 0 takes the list out of the sum, its rank stays."""

    vector: float = 1.0
    keyword: float = 1.0
    recency: float = 0.5


def default_signal_weights() -> SignalWeights:
    """Return (1.0, 1.0, 0.5)."""
    return SignalWeights()


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings of one memory; each works alone."""

    data_dir: Path = field(default_factory=lambda: Path(".graymatter"))
    top_k: int = 8
    """Facts to return where the caller names no number; >= 1."""
    signal_weights: SignalWeights | None = None
    """None means `default_signal_weights`."""
    min_relevance: float = 0.0
    """In [0, 1]: the list ends below this share of the best score; 0 is off."""
    confidence_weight: float = 0.0
    """In [0, 0.5]: the weight that a recall without one takes."""
    embedding_mode: EmbeddingMode = EmbeddingMode.AUTO
    model: str = BUNDLED_MODEL
    """A sentence-transformers model by name or path; ``none`` means keyword only."""
    stem_keywords: bool = True
    stem_language: str = "english"
    decay_half_life: timedelta = timedelta(hours=720)
    consolidate_threshold: int = 20
    """Records a namespace must hold before a write may consolidate it; >= 1."""
    async_consolidate: bool = True
    max_async_consolidations: int = 2
    """Consolidations at once; further triggers are dropped."""
    vector_reconcile_interval: timedelta = timedelta(seconds=30)
    knowledge_graph: bool = False
    """Populate the graph from facts and let recalls end with hints from it."""
    usage_alias: bool = False
    usage_alias_affinity: int = 3
    """Characters of common prefix; -1 asks for none."""
    read_only: bool = False
    strict_write: bool = False
    """Fail to open where the fallback would be a read-only store."""
    force_network_fs: bool = False
    """Open a store on a network file system, at the risk of its owner."""
    plane: PlaneConfig = field(default_factory=PlaneConfig)
    """Of the data plane."""

    @property
    def is_keyword_only(self) -> bool:
        """Whether vectors are switched off by choice, which is not degraded."""
        return self.embedding_mode == EmbeddingMode.KEYWORD or self.model == "none"

    @property
    def weights(self) -> SignalWeights:
        """The weights in force."""
        return self.signal_weights or default_signal_weights()

    def check(self) -> None:
        """Refuse values out of range.

        Raises:
            InvalidArgumentError: Names the field, its range and what to do.
        """
        if self.embedding_mode not in set(EmbeddingMode):
            raise InvalidArgumentError("embedding_mode must be auto, local or keyword")
        weights = self.weights
        for name, value, low, high in (
            ("top_k", self.top_k, 1, math.inf),
            ("min_relevance", self.min_relevance, 0, 1),
            ("confidence_weight", self.confidence_weight, 0, MAX_CONFIDENCE_WEIGHT),
            ("signal_weights.vector", weights.vector, 0, math.inf),
            ("signal_weights.keyword", weights.keyword, 0, math.inf),
            ("signal_weights.recency", weights.recency, 0, math.inf),
            ("consolidate_threshold", self.consolidate_threshold, 1, math.inf),
            ("max_async_consolidations", self.max_async_consolidations, 1, math.inf),
            ("usage_alias_affinity", self.usage_alias_affinity, -1, math.inf),
        ):
            if not (math.isfinite(value) and low <= value <= high):
                bound = f"at least {low}" if high == math.inf else f"between {low} and {high}"
                raise InvalidArgumentError(f"{name} must be finite and {bound}")
        for name, duration in (
            ("decay_half_life", self.decay_half_life),
            ("vector_reconcile_interval", self.vector_reconcile_interval),
        ):
            if duration <= timedelta(0):
                raise InvalidArgumentError(f"{name} must be longer than zero")
        self.plane.check()


def default_config() -> Config:
    """Return the defaults."""
    return Config()
