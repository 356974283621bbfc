"""The core's memory as users and projects reach it, on every store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from graymatter_mcp.engine.scoped import memory_for
from graymatter_mcp.errors import ForbiddenError, NoCheckpointsError, ReadOnlyError
from graymatter_mcp.model.access import LOCAL_CALLER, Caller, Rights
from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.model.requests import BatchRecallRequest, RecallRequest, RememberRequest
from tests.engine.desk import AGENT

if TYPE_CHECKING:
    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.engine.plane.accounts import Accounts
    from tests.engine.desk import Desk


def accounts(desk: Desk) -> Accounts:
    """Return the accounts of the desk's memory."""
    return desk.memory.plane.accounts


def seen_by(desk: Desk, caller: Caller) -> Memory:
    """Return the memory as somebody uses it."""
    return memory_for(desk.memory, accounts(desk).reach, caller)


def add(memory: Memory, text: str) -> None:
    """Store one fact on the shelf that all of them name."""

    async def work() -> None:
        fact = await memory.remember(RememberRequest(namespace=AGENT, text=text))
        assert fact.agent_id == AGENT

    anyio.run(work)


def found(memory: Memory, query: str = "port") -> set[str]:
    """Search that shelf."""

    async def work() -> set[str]:
        result = await memory.recall(RecallRequest(namespace=AGENT, query=query, hints=False))
        return set(result.facts)

    return anyio.run(work)


def user(desk: Desk, name: str) -> Caller:
    """Make a user."""
    made = accounts(desk).users.create(LOCAL_CALLER, name)
    return Caller(tenant=made.tenant, user_id=made.id)


def test_users_of_one_shelf_name_never_meet(desk: Desk) -> None:
    """Data plane 2.3, rule 4: the caller's user-global facts, and nobody else's."""
    ana, bob = user(desk, "ana"), user(desk, "bob")
    for caller, text in ((LOCAL_CALLER, "port 1"), (ana, "port 2"), (bob, "port 3")):
        add(seen_by(desk, caller), text)
    assert found(seen_by(desk, LOCAL_CALLER)) == {"port 1"}
    assert found(seen_by(desk, ana)) == {"port 2"}
    assert found(seen_by(desk, bob)) == {"port 3"}


def test_a_pinned_token_stays_in_its_project(desk: Desk) -> None:
    """Data plane 2.3, rule 1: user-global facts are out of reach, membership is checked anew."""
    ana = user(desk, "ana")
    project = accounts(desk).projects.create(LOCAL_CALLER, "apollo")
    accounts(desk).projects.add_member(LOCAL_CALLER, project.id, "ana")
    pinned = Caller(tenant=ana.tenant, user_id=ana.user_id, rights=Rights(project=project.id))
    add(seen_by(desk, ana), "port of ana")
    add(seen_by(desk, pinned), "port of apollo")
    assert found(seen_by(desk, pinned)) == {"port of apollo"}
    assert found(seen_by(desk, ana)) == {"port of ana"}
    accounts(desk).projects.remove_member(LOCAL_CALLER, project.id, ana.user_id)
    with pytest.raises(ForbiddenError, match="not a member"):
        seen_by(desk, pinned)


def test_beside_an_active_project_ones_own_facts_are_read(desk: Desk) -> None:
    """Data plane 2.3, rule 2: reads cover both, writes go to the project."""
    project = accounts(desk).projects.create(LOCAL_CALLER, "apollo")
    add(seen_by(desk, LOCAL_CALLER), "port of mine")
    accounts(desk).projects.activate(LOCAL_CALLER, project.id)
    working = seen_by(desk, LOCAL_CALLER)
    add(working, "port of apollo")
    assert found(working) == {"port of mine", "port of apollo"}

    async def batch() -> set[str]:
        request = BatchRecallRequest(namespace=AGENT, queries=("port", "apollo"))
        return set((await working.recall_batch(request)).merged)

    assert anyio.run(batch) == {"port of mine", "port of apollo"}
    accounts(desk).projects.deactivate(LOCAL_CALLER)
    assert found(seen_by(desk, LOCAL_CALLER)) == {"port of mine"}


def test_nothing_tells_of_the_shelf_behind_a_name(desk: Desk) -> None:
    """House 5, question 9: no text of an error names another owner's shelf."""
    ana = seen_by(desk, user(desk, "ana"))
    with pytest.raises(NoCheckpointsError) as caught:
        anyio.run(ana.resume_checkpoint, AGENT)
    assert str(caught.value) == f'no checkpoints for agent "{AGENT}"'

    async def save() -> str:
        await ana.save_checkpoint(AGENT, {"step": 1})
        return (await ana.resume_checkpoint(AGENT)).agent_id

    assert anyio.run(save) == AGENT


@pytest.mark.parametrize("name", ["list_agents", "status", "list_facts", "backup", "delete"])
def test_the_whole_store_is_this_machines_users(desk: Desk, name: str) -> None:
    """Data plane 1.1: nothing crosses the walls."""
    ana = seen_by(desk, user(desk, "ana"))
    with pytest.raises(ForbiddenError):
        anyio.run(getattr(ana, name), AGENT)


def test_a_forged_name_is_refused(desk: Desk) -> None:
    """House 5, question 9: a name from outside never leads to somebody else's shelf."""
    ana = user(desk, "ana")
    add(seen_by(desk, ana), "port of ana")
    forged = Namespace(f"\x1fu/{ana.tenant}/{ana.user_id}\x1f{AGENT}")
    request = RecallRequest(namespace=forged, query="port")
    for caller in (LOCAL_CALLER, user(desk, "bob")):
        with pytest.raises(Exception, match=r"U\+001F"):
            anyio.run(seen_by(desk, caller).recall, request)


def test_a_read_only_user_writes_nowhere(desk: Desk) -> None:
    """Data plane 2.1: reads only."""
    ana = user(desk, "ana")
    reader = Caller(tenant=ana.tenant, user_id=ana.user_id, rights=Rights(may_write=False))
    with pytest.raises(ReadOnlyError):
        add(seen_by(desk, reader), "port")
    add(seen_by(desk, ana), "port of ana")
    assert found(seen_by(desk, reader)) == {"port of ana"}
