from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.command import Command

if TYPE_CHECKING:
    from pathlib import Path

RECEIPT = {"text", "weight", "age_days", "ranks", "provenance"}


def test_what_one_call_stores_the_next_one_finds(graymatter: Command) -> None:
    """Contract 11.2: keys of remember and recall."""
    assert graymatter.json("remember", "ana", "deploys run on Tuesday") == {
        "agent_id": "ana",
        "status": "stored",
    }
    labelled = graymatter.json("remember", "ana", "vaults open", "--confidence", "verified")
    assert {**labelled, "fact_id": "?"} == {
        "agent_id": "ana",
        "status": "stored",
        "fact_id": "?",
        "confidence": "verified",
    }
    assert graymatter.json("remember", "ana", "all know this", "--shared") == {
        "scope": "shared",
        "status": "stored",
    }
    assert graymatter.json("recall", "ana", "deploys Tuesday", "--top-k", "1") == {
        "agent_id": "ana",
        "scope": "agent",
        "query": "deploys Tuesday",
        "facts": ["deploys run on Tuesday"],
        "count": 1,
        "feedback": "",
    }
    assert graymatter.json("recall", "ana", "know", "--shared") == {
        "agent_id": "ana",
        "scope": "shared",
        "query": "know",
        "facts": ["all know this"],
        "count": 1,
        "feedback": "",
    }
    everywhere = graymatter.json("recall", "ana", "know", "--all", "--top-k", "2")
    assert (everywhere["scope"], everywhere["count"]) == ("all", 2)
    assert set(everywhere) == {"agent_id", "scope", "query", "facts", "count", "feedback"}


def test_receipts_batches_and_filters_have_their_own_keys(graymatter: Command) -> None:
    """Contract 11.2: explain and batch."""
    graymatter.json("remember", "ana", "deploys run on Tuesday")
    explained = graymatter.json("recall", "ana", "deploys", "--explain", "--min-confidence",
                                "inferred", "--confidence-weight", "0.2")  # fmt: skip
    assert set(explained) == {"agent_id", "scope", "query", "facts", "count", "retrieval"}
    assert explained["retrieval"] == {
        "min_confidence": "inferred",
        "confidence_weight": 0.2,
        "policy": "confidence-v1",
        "kg": "suppressed_min_confidence",
    }
    assert set(explained["facts"][0]) == RECEIPT | {"ranking"}
    plain = graymatter.json("recall", "ana", "deploys", "--explain")
    assert set(plain) == {"agent_id", "scope", "query", "facts", "count"}
    assert set(plain["facts"][0]) == RECEIPT
    batch = graymatter.json("recall", "ana", "--query", "deploys", "--query", "Tuesday")
    assert batch == {
        "agent_id": "ana",
        "queries": 2,
        "count": 1,
        "merged": ["deploys run on Tuesday"],
        "per_query": [
            {"query": "deploys", "facts": ["deploys run on Tuesday"]},
            {"query": "Tuesday", "facts": ["deploys run on Tuesday"]},
        ],
        "scope": "agent",
    }


def test_status_counts_the_store(graymatter: Command) -> None:
    """Contract 11.2: keys of status; keyword only by choice is not degraded."""
    graymatter.json("remember", "ana", "deploys run on Tuesday")
    graymatter.json("recall", "ana", "deploys")
    document = graymatter.json("status")
    (agent,) = document["store"].pop("agents")
    assert document == {
        "mode": "in_process",
        "store": {
            "total_agents": 1,
            "total_live_facts": 1,
            "total_tombstones": 0,
            "pending_vector_ops": 0,
            "consolidations": 0,
            "facts_consumed": 0,
            "pinned": 0,
        },
        "kg": {"auto_populate": False, "nodes": 0, "edges": 0},
    }
    assert agent.pop("oldest_at") == agent.pop("newest_at")
    assert agent == {"agent": "ana", "live_facts": 1, "recalls": 1, "avg_weight": 1.0}


def test_people_read_text_and_quiet_says_nothing_beside_the_answer(graymatter: Command) -> None:
    """Contract 11.1."""
    stored = graymatter("remember", "ana", "deploys run on Tuesday")
    assert (stored.status, stored.stderr) == (0, "")
    assert "ana" in stored.stdout
    assert graymatter("recall", "ana", "deploys").stdout == "deploys run on Tuesday\n"
    assert graymatter("--quiet", "remember", "ana", "more").stdout == ""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["no-such-command"], "invalid_argument"),
        (["remember"], "invalid_argument"),
        (["recall", "ana", "q", "--no-such-flag"], "invalid_argument"),
        (["recall", "ana", "q", "--top-k", "many"], "invalid_argument"),
        (["recall", "ana"], "invalid_argument"),
        (["recall", "ana", "q", "--shared", "--all"], "invalid_argument"),
        (["recall", "ana", "q", "--explain", "--all"], "invalid_argument"),
        (["recall", "ana", "q", "--explain", "--query", "r"], "invalid_argument"),
        (["remember", "ana", "t", "--confidence", "sure"], "invalid_argument"),
        (["recall", "ana", "q", "--confidence-weight", "nan"], "invalid_argument"),
        (["remember", " ", "t"], "invalid_argument"),
        ([], "invalid_argument"),
    ],
)
def test_an_error_is_exit_one_and_one_document_on_stderr(
    graymatter: Command, arguments: list[str], code: str
) -> None:
    """Contract 11.1: usage errors too."""
    (graymatter.where / ".graymatter").mkdir()
    (graymatter.where / ".graymatter" / "MEMORY.md").touch()
    outcome = graymatter("--json", *arguments)
    assert set(outcome.complaint) == {"error", "code"}
    assert outcome.complaint["code"] == code
    assert outcome.complaint["error"]


def test_without_json_an_error_is_one_line_for_people(graymatter: Command) -> None:
    """Contract 11.1; never a traceback."""
    outcome = graymatter("recall", "ana", "q")
    assert (outcome.status, outcome.stdout) == (1, "")
    assert len(outcome.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", [["recall", "ana", "q"], ["status"]])
def test_looking_creates_nothing(graymatter: Command, command: list[str]) -> None:
    """Contract 10.1, 11.2: only a write makes a memory."""
    assert graymatter("--json", *command).complaint["code"] == "routing"
    assert not list(graymatter.where.iterdir())


def test_environment_flags_and_warnings(graymatter: Command) -> None:
    """Contract 11.5: bad values name the variable, misspelt ones are warned about."""
    bad = graymatter("--json", "remember", "ana", "t", GRAYMATTER_TOP_K="none")
    assert bad.complaint["code"] == "invalid_argument"
    assert "GRAYMATTER_TOP_K" in bad.complaint["error"]
    misspelt = graymatter("--json", "remember", "ana", "t", GRAYMATTER_TOPK="3")
    assert misspelt.document["status"] == "stored"
    assert "GRAYMATTER_TOPK" in misspelt.stderr
    routed = graymatter("--json", "remember", "ana", "t", CLAUDE_PROJECT_DIR="")
    assert routed.complaint["code"] == "routing"
    chosen = graymatter("--json", "remember", "ana", "t", GRAYMATTER_DIR="by-variable")
    assert chosen.status == 0
    assert (graymatter.where / "by-variable" / "gray.duckdb").is_file()


def test_files_are_private_whatever_the_umask(graymatter: Command) -> None:
    """Design, section 6: 0700 and 0600, for every file."""
    old = os.umask(0)
    try:
        graymatter.json("remember", "ana", "deploys run on Tuesday")
    finally:
        os.umask(old)
    directory = graymatter.where / ".graymatter"
    modes = {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in directory.iterdir()}
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert modes["gray.duckdb"] == "0o600"
    assert set(modes.values()) == {"0o600"}


LOCALES: dict[str, dict[str, str]] = {
    "cp1252": {"PYTHONIOENCODING": "cp1252"},
    "C": {"LANG": "C", "PYTHONUTF8": "0"},
    "C throughout": {
        "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "cp1252"
    },
}  # fmt: skip
TEXT = "le 🦙 mange à 東京都: Cafe\u0301 ‮ ñ"


@pytest.mark.parametrize("name", sorted(LOCALES))
def test_any_text_works_as_content_agent_and_path_whatever_the_locale(
    tmp_path: Path, name: str
) -> None:
    """F7: the CLI stores, finds and prints it, for people and for programs."""
    graymatter = Command(tmp_path, LOCALES[name])
    agent, path = "agent 🦙 東京 e\u0301", "dir 🦙 東京 e\u0301"
    stored: Any = graymatter.json("--dir", path, "remember", agent, TEXT)
    assert stored["agent_id"] == agent
    assert graymatter.json("--dir", path, "recall", agent, "東京都 🦙")["facts"] == [TEXT]
    assert graymatter("--dir", path, "recall", agent, "cafe\u0301").stdout == TEXT + "\n"
    assert [one.name for one in tmp_path.iterdir()] == [path]
    wrong = graymatter("--json", "--dir", path, "recall", agent, "q", "--🦙")
    assert "🦙" in wrong.complaint["error"]
