"""A process that is killed as soon as its facts are acknowledged.

Run as ``python -m tests.store.dies_after_writing FILE COUNT [WORD ...]``; not a test by itself.
With ``fresh`` the facts go the way of ids that cannot exist yet, through the journal; with ``tidy``
the journal drops its head again and again meanwhile. With ``replaced`` each fact is then replaced
by another, and with ``erased`` all are erased in the end.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from graymatter_mcp.model.times import EPOCH
from graymatter_mcp.store.base import Receipt, WriteBatch
from graymatter_mcp.store.conformance.kit import SHELF, a_fact, patch_of, ulid, with_terms
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
        if "replaced" in sys.argv:
            heir = a_fact(f"heir {number}", id=ulid((number + 1 << 64) + 1))
            retired = patch_of(fact, expected=fact, superseded_by=heir.id)
            receipt = Receipt(key=f"call {number}", digest="d", outcome="o", at=EPOCH)
            store.apply(WriteBatch(facts=(with_terms(heir),), patches=(retired,), receipt=receipt))
    if "erased" in sys.argv:
        store.apply(WriteBatch(delete=tuple((SHELF, one.id) for one in store.list(SHELF))))
    os.kill(os.getpid(), signal.SIGKILL)
