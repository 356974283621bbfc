"""The first moments of an owner that a client started: the lock, before anything that costs time.

Of many started at once one goes on; the others cost a few milliseconds each.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any, Final

from graymatter_mcp.bridge.directory import DATABASE_FILE, holds_store, read_owner
from graymatter_mcp.bridge.link import COMING_UP_TIMEOUT_S, EXIT_TAKEN, REASON, connect
from graymatter_mcp.errors import GraymatterError, StoreUnavailableError
from graymatter_mcp.owner.election import Ownership, prepare_directory

_POLL_S: Final = 0.01
_MAX_INHERITED: Final = 4096


def claim_directory(directory: Path, *, may_create: bool) -> Ownership:
    """Take the directory, or end the process with 3 where another owner serves it.

    An owner on its way out still holds the lock but answers nobody: that is worth a wait.
    """
    # What a client left open would live as long as we do, and nobody would see its end.
    os.closerange(3, _MAX_INHERITED)
    deadline = time.monotonic() + COMING_UP_TIMEOUT_S
    try:
        prepare_directory(
            directory,
            DATABASE_FILE,
            may_create=may_create,
            has_store=holds_store(str(directory)),
        )
        while True:
            try:
                return Ownership(directory)
            except StoreUnavailableError:
                note = read_owner(str(directory))
                if note is not None and _answers(note):
                    sys.exit(EXIT_TAKEN)
                if (note is not None and "lines" not in note) or time.monotonic() > deadline:
                    raise  # a process that has the directory for itself, or one that hangs
                time.sleep(_POLL_S)
    except GraymatterError as exc:
        sys.stderr.write(f"{REASON}{exc}\n")
        sys.exit(1)


def _answers(note: dict[str, Any]) -> bool:
    connection = connect(note, "lines")
    if connection is None:
        return False
    connection.close()
    return True
