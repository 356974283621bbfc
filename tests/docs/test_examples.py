"""The programs in examples/, run as a reader would run them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any, cast

import pytest

from contract_tests.credentials import SERVER_TOKEN
from contract_tests.http_wire import HttpServer
from tests.spawned import BIN, ROOT, user_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
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


def test_a_remote_agent_stores_and_finds_over_http(tmp_path: Path) -> None:
    """Issue 4: the example of a remote agent, against a server that asks for a token."""
    with HttpServer(tmp_path / "store", GRAYMATTER_HTTP_TOKEN=SERVER_TOKEN) as server:
        where = {"GRAYMATTER_URL": server.url, "GRAYMATTER_TOKEN": SERVER_TOKEN}
        output = _run(
            sys.executable,
            EXAMPLES / "remote_agent.py",
            cwd=tmp_path,
            env={**user_environment(), **where},
        )
    assert "stored: " in output
    assert '"facts": ["Deploys need two approvals."]' in output


def test_the_rest_client_keeps_corrects_and_finds_and_may_run_again(tmp_path: Path) -> None:
    """Issue 5: the example over REST, with nothing but the standard library."""
    with HttpServer(tmp_path / "store", GRAYMATTER_HTTP_TOKEN=SERVER_TOKEN) as server:
        root = server.url.removesuffix("/mcp")
        where = {"GRAYMATTER_URL": root, "GRAYMATTER_TOKEN": SERVER_TOKEN}
        first, second = (
            _run(
                *(sys.executable, EXAMPLES / "rest_client.py"),
                cwd=tmp_path,
                env={**user_environment(), **where},
            )
            for _ in range(2)
        )
    for output in (first, second):
        assert '"superseded": [' in output
        assert '"rejected": "conversational filler' in output
        assert "search: ['The staging API uses port 8200']\n" in output
        assert 'nobody stored: {"results": [],' in output
        assert "decisions: ['Decided to need two approvals for each deploy of the" in output
        assert '{"default": {"warm": 2, "cold": 0}}' in output
        assert "refused: 400 invalid request body\n" in output
    assert "project: 409 you already own a project with that name\n" in second


def test_a_session_over_the_data_plane_grounds_captures_corrects_and_recaps(tmp_path: Path) -> None:
    """Issue 5: the example over the twins, in a client that checks each answer."""
    output = _run(
        *(sys.executable, EXAMPLES / "data_plane_client.py"),
        cwd=tmp_path,
        env=user_environment(),
    )
    assert output.splitlines() == [
        "known before: []",
        "superseded: True",
        "saved: 2",
        "found: ['The staging API uses port 8200']",
        "decisions: ['Decided to need two approvals for each deploy.']",
        "userPreferences: ['The user prefers answers with commands.']",
        "currentSetup: ['The staging API uses port 8200']",
        "by the core: ['The staging API uses port 8200']",
        'forgotten: {"deleted": true, "coldDeleteOk": true}',
    ]


@pytest.mark.parametrize("path", sorted((EXAMPLES / "clients").iterdir()), ids=lambda p: p.name)
def test_every_remote_configuration_reads_and_sends_a_bearer(path: Path) -> None:
    """Issue 4, wire 9: the key of each client, the token by reference and never inline."""
    text = path.read_text(encoding="utf-8")
    document = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    assert "https://memory.example.org/mcp" in text
    assert "gm_" not in text
    (entry,) = [found for found in _entries(document) if "url" in found]
    assert re.search(
        r"(Bearer \$\{GRAYMATTER_TOKEN\}|Bearer \{env:GRAYMATTER_TOKEN\}|Bearer \$\{input:token\}"
        r"|^bearer_token_env_var = .GRAYMATTER_TOKEN.)",
        text,
        re.MULTILINE,
    )
    assert entry.get("enabled", True)


def _entries(value: object) -> Iterator[dict[str, Any]]:
    """Yield every table in a document."""
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        yield table
        for inner in table.values():
            yield from _entries(inner)


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
