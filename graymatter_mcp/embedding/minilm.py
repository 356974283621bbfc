"""The bundled model, without torch: tokens and windows, forward pass, mean, unit length."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
from tokenizers import Tokenizer

from graymatter_mcp.embedding.bert import BertEncoder
from graymatter_mcp.embedding.weights import (
    MODEL_NAME,
    WEIGHTS_SHA256,
    bundled_model,
    map_tensors,
    read_config,
)
from graymatter_mcp.embedding.windows import token_windows, unit_vector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from graymatter_mcp.embedding.base import Windows
    from graymatter_mcp.embedding.weights import Tensor

_MAX_TOKENS: Final = 256
# Text is tokenised piece by piece, since the tokenizer takes some 150 bytes a token. A piece ends
# at white space, where BERT's word splitting has no memory, so the tokens are those of the whole.
_PIECE: Final = 65_536
_BREAK: Final = re.compile(r"[ \t\n\r]")


class MiniLM:
    """all-MiniLM-L6-v2 on one thread: 384 dimensions, mean pooling, float32.

    Each text is computed by itself, so its vectors do not depend on its neighbours in a call.

    Raises:
        WeightsError: The bundled model is missing or altered.
    """

    model_key: str = f"{MODEL_NAME}/{WEIGHTS_SHA256[:12]}/mean/f32"
    dim: int = 384

    def __init__(self) -> None:
        directory = bundled_model()
        # Not from_file: that takes the path as str and reads it by the locale's rules.
        self._tokenizer = Tokenizer.from_buffer((directory / "tokenizer.json").read_bytes())
        # The file asks for 128 tokens, padded and truncated; the model was made for 256.
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._first, self._last = self._tokenizer.encode("").ids
        tensors = map_tensors(directory)
        self._encoder = BertEncoder(tensors.by_name, read_config(directory))
        # The layers have weights of their own by now, laid out for the products.
        tensors.page_out()

    def embed(self, texts: Sequence[str]) -> list[Windows]:
        """Embed each text in windows of 256 tokens; shape (windows, 384), order kept.

        Raises:
            EmbeddingError: A vector is not finite.
        """
        return [self._embed_one(text) for text in texts]

    def _embed_one(self, text: str) -> Windows:
        # A lone surrogate has no UTF-8; the rest of the text still has a meaning.
        valid = text.encode("utf-8", "replace").decode("utf-8")
        ids = [token for piece in _pieces(valid) for token in self._token_ids(piece)]
        return np.stack(
            [
                self._embed_window(np.array([self._first, *ids[window], self._last], np.intp))
                for window in token_windows(len(ids), _MAX_TOKENS - 2)
            ]
        )

    def _token_ids(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def _embed_window(self, ids: NDArray[np.intp]) -> Tensor:
        # Overflow is found in the result; a warning would only repeat it on stderr.
        with np.errstate(over="ignore", invalid="ignore"):
            pooled = np.add.reduce(self._encoder.hidden_states(ids), axis=0)
        return unit_vector(pooled, self.model_key)


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > _PIECE:
        gap = _BREAK.search(text, start + _PIECE)
        if gap is None:
            break
        yield text[start : gap.start()]
        start = gap.start()
    yield text[start:]
