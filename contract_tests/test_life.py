"""What becomes of facts that are left alone, and of facts that were replaced."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

import pytest

from contract_tests.manifest import promise
from contract_tests.plane_wire import REST
from contract_tests.processes import processes_of
from contract_tests.wire import environment, graymatter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from contract_tests.plane_wire import Plane

HALF_LIFE_DAYS: Final = 30
SHELF: Final = "life"


def weights(plane: Plane) -> dict[str, float]:
    """Return the weight of each live fact, by its text."""
    answer = plane.rest("GET", f"/facts?{urlencode({'agent': SHELF})}")
    return {fact["text"]: fact["weight"] for fact in answer.document["facts"]}


def consolidate(plane: Plane) -> None:
    """Decay and prune."""
    answer = plane.rest("POST", "/consolidate", {"agent": SHELF})
    assert answer.document == {"status": "ok"}


@pytest.fixture
def plane(open_plane: Callable[..., Plane]) -> Plane:
    """A memory of its own, whose clock stands still."""
    return open_plane(load=None)


@promise("life:half-life", "life:any-rhythm")
def test_a_weight_is_halved_once_however_often_a_run_comes(plane: Plane) -> None:
    """C65, F28."""
    plane.core("memory_add", agent_id=SHELF, text="the kettle whistles")
    plane.core("memory_add", agent_id=SHELF, text="a roof leaks")
    plane.server.clock.move(days=HALF_LIFE_DAYS)
    for _ in range(20):
        consolidate(plane)
    assert weights(plane) == pytest.approx({"the kettle whistles": 0.5, "a roof leaks": 0.5})
    plane.core("memory_search", agent_id=SHELF, query="kettle", top_k=1)
    assert weights(plane)["the kettle whistles"] == pytest.approx(0.5)
    for _ in range(HALF_LIFE_DAYS):
        plane.server.clock.move(days=1)
        consolidate(plane)
    # Of one that was read a half-life ago and weighs half already, nothing more is taken.
    assert weights(plane) == pytest.approx({"the kettle whistles": 0.5, "a roof leaks": 0.25})


@promise("life:prune")
def test_what_nobody_reads_goes_and_what_is_pinned_stays(plane: Plane) -> None:
    """C66."""
    plane.core("memory_add", agent_id=SHELF, text="a roof leaks")
    plane.core("memory_add", agent_id=SHELF, text="the attic is dry")
    plane.core("memory_reflect", agent_id=SHELF, action="pin", target="the attic is dry")
    plane.server.clock.move(days=190)
    consolidate(plane)
    assert weights(plane).keys() == {"the attic is dry", "a roof leaks"}
    plane.server.clock.move(days=20)
    consolidate(plane)
    assert weights(plane) == {"the attic is dry": 1.0}


OLD: Final = "the relay listens on port 7001"
NEW: Final = "the relay listens on port 7002"


def seen(plane: Plane, **fields: Any) -> set[str]:
    """Return every text that reads of both surfaces give."""
    found: set[str] = set()
    for operation, asked in (
        ("search", {"query": "relay port"}),
        ("recent", {}),
        ("context", {"message": "relay port"}),
    ):
        body = plane.ok(REST, operation, namespace=SHELF, **asked, **fields)
        for part in (body, body.get("relevant", {}), body.get("recent", {})):
            found |= {item["content"] for item in part.get("results", [])}
    if not fields:
        core = plane.core("memory_search", agent_id=SHELF, query="relay port")
        found |= set(core["facts"])
    return found


@promise("replaced:everywhere")
@pytest.mark.parametrize("surface", ["core", "plane"])
def test_a_replaced_fact_is_in_no_read_of_either_surface(plane: Plane, surface: str) -> None:
    """F20."""
    plane.core("memory_add", agent_id=SHELF, text=OLD)
    assert seen(plane) == {OLD}
    plane.server.clock.move(minutes=1)
    before = plane.server.clock.now().isoformat().replace("+00:00", "Z")
    plane.server.clock.move(minutes=1)
    if surface == "core":
        plane.core("memory_reflect", agent_id=SHELF, action="update", target=OLD, text=NEW)
    else:
        assert "superseded" in plane.ok(REST, "capture", content=NEW, namespace=SHELF)
    assert seen(plane) == {NEW}
    assert seen(plane, asOf=before) == {OLD}
    plane.server.clock.move(days=HALF_LIFE_DAYS)
    consolidate(plane)
    assert seen(plane) == {NEW}


@promise("replaced:everywhere")
def test_rewordings_of_a_replaced_fact_are_pointed_out(plane: Plane) -> None:
    """F20: three rewordings of the old one stand in the report."""
    plane.ok(REST, "capture", content=OLD, namespace=SHELF)
    plane.ok(REST, "capture", content=NEW, namespace=SHELF)
    copies = plane.keep(
        SHELF,
        "the relay still listens on port 7001",
        "the relay listens to us on port 7001",
        "the old relay listens on port 7001",
    )
    stale = plane.ok(REST, "hygiene")["stale"]
    assert {item["id"] for item in stale if item["reason"] == "copy_of_superseded"} == set(copies)


def doctor(directory: Path) -> subprocess.CompletedProcess[str]:
    """Let it look at a directory."""
    return subprocess.run(
        [graymatter(), "--dir", str(directory), "--json", "doctor"],
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )


@promise("doctor:looks")
def test_doctor_fails_only_with_a_check_and_leaves_no_trace(tmp_path: Path) -> None:
    """C75."""
    missing = tmp_path / "none"
    looked = doctor(missing)
    statuses = {check["status"] for check in json.loads(looked.stdout)["checks"]}
    assert looked.returncode == 0
    assert "fail" not in statuses
    damaged = tmp_path / "damaged"
    damaged.mkdir(mode=0o700)
    (damaged / "gray.duckdb").write_bytes(b"no database")
    looked = doctor(damaged)
    statuses = {check["status"] for check in json.loads(looked.stdout)["checks"]}
    assert looked.returncode == 1
    assert "fail" in statuses
    assert list(tmp_path.rglob("*")) == [damaged, damaged / "gray.duckdb"]
    assert (damaged / "gray.duckdb").read_bytes() == b"no database"
    assert processes_of(missing) == processes_of(damaged) == set()
