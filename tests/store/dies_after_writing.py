"""A process that is killed as soon as its facts are acknowledged.

Run as ``python -m tests.store.dies_after_writing FILE COUNT [fresh] [tidy]``; not a test by itself.
With ``fresh`` the facts go the way of ids that cannot exist yet, through the journal; with ``tidy``
the journal drops its head again and again meanwhile.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from graymatter_mcp.store.base import WriteBatch
from graymatter_mcp.store.conformance.kit import SHELF, a_fact, ulid, with_terms
from graymatter_mcp.store.duckdb import tables
from graymatter_mcp.store.duckdb.store import DuckDBStore

if __name__ == "__main__":
    if "tidy" in sys.argv:
        tables.MAX_LOG_BYTES = 4096
        tables.IDLE_S = 0.0
    store = DuckDBStore(Path(sys.argv[1]))
    start = len(store.list(SHELF))
    for number in range(start, start + int(sys.argv[2])):
        fact = a_fact(f"fact {number}", id=ulid((number + 1) << 64))
        store.apply(WriteBatch(facts=(with_terms(fact),), is_fresh="fresh" in sys.argv))
    os.kill(os.getpid(), signal.SIGKILL)
