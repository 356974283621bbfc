"""The programs in examples/, run as a reader would run them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.spawned import BIN, ROOT, user_environment

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = ROOT / "examples"


def _run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    finished = subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=280
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def test_the_python_client_prints_the_structured_answers_of_two_sessions(tmp_path: Path) -> None:
    """Issue: the main job adds, searches, checkpoints, resumes and prints the answers."""
    output = _run(
        sys.executable, EXAMPLES / "python_client.py", cwd=tmp_path, env=user_environment()
    )
    first, second = output.split("== graymatter ")[1:]
    assert '"found": false' in first
    assert '"The staging port is 8137."\n  ]' in first
    assert '"next": "ask for review"' in second
    assert '"facts": [\n    "Passwords live in the vault, never in the repository.",' in second
    assert '"supersedes": [' in second
    assert "keyword only" not in second


def test_the_library_example_finds_by_meaning_and_resumes(tmp_path: Path) -> None:
    """Issue: the library has an example that CI runs."""
    output = _run(sys.executable, EXAMPLES / "library.py", cwd=tmp_path, env=user_environment())
    assert "found Passwords live in the vault.\n" in output
    assert "resumed {'goal': 'release 2.1'}\n" in output
    assert "refused invalid_argument agent_id is required\n" in output


def test_the_lock_of_the_typescript_example_names_no_registry() -> None:
    """Issue: packages come from the registry that the reader's npm is set up for."""
    lock = json.loads((EXAMPLES / "typescript" / "package-lock.json").read_text(encoding="utf-8"))
    packages: dict[str, dict[str, object]] = lock["packages"]
    assert [name for name, about in packages.items() if "resolved" in about] == []
    assert all("integrity" in about for name, about in packages.items() if name)


@pytest.mark.interop
def test_the_typescript_example_compiles_strictly_and_every_call_passes(tmp_path: Path) -> None:
    """Issue: the official TypeScript client calls every tool without a validation error."""
    project = tmp_path / "typescript"
    shutil.copytree(
        EXAMPLES / "typescript", project, ignore=shutil.ignore_patterns("node_modules", "dist")
    )
    _run("npm", "ci", cwd=project)
    _run("npm", "run", "build", cwd=project)
    memory, command = tmp_path / "memory", BIN / "graymatter"
    output = _run("node", "dist/client.js", memory, command, cwd=project)
    _run(command, "--dir", memory, "daemon", "stop", cwd=project)
    calls = [line.split(" ", 1) for line in output.splitlines()]
    assert {tool for tool, _ in calls} == {
        "memory_search",
        "memory_search_batch",
        "memory_add",
        "memory_alias",
        "checkpoint_save",
        "checkpoint_resume",
        "memory_reflect",
    }
    tool, answer = calls[-1]
    assert (tool, json.loads(answer)["state"]) == ("checkpoint_resume", {"next": "ask for review"})
