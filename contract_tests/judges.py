"""Outside judges: installed into a folder of their own, each with its pinned version."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

INSTALL_DEADLINE_S: Final = 600
RUN_DEADLINE_S: Final = 600

NODE: Final = "node@22"
"""Conformance and inspector ask for 22 or newer."""
CONFORMANCE: Final = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
INSPECTOR: Final = "@modelcontextprotocol/inspector@2.12.0"
CLIENTS: Final = ("@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0")
PYTHON_JUDGES: Final = (
    "jbt-mcpcheck==0.1.1",
    "mcp-authlab==0.2.2",
    "mcp-server-lint[runtime]==0.35.7",
    "schemathesis==4.32.5",
)

SCENARIOS: Final = {
    "2025-11-25": (
        "server-initialize",
        "ping",
        "tools-list",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
    ),
    "2026-07-28": (
        "tools-list",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
        "http-header-validation",
        "server-stateless",
        "input-required-result-unsupported-methods",
        "input-required-result-ignore-extra-params",
    ),
}
"""What a server of tools without sessions can pass; the others call tools of a fixture server."""

UNTESTABLE: Final = "Not testable"
"""What a check says that needs a fixture tool; it counts for nothing."""


def give_up(why: str) -> NoReturn:
    """Skip, but fail in CI, which comes here only after npm has answered."""
    reason = f"NOT JUDGED: {why}"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def npm_folder(folder: Path, *packages: str) -> Path:
    """Install packages into a folder; gives up where that is impossible."""
    npm = shutil.which("npm")
    if npm is None:
        give_up("npm is not installed")
    command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), *packages]
    _install(command)
    return folder / "node_modules" / ".bin"


def python_folder(folder: Path) -> Path:
    """Install the judges written in Python into an environment of their own."""
    _install([sys.executable, "-m", "venv", str(folder)])
    _install([str(folder / "bin" / "pip"), "install", "-q", *PYTHON_JUDGES])
    return folder / "bin"


def _install(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, check=False, text=True, timeout=INSTALL_DEADLINE_S
        )
    except subprocess.TimeoutExpired:
        give_up(f"{command[0]} did not install in time")
    if done.returncode:
        give_up(f"the installation failed: {done.stderr[-300:]}")


def run(
    command: Sequence[str | Path], *, first_in_path: Path, cwd: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run one judge to its end."""
    path = f"{first_in_path}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        check=False,
        text=True,
        cwd=cwd,
        env={**os.environ, "PATH": path, **variables},
        timeout=RUN_DEADLINE_S,
    )


def failed_checks(folder: Path, scenario: str) -> list[Mapping[str, Any]]:
    """Return the checks of a conformance scenario that failed and could have passed."""
    (found,) = folder.glob(f"server-{scenario}-*/checks.json")
    checks: list[dict[str, Any]] = json.loads(found.read_text(encoding="utf-8"))
    assert checks, "a scenario without a check says nothing"
    return [
        check
        for check in checks
        if check["status"] == "FAILURE" and UNTESTABLE not in (check.get("errorMessage") or "")
    ]
