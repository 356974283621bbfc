"""The strict TypeScript client: it throws a whole reply away that breaks its schema."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from contract_tests.judges import give_up
from contract_tests.manifest import promise
from contract_tests.wire import environment, graymatter

pytestmark = pytest.mark.interop

HERE: Final = Path(__file__).parent
INSTALLED: Final = HERE / "node_modules"
PACKAGE: Final = "@modelcontextprotocol/sdk@1"
INSTALL_DEADLINE_S: Final = 120

CALLS: Final[tuple[tuple[str, dict[str, Any], bool], ...]] = (
    ("memory_search", {"agent_id": "ts", "query": "nothing yet"}, False),
    ("memory_search_batch", {"agent_id": "ts", "queries": ["nothing yet"]}, False),
    ("memory_add", {"agent_id": "ts", "text": "Ports: 8137"}, False),
    ("memory_add", {"agent_id": "ts", "text": "Sure", "confidence": "verified"}, False),
    ("memory_add", {"agent_id": "ts"}, True),
    ("memory_add", {"agent_id": "ts", "text": "x", "confidence": None}, True),
    ("memory_alias", {"agent_id": "ts", "term": "door", "equivalents": ["port"]}, False),
    ("memory_alias", {"agent_id": "ts", "term": " ", "equivalents": ["port"]}, True),
    ("memory_search", {"agent_id": "ts", "query": "door"}, False),
    ("memory_search", {"agent_id": "ts", "query": "zebra crossing port"}, False),
    ("memory_search", {"agent_id": "ts", "query": "port", "explain": True}, False),
    (
        "memory_search",
        {"agent_id": "ts", "query": "x", "explain": True, "confidence_weight": 0.2},
        False,
    ),
    ("memory_search", {"agent_id": "ts", "query": "x", "min_confidence": "verified"}, False),
    ("memory_search", {"agent_id": "ts", "query": ""}, True),
    ("memory_search", {"agent_id": "ts", "query": "x", "confidence_weight": 2}, True),
    (
        "memory_search_batch",
        {"agent_id": "ts", "queries": ["port", "sure"], "confidence_weight": 0.1},
        False,
    ),
    ("memory_search_batch", {"agent_id": "ts", "queries": []}, True),
    ("checkpoint_resume", {"agent_id": "ts"}, True),
    ("checkpoint_resume", {"agent_id": "ts", "on_missing": "empty"}, False),
    ("checkpoint_save", {"agent_id": "ts", "state": '{"goal": {"deep": [1, 2.5, null]}}'}, False),
    ("checkpoint_save", {"agent_id": "ts", "state": {"as": "object"}}, False),
    ("checkpoint_save", {"agent_id": "ts"}, False),
    ("checkpoint_save", {"agent_id": "ts", "state": 7}, True),
    ("checkpoint_resume", {"agent_id": "ts"}, False),
    ("memory_reflect", {"action": "add", "agent_id": "ts", "text": "Old"}, False),
    (
        "memory_reflect",
        {"action": "add", "agent": "ts", "text": "Old too", "confidence": "inferred"},
        False,
    ),
    (
        "memory_reflect",
        {"action": "update", "agent_id": "ts", "target": "Old", "text": "New"},
        False,
    ),
    ("memory_reflect", {"action": "pin", "agent_id": "ts", "target": "New"}, False),
    ("memory_reflect", {"action": "unpin", "agent_id": "ts", "target": "New"}, False),
    ("memory_reflect", {"action": "link", "agent_id": "ts", "target": "a", "text": "b"}, False),
    ("memory_reflect", {"action": "forget", "agent_id": "ts", "target": "New"}, False),
    ("memory_reflect", {"action": "forget", "agent_id": "ts", "target": "New"}, True),
    ("memory_reflect", {"action": "erase", "agent_id": "ts"}, True),
    ("memory_reflect", {"action": "add", "agent_id": None, "text": "x"}, True),
    ("memory_search", {"agent_id": "ts", "query": " ", "explain": True, "top_k": 50}, False),
)
"""Tool, arguments, and whether the answer is a tool error."""


@pytest.fixture(scope="session")
def node() -> str:
    """The path of node, with the client installed beside the driver."""
    found, npm = shutil.which("node"), shutil.which("npm")
    if found is None or npm is None:
        give_up("node and npm are not installed")
    if not (INSTALLED / "@modelcontextprotocol" / "sdk").is_dir():
        command = [npm, "install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund"]
        try:
            installed = subprocess.run(
                [*command, "--prefix", str(HERE), PACKAGE],
                capture_output=True,
                check=False,
                timeout=INSTALL_DEADLINE_S,
            )
        except subprocess.TimeoutExpired:
            give_up("npm install timed out")
        if installed.returncode:
            give_up(f"npm install failed: {installed.stderr.decode(errors='replace')[-300:]}")
    return found


@promise("interop:typescript", "outputs:fit-their-schema")
def test_a_strict_typescript_client_takes_every_answer(node: str, tmp_path: Path) -> None:
    """F8; issue: every tool, success and error, without a validation error."""
    driver = subprocess.run(
        [node, str(HERE / "ts_client.mjs"), graymatter(), str(tmp_path / "store")],
        input=json.dumps([{"name": name, "arguments": sent} for name, sent, _ in CALLS]).encode(),
        capture_output=True,
        check=False,
        timeout=INSTALL_DEADLINE_S,
        env=environment(),
    )
    assert driver.returncode == 0, driver.stderr.decode()
    told = json.loads(driver.stdout)
    assert told["server"]["name"] == "graymatter"
    assert len(told["tools"]) == 7
    for (name, sent, is_error), answer in zip(CALLS, told["answers"], strict=True):
        assert "thrown" not in answer, (name, sent, answer)
        assert answer["isError"] is is_error, (name, sent, answer)
        assert answer["hasStructured"] is not is_error
        assert answer["items"] == ["text"]
    assert {name for name, _, _ in CALLS} == set(told["tools"])
    for tool in told["tools"]:
        assert {is_error for name, _, is_error in CALLS if name == tool} == {True, False}
