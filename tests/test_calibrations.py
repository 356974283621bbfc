"""The constants of hybrid search belong to a model."""

from __future__ import annotations

from graymatter_mcp.compose import calibrations
from graymatter_mcp.embedding.minilm import MiniLM
from graymatter_mcp.ranking.hybrid.abstain import Calibration


def test_the_bundled_model_has_constants_in_the_file_and_no_other_does() -> None:
    """Data plane 4.9, ADR 0048: one data file, by model key; replaced only with a table."""
    assert calibrations() == {
        MiniLM.model_key: Calibration(
            min_vector_score=0.25, abstain_below=0.30, unrelated_cosine=0.30, cosine_span=0.40
        )
    }
