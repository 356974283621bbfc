"""What an embedding model must offer, and the fixed-point form of stored vectors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

Windows = NDArray[np.float32]
"""Unit vectors of one text, one row per window of tokens; shape (windows >= 1, dim)."""


class Embedder(Protocol):
    """Turns texts into unit vectors. Thread-safe; equal texts give equal vectors on one machine."""

    model_key: str
    """Name, weights hash, pooling, prefix and precision: vectors of different keys never mix."""
    dim: int

    def embed(self, texts: Sequence[str]) -> list[Windows]:
        """Embed each text by itself, long ones in windows; the order is kept.

        Raises:
            EmbeddingError: The model produced something that is not finite.
        """
        ...


class EmbeddingError(Exception):
    """The model failed; the caller goes on without vectors and says so."""


def fixed_point_scale(dim: int) -> int:
    """Return the scale s at which rounded unit vectors have exact float32 dot products.

    A float32 holds every integer up to 2**24. Rounding s*u component-wise moves the vector by at
    most sqrt(dim)/2, so its norm stays below 4096 when s = 4096 - ceil(sqrt(dim)/2) - 1, and by
    Cauchy-Schwarz every partial sum of a dot product of two such vectors stays below 2**24. The
    result is then exact whatever the order of summation, hence equal on every platform.
    """
    return 4096 - math.ceil(math.sqrt(dim) / 2) - 1


def to_fixed_point(windows: Windows) -> NDArray[np.int16]:
    """Round unit vectors to integers at `fixed_point_scale`; shape (windows, dim) is kept."""
    return np.rint(windows * np.float32(fixed_point_scale(windows.shape[1]))).astype(np.int16)
