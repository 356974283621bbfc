"""A process that captures facts, each in the place of the one before, until it is killed.

Run as ``python -m tests.engine.plane.dies_while_capturing DIRECTORY FIRST MILLISECONDS``; not a
test by itself. It kills itself so long after the first fact, and writes the number of each fact
once that is acknowledged.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from itertools import count
from pathlib import Path

from contract_tests.inside import engine, keyword_config
from graymatter_mcp.engine.local import LocalMemory
from graymatter_mcp.model.access import LOCAL_CALLER
from tests.engine.plane.chain import entry

if __name__ == "__main__":
    directory, first, milliseconds = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])

    def die() -> None:
        """Wait, then end without a word to anybody."""
        time.sleep(milliseconds / 1000)
        os.kill(os.getpid(), signal.SIGKILL)

    with engine(keyword_config(directory)) as opened:
        assert isinstance(opened.memory, LocalMemory)
        plane = opened.memory.plane
        for number in count(first):
            opened.run(plane.capture, LOCAL_CALLER, entry(number))
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()
            if number == first:
                threading.Thread(target=die, daemon=True).start()
