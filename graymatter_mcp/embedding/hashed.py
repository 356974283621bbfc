"""An embedder without a model, for tests: texts that share words have a high cosine."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

import numpy as np

from graymatter_mcp.embedding.windows import token_windows, unit_vector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from graymatter_mcp.embedding.base import Windows

_WINDOW_WORDS: Final = 64
_WORD: Final = re.compile(r"\w+")


class HashedEmbedder:
    """Signed feature hashing of words without case; the same on every platform."""

    def __init__(self, dim: int = 64) -> None:
        self.dim = dim
        self.model_key = f"hashed/{dim}"

    def embed(self, texts: Sequence[str]) -> list[Windows]:
        """Embed each text in windows of 64 words; shape (windows, dim), order kept."""
        return [self._embed_one(text) for text in texts]

    def _embed_one(self, text: str) -> Windows:
        words: list[str] = _WORD.findall(text.casefold())
        windows = token_windows(len(words), _WINDOW_WORDS, overlap=0)
        return np.stack([self._embed_words(words[window]) for window in windows])

    def _embed_words(self, words: list[str]) -> NDArray[np.float32]:
        vector = np.zeros(self.dim, np.float32)
        for word in words:
            code = int.from_bytes(
                hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "little"
            )
            vector[(code >> 1) % self.dim] += 1 if code & 1 else -1
        if not vector.any():
            # No words, or words that cancel out: still a unit vector, as the interface asks.
            vector[0] = 1
        return unit_vector(vector, self.model_key)
