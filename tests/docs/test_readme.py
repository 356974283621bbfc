"""The README, taken at its word."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any, cast

import pytest

from graymatter_mcp.settings import PREFIX, Settings
from tests.spawned import FACT, ROOT, meet, user_environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

README = (ROOT / "README.md").read_text(encoding="utf-8")
TITLED = dict(re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```', README, re.MULTILINE | re.DOTALL))
"""Fenced blocks by title."""

Entry = tuple[list[str], dict[str, str]]
"""Command line and environment of one configured server."""


def _mcp_servers(text: str) -> Entry:
    entry = json.loads(text)["mcpServers"]["graymatter"]
    return [entry["command"], *entry["args"]], entry.get("env", {})


def _vs_code(text: str) -> Entry:
    entry = json.loads(text)["servers"]["graymatter"]
    assert entry["type"] == "stdio"
    return [entry["command"], *entry["args"]], entry["env"]


def _opencode(entry: dict[str, Any]) -> Entry:
    assert entry["type"] == "local"
    return entry["command"], entry["environment"]


def _opencode_v1(text: str) -> Entry:
    entry = json.loads(text)["mcp"]["graymatter"]
    assert entry["enabled"] is True
    return _opencode(entry)


def _opencode_v2(text: str) -> Entry:
    entry = json.loads(text)["mcp"]["servers"]["graymatter"]
    assert entry["disabled"] is False
    return _opencode(entry)


def _codex(text: str) -> Entry:
    entry = tomllib.loads(text)["mcp_servers"]["graymatter"]
    return [entry["command"], *entry["args"]], entry.get("env", {})


READERS: dict[str, Callable[[str], Entry]] = {
    ".mcp.json": _mcp_servers,
    "opencode.json": _opencode_v1,
    "opencode.v2.json": _opencode_v2,
    ".cursor/mcp.json": _mcp_servers,
    ".vscode/mcp.json": _vs_code,
    ".codex/config.toml": _codex,
}
"""How each client reads its file."""


def test_every_configuration_on_the_page_is_read_by_a_test() -> None:
    """Issue: the first steps are taken from the page."""
    assert set(TITLED) == {*READERS, "cli", "plane", "library"}


@pytest.mark.parametrize("title", READERS)
def test_the_configuration_of_each_client_starts_a_server_that_remembers(
    title: str, tmp_path: Path
) -> None:
    """Issue: each shape is taken from the page and started."""
    (command, *args), env = READERS[title](TITLED[title])
    seen = meet(command, args, cwd=tmp_path, env=env)
    assert (seen.name, len(seen.tools), seen.facts) == ("graymatter", 7, [FACT])
    database = tmp_path / ".graymatter" / "gray.duckdb"
    modes = [oct(path.stat().st_mode & 0o777) for path in (database.parent, database)]
    assert modes == ["0o700", "0o600"]


@pytest.mark.parametrize("name", [".mcp.json", "opencode.json", "opencode.v2.json"])
def test_the_file_in_examples_says_what_the_page_says(name: str) -> None:
    """Issue: one truth for a reader and for a copier."""
    assert json.loads((ROOT / "examples" / name).read_text()) == json.loads(TITLED[name])


def test_the_commands_of_the_command_line_section_work_as_written(tmp_path: Path) -> None:
    """Issue: the README's lines are pasted into a shell."""
    shell = subprocess.run(
        ["sh", "-e"],
        input=TITLED["cli"],
        cwd=tmp_path,
        env=user_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    stored, recalled, explained, *counted = shell.stdout.splitlines()
    assert stored == 'Memory stored for agent "webshop".'
    assert recalled == "Deploys need two approvals."
    (receipt,) = json.loads(explained)["facts"]
    assert receipt["provenance"]["confidence"] == "verified"
    assert any("webshop: 1 facts" in line for line in counted)


def test_the_commands_of_the_data_plane_work_as_written(tmp_path: Path) -> None:
    """Issue: the README's lines are pasted into a shell."""
    shell = subprocess.run(
        ["sh", "-e"],
        input=TITLED["plane"],
        cwd=tmp_path,
        env=user_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    stored, *shown, created, used = shell.stdout.splitlines()
    fact_id = stored.removeprefix("Stored: ")
    assert [line.strip().split("  ")[0] for line in shown if "7778" in line] == [fact_id] * 3
    assert created.endswith("  webshop")
    assert used == created.replace("Created:", "In use:")


def test_the_library_section_prints_the_fact_that_it_stored(tmp_path: Path) -> None:
    """Issue: the README's program runs as it stands."""
    program = subprocess.run(
        [sys.executable, "-c", TITLED["library"]],
        cwd=tmp_path,
        env=user_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert program.stdout == "['Passwords live in the vault.']\n"


def test_the_table_of_settings_names_exactly_those_that_are_read() -> None:
    """Contract 11.5: the variables are part of the contract."""
    rows = cast("list[str]", re.findall(r"^\| `(GRAYMATTER_\w+)` \|", README, re.MULTILINE))
    assert sorted(rows) == sorted(PREFIX + name.upper() for name in Settings.model_fields)


def test_the_two_set_up_commands_are_scripts_of_this_tree_and_ci_runs_both() -> None:
    """Issue: two commands do all set-up, and CI calls the README's test command."""
    blocks = re.findall(r"^```sh\n(sh [^\n]+)\n```", README, re.MULTILINE)
    assert blocks == ["sh examples/quickstart.sh", "sh .ci/test"]
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert all(re.search(rf"^\s*{re.escape(command)}$", ci, re.MULTILINE) for command in blocks)


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda page: page.name
)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    """Issue: a reader follows them."""
    targets = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []
