"""Takes stdin and stdout away from everything but the wire, before anything else can print.

Standard library only, so that a command can claim before its first heavy import.
"""

from __future__ import annotations

import os
import sys


class ClaimedStdio:
    """Private duplicates of the descriptors that the client gave us; children do not get them."""

    __slots__ = ("stdin", "stdout")

    def __init__(self, *, stdin: int, stdout: int) -> None:
        self.stdin = stdin
        self.stdout = stdout


_claimed: ClaimedStdio | None = None


def claim_stdio() -> ClaimedStdio:
    """Claim stdin and stdout of this process; a second call returns the same claim.

    Afterwards fd 0 is the null device and fd 1 is stderr, for us and for child processes. What is
    still in a print buffer ends on stderr or nowhere.
    """
    global _claimed
    if _claimed is None:
        # First of all: text in a print buffer is flushed at exit, whatever fd 1 is by then.
        sys.stdout = sys.stderr
        for fd, flags in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
            _ensure_open(fd, flags)
        _claimed = ClaimedStdio(stdin=os.dup(0), stdout=os.dup(1))
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
    return _claimed


def _ensure_open(fd: int, flags: int) -> None:
    # A client may start us with a standard descriptor closed; a duplicate would then land on it.
    try:
        os.fstat(fd)
    except OSError:
        opened = os.open(os.devnull, flags)
        if opened != fd:
            os.dup2(opened, fd)
            os.close(opened)
