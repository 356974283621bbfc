"""Any sentence-transformers model by name or local directory; the library is imported on use."""

from __future__ import annotations

import hashlib
import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, cast

import numpy as np

from graymatter_mcp.embedding.base import EmbeddingError, Windows
from graymatter_mcp.embedding.windows import unit_vector

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

_OVERLAP_CHARACTERS: Final = 64


class _Tensor(Protocol):
    dtype: object
    shape: Sequence[int]

    def float(self) -> _Tensor: ...
    def cpu(self) -> _Tensor: ...
    def numpy(self) -> NDArray[np.float32]: ...


class _Tokenizer(Protocol):
    def __call__(
        self, text: str, *, truncation: bool, verbose: bool
    ) -> Mapping[str, Sequence[int]]: ...
    def get_vocab(self) -> Mapping[str, int]: ...


class _Model(Protocol):
    """The part of ``SentenceTransformer`` used here; its own annotations are partly unknown."""

    tokenizer: _Tokenizer
    max_seq_length: float | None
    prompts: Mapping[str, str]
    default_prompt_name: str | None

    def __iter__(self) -> Iterator[object]: ...
    def state_dict(self) -> Mapping[str, _Tensor]: ...
    def get_embedding_dimension(self) -> int | None: ...
    def encode(
        self, inputs: list[str], *, batch_size: int, show_progress_bar: bool
    ) -> NDArray[np.float32]: ...


class SentenceTransformerEmbedder:
    """A model of the user's choice; downloaded by the library if it is no local directory.

    `model_key` holds no path: the name (of the directory, for a local model), a hash over the
    weights, the vocabulary, the default prompt and the length limit, the pooling, the precision.

    Args:
        model_name: A name on the Hugging Face hub or a local directory.

    Raises:
        EmbeddingError: The model cannot be loaded.
    """

    model_key: str
    dim: int

    def __init__(self, model_name: str) -> None:
        # A fast tokenizer keeps its truncation setting in itself: two threads would race for it.
        self._lock = threading.Lock()
        self._name = _public_name(model_name)
        self._model = _load(model_name, self._name)
        prompt_name = self._model.default_prompt_name
        self._prompt = self._model.prompts.get(prompt_name, "") if prompt_name else ""
        self.model_key = self._describe()
        self.dim = self._model.get_embedding_dimension() or self.embed([""])[0].shape[1]

    def embed(self, texts: Sequence[str]) -> list[Windows]:
        """Embed each text by itself, in pieces that fit the model; shape (windows, dim).

        Raises:
            EmbeddingError: The model failed or a vector is not finite.
        """
        return [self._embed_one(text) for text in texts]

    def _embed_one(self, text: str) -> Windows:
        # A lone surrogate has no UTF-8; the rest of the text still has a meaning.
        valid = text.encode("utf-8", "replace").decode("utf-8")
        with self._lock:
            pieces = list(self._pieces(valid))
            try:
                # One at a time: padding beside a longer text would move the vector.
                rows = self._model.encode(pieces, batch_size=1, show_progress_bar=False)
            except (RuntimeError, ValueError, TypeError, IndexError) as exc:
                raise EmbeddingError(f"the embedding model {self._name} failed") from exc
        return np.stack([unit_vector(row, self.model_key) for row in rows.astype(np.float32)])

    def _pieces(self, text: str) -> Iterator[str]:
        """Halve the text until each piece fits; needs no offsets, so any tokenizer will do."""
        if len(text) < 2 or self._fits(text):
            yield text
            return
        middle = len(text) // 2
        shared = min(_OVERLAP_CHARACTERS, len(text) // 8)
        yield from self._pieces(text[: middle + shared])
        yield from self._pieces(text[middle - shared :])

    def _fits(self, text: str) -> bool:
        limit = self._model.max_seq_length
        if limit is None or limit == float("inf"):
            return True
        whole = self._model.tokenizer(self._prompt + text, truncation=False, verbose=False)
        return len(whole["input_ids"]) <= limit

    def _describe(self) -> str:
        digest = hashlib.sha256()
        precision = ""
        for name, tensor in sorted(self._model.state_dict().items()):
            precision = precision or str(tensor.dtype).removeprefix("torch.")
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
            digest.update(np.ascontiguousarray(tensor.cpu().float().numpy()).data)
        rest = (
            sorted(self._model.tokenizer.get_vocab().items()),
            self._prompt,
            str(self._model.max_seq_length),
        )
        digest.update(json.dumps(rest).encode())
        pooling = "+".join(_pooling_modes(self._model)) or "own"
        return f"{self._name}/{digest.hexdigest()[:12]}/{pooling}/{precision}"


def _public_name(model_name: str) -> str:
    path = Path(model_name)
    # A key is stored and shown; where a directory lies on this machine is nobody's business.
    return path.resolve().name if path.is_dir() else model_name


def _load(model_name: str, public_name: str) -> _Model:
    try:
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        model = SentenceTransformer(model_name)
    except (ImportError, OSError, RuntimeError, ValueError, KeyError, TypeError) as exc:
        raise EmbeddingError(
            f"the embedding model {public_name} cannot be loaded: check its name or directory"
        ) from exc
    return cast("_Model", model)  # the library's types are partly unknown; tests hold the shape


def _pooling_modes(modules: Iterable[object]) -> list[str]:
    """Name how the modules pool tokens; a list of modes in some releases, one string in others."""
    found: list[str] = []
    for module in modules:
        mode = getattr(module, "pooling_mode", None)
        if mode is not None:
            found += [mode] if isinstance(mode, str) else [str(part) for part in mode]
    return found
