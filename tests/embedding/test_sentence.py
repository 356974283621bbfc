from __future__ import annotations

import os
import shutil
import socket
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from graymatter_mcp.embedding.base import EmbeddingError
from graymatter_mcp.embedding.sentence import SentenceTransformerEmbedder
from graymatter_mcp.embedding.weights import bundled_model

if TYPE_CHECKING:
    from collections.abc import Generator

    from graymatter_mcp.embedding.minilm import MiniLM

pytestmark = pytest.mark.filterwarnings(
    "default"  # importing torch and transformers warns about things that are theirs to mend
)

TEXTS = [
    "",
    " \t\n ",
    "x",
    "Deploys run on Tuesday.",
    "the 🚀 went to 東京タワー with cafe\u0301 naïve Straße ﬁne",
    "한국어 텍스트 그리고 русский язык, العربية",
    "src/db/pool.py on port 8080, v1.2.3; user_id=getUserName() [SEP] [MASK]",
    "A\u0300\u0301\u0302 zero\u200bwidth \u202eoverride \ufeffmark",
    "supercalifragilisticexpialidocious" * 4,
    "The staging cluster lives in Frankfurt and needs two approvals. " * 3,
    "The staging cluster lives in Frankfurt and needs two approvals. " * 20,
    "river " * 254,
]


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A model and what its loading wrote and tried."""

    embedder: SentenceTransformerEmbedder
    stdout: bytes
    stderr: bytes
    connections: list[object]


@contextmanager
def redirected(descriptor: int, target: Path) -> Generator[None]:
    """Send a file descriptor to a file, so that libraries outside Python are seen as well."""
    kept = os.dup(descriptor)
    with target.open("wb") as file:
        os.dup2(file.fileno(), descriptor)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(kept, descriptor)
        os.close(kept)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    """Load the bundled model's directory as if it were a model of the user."""
    written = tmp_path_factory.mktemp("written")
    connections: list[object] = []

    def refuse(*args: object, **_: object) -> None:
        connections.append(args)
        raise OSError("no network in tests")

    with (
        pytest.MonkeyPatch.context() as patch,
        redirected(1, written / "out"),
        redirected(2, written / "err"),
    ):
        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket, "getaddrinfo", refuse)
        embedder = SentenceTransformerEmbedder(str(bundled_model()))
    return Loaded(
        embedder=embedder,
        stdout=(written / "out").read_bytes(),
        stderr=(written / "err").read_bytes(),
        connections=connections,
    )


@pytest.fixture(scope="module")
def custom(loaded: Loaded) -> SentenceTransformerEmbedder:
    """Return the embedder alone."""
    return loaded.embedder


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_both_routes_give_the_same_vector(
    minilm: MiniLM, custom: SentenceTransformerEmbedder, text: str
) -> None:
    """Issue 2, item 6: equal within 1e-5; all these texts fit one window."""
    (fast,), (reference,) = minilm.embed([text]), custom.embed([text])
    assert fast.shape == reference.shape == (1, 384)
    assert reference.dtype == np.float32
    assert np.abs(fast - reference).max() <= 1e-5


def test_each_window_of_the_bundled_route_is_that_text_alone(
    minilm: MiniLM, custom: SentenceTransformerEmbedder
) -> None:
    """Issue 2, item 6: texts beyond 256 tokens in windows; each word here is one token."""
    words = [("river", "stone", "cloud", "horse", "bread")[n * n % 5] for n in range(600)]
    (rows,) = minilm.embed([" ".join(words)])
    windows = [" ".join(words[start : start + 254]) for start in (0, 222, 444)]
    reference = np.concatenate(custom.embed(windows))
    assert rows.shape == reference.shape
    assert np.abs(rows - reference).max() <= 1e-5


def test_another_model_cuts_nothing_either(custom: SentenceTransformerEmbedder) -> None:
    """Design 4: windows for any model; the end of a long text is found."""
    filler = "the committee approved the minutes of the previous meeting " * 80
    (rows,) = custom.embed([filler + "the telescope observed a comet near jupiter"])
    (query,) = custom.embed(["which comet did the telescope see"])
    scores = (rows @ query[0]).tolist()
    assert len(scores) > 2
    assert scores.index(max(scores)) == len(scores) - 1
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_a_vector_of_another_model_does_not_depend_on_the_rest_of_the_call(
    custom: SentenceTransformerEmbedder,
) -> None:
    """Design 5: no padding beside a longer text may move a vector."""
    together = custom.embed(["short", TEXTS[10], "a\ud800b"])
    assert [rows.shape for rows in together] == [(1, 384)] * 3
    assert np.array_equal(together[0], custom.embed(["short"])[0])


def test_the_key_tells_models_apart_and_holds_no_path(
    custom: SentenceTransformerEmbedder, tmp_path: Path
) -> None:
    """F23: vectors of different weights never mix, whatever their directories are called."""
    copy = tmp_path / "model"
    shutil.copytree(bundled_model(), copy)
    moved = SentenceTransformerEmbedder(str(copy))
    with (copy / "model.safetensors").open("r+b") as file:
        file.seek(-3, 2)
        file.write(b"\x01")
    altered = SentenceTransformerEmbedder(str(copy))
    name, digest, pooling, precision = custom.model_key.split("/")
    assert (name, len(digest), pooling, precision) == ("model", 12, "mean", "float32")
    assert moved.model_key == custom.model_key
    assert altered.model_key != custom.model_key


def test_a_model_that_cannot_be_loaded_is_told_without_its_path(tmp_path: Path) -> None:
    """F5: the caller goes on by keyword; no path leaves in a message."""
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(EmbeddingError, match="cannot be loaded") as caught:
        SentenceTransformerEmbedder(str(tmp_path))
    assert str(tmp_path.parent) not in str(caught.value)


def test_loading_writes_nothing_to_stdout_draws_no_bars_and_opens_no_connection(
    loaded: Loaded,
) -> None:
    """Issue 2: nothing but JSON-RPC on stdout, ever; no network for a local directory."""
    assert loaded.stdout == b""
    assert b"%|" not in loaded.stderr
    assert loaded.connections == []


def test_embedding_writes_nothing_at_all(
    custom: SentenceTransformerEmbedder, capfd: pytest.CaptureFixture[str]
) -> None:
    """Issue 2: nothing but JSON-RPC on stdout; no warning for each long text on stderr."""
    custom.embed(["x " * 999])
    assert capfd.readouterr() == ("", "")
