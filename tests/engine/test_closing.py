from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from graymatter_mcp.embedding.hashed import HashedEmbedder
from graymatter_mcp.errors import StoreClosedError
from tests.engine.desk import AGENT, DEADLINE_S, Desk, a_request, until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anyio.from_thread import BlockingPortal

    from graymatter_mcp.embedding.base import Windows
    from tests.engine.conftest import DeskMaker


class SlowQuery(HashedEmbedder):
    """Is held up on the query ``slow``."""

    def __init__(self) -> None:
        super().__init__()
        self.is_reached = threading.Event()
        self.may_go_on = threading.Event()

    def embed(self, texts: Sequence[str]) -> list[Windows]:
        """Embed, when the test allows it."""
        if "slow" in texts:
            self.is_reached.set()
            assert self.may_go_on.wait(DEADLINE_S)
        return super().embed(texts)


def is_refused(desk: Desk) -> bool:
    """Whether new calls are refused."""
    try:
        desk.run(desk.memory.ping)
    except StoreClosedError:
        return True
    return False


def test_a_call_that_had_begun_is_answered_before_the_store_is_closed(
    make_desk: DeskMaker, portal: BlockingPortal
) -> None:
    """Contract 9.1: new calls are refused at once; the database must not go away under a read."""
    embedder = SlowQuery()
    desk = make_desk(load=lambda: embedder)
    desk.add("slow deploys")
    desk.settle()
    begun = portal.start_task_soon(desk.memory.recall, a_request("slow"))
    assert embedder.is_reached.wait(DEADLINE_S)
    closing = portal.start_task_soon(desk.memory.aclose)
    until(lambda: is_refused(desk))
    assert not closing.done()
    embedder.may_go_on.set()
    assert begun.result(DEADLINE_S).facts == ("slow deploys",)
    closing.result(DEADLINE_S)


def test_who_waits_for_vectors_is_released_by_closing(
    make_desk: DeskMaker, portal: BlockingPortal
) -> None:
    """C71: closing unblocks every waiting call, and nothing is said to be settled that is not."""
    gate = threading.Event()

    def load() -> HashedEmbedder:
        assert gate.wait(DEADLINE_S)
        return HashedEmbedder()

    desk = make_desk(load=load)
    waiting = portal.start_task_soon(desk.memory.wait_until_settled, 3600.0)
    listed = desk.run(desk.memory.list_facts, AGENT)
    closing = portal.start_task_soon(desk.memory.aclose)
    assert (waiting.result(DEADLINE_S), listed) == (False, [])
    gate.set()
    closing.result(DEADLINE_S)
