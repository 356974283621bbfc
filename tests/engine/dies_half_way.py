"""A process that re-embeds a store with another model and is killed after the first batch.

Run as ``python -m tests.engine.dies_half_way DATABASE``; not a test by itself.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graymatter_mcp.embedding.hashed import HashedEmbedder
from graymatter_mcp.engine.clock import Clock
from graymatter_mcp.engine.local import LocalMemory
from graymatter_mcp.ranking.tokens import Analyzer
from graymatter_mcp.store.duckdb.store import DuckDBStore
from tests.engine.desk import DEADLINE_S, QUIET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.embedding.base import Windows

OTHER_DIM: Final = 32
LAST_TEXT: Final = 40
"""The text, in the second batch of 32, at which the process dies."""


class DyingEmbedder(HashedEmbedder):
    """Kills its process while it embeds."""

    _done = 0

    def embed(self, texts: Sequence[str]) -> list[Windows]:
        """Embed, for a while."""
        self._done += len(texts)
        if self._done >= LAST_TEXT:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().embed(texts)


if __name__ == "__main__":
    memory = LocalMemory(
        DuckDBStore(Path(sys.argv[1])),
        lambda: DyingEmbedder(OTHER_DIM),
        Analyzer(None),
        QUIET,
        Clock(),
    )
    memory.models.wait_until_settled(DEADLINE_S)
