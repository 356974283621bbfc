from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from graymatter_mcp import requirements

DEADLINE_S = 60.0
HEAVY = {
    "anyio", "click", "duckdb", "jsonschema", "mcp", "numpy", "pydantic", "pydantic_settings",
    "sentence_transformers", "snowballstemmer", "starlette", "tokenizers", "torch", "transformers",
    "ulid", "uvicorn",
}  # fmt: skip
TORCH = {"sentence_transformers", "torch", "transformers"}


def loaded_by(statement: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter holds after the statement."""
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, timeout=DEADLINE_S
    )
    return {name.split(".")[0] for name in json.loads(done.stdout)}


def test_importing_the_package_loads_nothing_heavy() -> None:
    """Design, section 2: a process that only starts must start at once."""
    assert loaded_by("import graymatter_mcp") & HEAVY == set()


@pytest.mark.parametrize(
    "statement",
    [
        "import graymatter_mcp.compose",
        "from graymatter_mcp import Memory",
        "import graymatter_mcp.surfaces.cli.app as app; app._commands()",
        "from graymatter_mcp.embedding.minilm import MiniLM; MiniLM().embed(['text'])",
    ],
)
def test_neither_the_memory_nor_the_bundled_model_loads_torch(statement: str) -> None:
    """Design, section 5: it costs seconds and hundreds of megabytes."""
    assert loaded_by(statement) & TORCH == set()


def test_names_are_loaded_when_they_are_asked_for() -> None:
    """Contract 9: values and errors need neither database nor model."""
    loaded = loaded_by("from graymatter_mcp import Config, GraymatterError, RecallOptions, UNSET")
    assert loaded & HEAVY == set()


def a_stub(directory: Path, name: str, version: str) -> Path:
    """Make a distribution of this name and version that a path can put before the real one."""
    info = directory / f"{name}-{version}.dist-info"
    info.mkdir()
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(text, encoding="utf-8")
    return directory


def remember(directory: Path, path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a command that needs the database, with this path in front."""
    return subprocess.run(
        [sys.executable, "-m", "graymatter_mcp", *options, "remember", "ana", "text"],
        cwd=directory,
        env={
            **os.environ,
            "PYTHONPATH": str(path),
            "GRAYMATTER_MODEL": "none",
            "GRAYMATTER_NO_DAEMON": "1",
        },
        check=False,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )


@pytest.mark.parametrize(
    ("name", "version", "wanted"),
    [
        ("mcp", "1.9.4", ">=2.3,<3"),
        ("mcp", "3.0.0", ">=2.3,<3"),
        ("duckdb", "2.1.0", ">=2.0.1,<2.1"),
    ],
)
@pytest.mark.parametrize("is_broken", [False, True], ids=["metadata only", "module empty"])
def test_a_wrong_version_is_named_with_what_was_found_and_what_is_wanted(
    tmp_path: Path, name: str, version: str, wanted: str, is_broken: bool
) -> None:
    """F4: whether its module still loads or not."""
    stub = tmp_path / "stub"
    stub.mkdir()
    a_stub(stub, name, version)
    if is_broken:
        (stub / f"{name}.py").write_text("", encoding="utf-8")
    failed = remember(tmp_path, stub, "--json")
    complaint = json.loads(failed.stderr)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert complaint["code"] == "store_unavailable"
    for part in (name, version, f"{name}{wanted}"):
        assert part in complaint["error"]
    assert not (tmp_path / ".graymatter").exists()


def our_bounds(_: str) -> list[str]:
    """Return bounds as a wheel's metadata spells them."""
    return ["mcp<3,>=2.3", "duckdb<2.1,>=2.0.1"]


@pytest.mark.parametrize(
    ("version", "fits"),
    [("2.3", True), ("2.3.0", True), ("2.99.1", True), ("2.2.9", False), ("3", False),
     ("3.0.0rc1", False), ("10.0", False)],
)  # fmt: skip
def test_versions_compare_as_numbers(
    monkeypatch: pytest.MonkeyPatch, version: str, fits: bool
) -> None:
    """F4: bounds are those of our own metadata."""
    real = metadata.version

    def found(name: str) -> str:
        return version if name == "mcp" else real(name)

    monkeypatch.setattr(metadata, "version", found)
    monkeypatch.setattr(metadata, "requires", our_bounds)
    assert (requirements.wrong_version() is None) is fits


def test_a_missing_package_is_named_and_an_uninstalled_tree_is_not_judged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """F4."""

    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    monkeypatch.setattr(metadata, "requires", our_bounds)
    assert re.search(r"\bmcp is not installed\b.*mcp>=2\.3,<3", requirements.wrong_version() or "")
    monkeypatch.setattr(metadata, "requires", missing)
    assert requirements.wrong_version() is None


def test_the_packages_that_are_watched_have_bounds_on_both_sides() -> None:
    """F4: bounds on every dependency that has broken before."""
    wanted = metadata.requires("graymatter-mcp") or []
    for name in ("mcp", "duckdb"):
        (bounds,) = [one for one in wanted if re.match(rf"{name}\b[^-]", one)]
        assert "<" in bounds
        assert ">=" in bounds
