from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from graymatter_mcp.embedding.hashed import HashedEmbedder
from graymatter_mcp.model.requests import BatchRecallRequest
from tests.engine.desk import AGENT, DEADLINE_S, a_request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anyio.from_thread import BlockingPortal

    from graymatter_mcp.embedding.base import Windows
    from tests.engine.conftest import DeskMaker

QUERIES = tuple(f"question {number}" for number in range(200))


class Recording(HashedEmbedder):
    """Notes in which order queries come, and holds the first up until the test goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.is_reached = threading.Event()
        self.may_go_on = threading.Event()

    def embed(self, texts: Sequence[str]) -> list[Windows]:
        """Embed, when the test allows it."""
        self.asked += texts
        if texts[0] in QUERIES:
            self.is_reached.set()
            assert self.may_go_on.wait(DEADLINE_S)
        return super().embed(texts)


def test_a_search_does_not_wait_for_the_rest_of_a_long_batch(
    make_desk: DeskMaker, portal: BlockingPortal
) -> None:
    """Issue 3: a batch has as many queries at work as there are cores; the next turn is ours."""
    embedder = Recording()
    desk = make_desk(load=lambda: embedder)
    desk.add("the harbour is closed")
    desk.settle()
    batch = portal.start_task_soon(
        desk.memory.recall_batch, BatchRecallRequest(namespace=AGENT, queries=QUERIES)
    )
    assert embedder.is_reached.wait(DEADLINE_S)
    single = portal.start_task_soon(desk.memory.recall, a_request("harbour"))
    desk.run(desk.memory.ping)
    embedder.may_go_on.set()
    assert single.result(DEADLINE_S).facts == ("the harbour is closed",)
    assert len(batch.result(DEADLINE_S).per_query) == len(QUERIES)
    before = embedder.asked[: embedder.asked.index("harbour")]
    assert len([text for text in before if text in QUERIES]) < len(QUERIES) / 4
