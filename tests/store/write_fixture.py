"""Writes the store of this version and its answers into ``tests/store/fixtures``.

Run once per release: ``python tests/store/write_fixture.py``. Files that exist are left alone.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from graymatter_mcp import Memory, WriteOptions
from graymatter_mcp.model.config import Config

FIXTURES: Final = Path(__file__).parent / "fixtures"
QUERIES: Final = (
    "Which port does staging use?",
    "deploy day",
    "Wann ist das Treffen?",
    "database password rotation",
)


def write(memory: Memory) -> None:
    """Store something of every kind."""
    store = memory.advanced()
    memory.remember("ana", "The staging port is 8137.")
    memory.remember("ana", "Deploys run on Tuesday mornings.")
    memory.remember("ana", "Das Treffen beginnt um zwölf Uhr.")
    memory.remember_with_options(
        "ana", "Passwords rotate every 90 days.", WriteOptions(confidence="verified")
    )
    memory.remember_shared("The database is PostgreSQL 16.")
    store.put_alias("ana", "staging", ["preprod"])
    old = store.put_returning_fact("ana", "The office is in Bonn.")
    store.revise_facts_with_options("ana", [old], "The office is in Berlin.", WriteOptions())
    pinned = store.put_returning_fact("ana", "Never commit on Friday evenings.")
    store.set_pinned("ana", [pinned.id], True)
    gone = store.put_returning_fact("bob", "This one was retired.")
    store.retire("bob", [gone.id])
    store.save_checkpoint("ana", {"step": 3, "done": ["a", "b"]}, metadata={"branch": "main"})
    assert memory.wait_until_settled()


def answers(memory: Memory) -> dict[str, Any]:
    """Ask for everything; what a recall itself changes is left out."""
    store = memory.advanced()
    return {
        "recall": {query: memory.recall("ana", query) for query in QUERIES},
        "recall_all": {query: memory.recall_all("ana", query) for query in QUERIES},
        "facts": {
            agent: [
                [
                    fact.id,
                    fact.text,
                    fact.created_at.isoformat(),
                    fact.superseded_by,
                    fact.confidence,
                    fact.kind,
                    fact.pinned,
                    fact.alias and str(fact.alias),
                ]
                for fact in store.list(agent)
            ]
            for agent in store.list_agents()
        },
        "checkpoints": [
            [one.id, one.created_at.isoformat(), one.state, dict(one.metadata)]
            for one in store.list_checkpoints("ana")
        ],
    }


def main() -> None:
    """Write both files of the installed version."""
    version = metadata.version("graymatter-mcp")
    packed, told = FIXTURES / f"{version}.duckdb.gz", FIXTURES / f"{version}.json"
    if packed.exists():
        sys.exit(f"{packed.name} exists: a released store is never changed")
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "memory"
        with Memory(config=Config(data_dir=directory)) as memory:
            write(memory)
            found = answers(memory)
        packed.write_bytes(gzip.compress((directory / "gray.duckdb").read_bytes(), mtime=0))
    told.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
