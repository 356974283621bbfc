"""One operation, asked over REST, as a tool and on the command line: one answer."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

from contract_tests.credentials import SERVER_TOKEN
from contract_tests.http_wire import HttpServer
from contract_tests.manifest import promise
from contract_tests.plane_wire import DOORS, Plane
from contract_tests.wire import environment, graymatter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from contract_tests.plane_server import PlaneServer

PORT: Final = "The staging API listens on port 7778"
FACTS: Final = (
    "Deploys need two approvals",
    "Invoices are sent on Fridays at noon",
    "The café's Wi-Fi is down: «gone» 🦙 \x1b[31m\nfor good",
    PORT,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of the server."""
    return tmp_path_factory.mktemp("parity") / "store"


@pytest.fixture(scope="module")
def plane(store: Path) -> Iterator[Plane]:
    """A server as a process, which commands reach over its own door."""
    variables = {
        "GRAYMATTER_HTTP_TOKEN": SERVER_TOKEN,
        "GRAYMATTER_RATE_LIMIT": "0",
        "GRAYMATTER_MODEL": "all-MiniLM-L6-v2",
    }
    with HttpServer(store, "--toolset", "core,dataplane", **variables) as server:
        opened = Plane(cast("PlaneServer", server))  # of which it asks only the port
        for place, fact in enumerate(FACTS):
            metadata = {"session": "s", "place": place}
            opened.ok("rest", "capture", content=fact, namespace="web", metadata=metadata)
        # A command waits for the model, so that no later answer is made without it.
        command(store, "context", "deploys")
        yield opened


def command(store: Path, *words: str) -> Any:
    """Run one command; return its document."""
    done = subprocess.run(
        [graymatter(), "--dir", str(store), "--json", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        env=environment(),
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


@promise("plane:parity")
def test_what_only_reads_answers_alike_everywhere(plane: Plane, store: Path) -> None:
    """D59; issue 5: REST, MCP in both eras, and `--json`."""
    recent = plane.alike("recent", namespace="web", k=3)
    assert command(store, "recent", "--namespace", "web", "--k", "3") == recent
    ids = [item["id"] for item in recent["results"]]
    assert [item["content"] for item in recent["results"]] == list(FACTS[:0:-1])
    # At one instant: how recent a fact is shows in its signals.
    now = datetime.now(UTC).isoformat()
    fields: dict[str, Any] = {"includeNamespaces": ["web"], "k": 2, "asOf": now}
    context = plane.alike("context", message="staging port", **fields)
    words = ["staging port", "--include-namespaces", "web", "--k", "2", "--as-of", now]
    assert command(store, "context", *words) == context
    assert context["relevant"]["results"][0]["content"] == PORT
    assert context["relevant"]["degraded"] is False
    neighbors = plane.alike("neighbors", id=ids[0], depth=2)
    assert command(store, "neighbors", ids[0], "--depth", "2") == neighbors
    assert neighbors["results"]
    short = plane.alike("recent", contentMode="snippet", maxBytes=1000)
    assert command(store, "recent", "--content-mode", "snippet", "--max-bytes", "1000") == short
    assert short["omitted"]
    report = plane.alike("hygiene", k=5)
    assert command(store, "hygiene", "--k", "5") == report
    assert report["summary"]["scanned"] == len(FACTS)
    projects = plane.ok("rest", "projects-list")
    assert command(store, "project", "list") == projects
    assert {json.dumps(plane.ok(door, "projects-list")) for door in DOORS} == {json.dumps(projects)}


@promise("plane:parity")
def test_a_repeated_capture_is_told_alike_everywhere(plane: Plane, store: Path) -> None:
    """D41, D59; issue 5."""
    (stored,) = plane.ok("rest", "recent", namespace="web", k=1)["results"]
    told = command(store, "capture", PORT, "--namespace", "web")
    assert told == {"id": stored["id"], "deduplicated": True, "embedded": True}
    for door in DOORS:
        assert plane.ok(door, "capture", content=PORT, namespace="web") == told


@promise("plane:parity")
def test_a_refusal_is_told_alike_everywhere(plane: Plane, store: Path) -> None:
    """D59: the command says what REST says."""
    refused = plane.refused_alike("neighbors", id="x", project="nobody's")
    done = subprocess.run(
        [graymatter(), "--dir", str(store), "--json", "neighbors", "x", "--project", "nobody's"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        env=environment(),
    )
    assert (done.returncode, done.stdout) == (1, b"")
    complaint = json.loads(done.stderr)
    assert complaint == {"error": refused.document["error"], "code": "not_found"}
