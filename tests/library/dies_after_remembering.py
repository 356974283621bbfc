"""A process that is killed as soon as its facts are acknowledged, before their vectors are made.

Run as ``python -m tests.library.dies_after_remembering DIRECTORY``; not a test by itself.
"""

from __future__ import annotations

import os
import signal
import sys

from graymatter_mcp import Memory

FACTS = (
    "A fire-breathing dragon guards the golden hoard.",
    "Train timetables change in December.",
    "Tomato soup needs basil.",
)

if __name__ == "__main__":
    memory = Memory(sys.argv[1])
    for fact in FACTS:
        memory.remember("ana", fact)
    os.kill(os.getpid(), signal.SIGKILL)
