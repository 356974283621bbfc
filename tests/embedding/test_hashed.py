from __future__ import annotations

import numpy as np
import pytest

from graymatter_mcp.embedding.hashed import HashedEmbedder


@pytest.mark.parametrize("dim", [1, 64, 384])
def test_hashed_vectors_are_unit_rows_under_their_own_key(dim: int) -> None:
    """Embedder interface: unit vectors, one row a window; F23: keys tell dimensions apart."""
    embedder = HashedEmbedder(dim)
    texts = ["", " \t", "one", "!?", "word " * 64, "word " * 65, "東京 🚀", "a\ud800b"]
    found = embedder.embed(texts)
    assert (embedder.model_key, embedder.dim) == (f"hashed/{dim}", dim)
    assert [rows.shape for rows in found] == [(n, dim) for n in (1, 1, 1, 1, 1, 2, 1, 1)]
    assert all(rows.dtype == np.float32 for rows in found)
    assert all(np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6) for rows in found)


def test_texts_that_share_words_are_near_and_others_are_not() -> None:
    """Tests of ranking lean on this order."""
    query, near, far = (
        rows[0]
        for rows in HashedEmbedder().embed(
            ["staging cluster region", "the Staging cluster lives here", "lunch menu of friday"]
        )
    )
    assert query @ near > 0.4
    assert abs(float(query @ far)) < 0.4


def test_hashed_vectors_are_the_same_in_every_process() -> None:
    """Python's own hash differs a process; a worked example pins ours."""
    (rows,) = HashedEmbedder(8).embed(["alpha beta"])
    assert [round(float(x), 4) for x in rows[0]] == [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
