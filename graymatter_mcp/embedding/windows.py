"""Long texts in overlapping windows, so that nothing is cut silently; each window a unit vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graymatter_mcp.embedding.base import EmbeddingError

if TYPE_CHECKING:
    from numpy.typing import NDArray

OVERLAP: Final = 32
"""Tokens that neighbouring windows share: a phrase across a border is whole in one of them."""


def token_windows(count: int, size: int, overlap: int = OVERLAP) -> list[slice]:
    """Cover `count` tokens with windows of at most `size` of them.

    Args:
        count: Tokens of the text without special ones, >= 0.
        size: Tokens a window holds, > overlap.
        overlap: Tokens that neighbours share, >= 0.

    Returns:
        At least one slice, in order; together they hold every token, and each holds some that its
        predecessor lacks. No tokens give one empty window.
    """
    return [
        slice(start, min(start + size, count))
        for start in range(0, max(count - overlap, 1), size - overlap)
    ]


def unit_vector(vector: NDArray[np.float32], model_key: str) -> NDArray[np.float32]:
    """Scale a vector of shape (dim,) to length 1.

    Raises:
        EmbeddingError: It is zero or not finite; the message names the model.
    """
    # Overflow is found in the result; a warning would only repeat it on stderr.
    with np.errstate(over="ignore", invalid="ignore"):
        norm = np.sqrt(vector @ vector)
    if not 0 < norm < np.inf:
        raise EmbeddingError(f"the embedding model {model_key} gave a vector that is not finite")
    return vector / np.float32(norm)
