"""Files that only this user may read: exchanged whole, by one process at a time."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from graymatter_mcp.errors import StoreUnavailableError

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

_PRIVATE: Final = 0o600
_WAIT_S: Final = 10.0
_POLL_S: Final = 0.01


@contextmanager
def locked(lock: Path) -> Generator[None]:
    """Keep every other process from changing what this lock guards.

    Args:
        lock: Its file; made when it is missing, and never taken away, since a second process may
            already wait on it.

    Raises:
        StoreUnavailableError: The file cannot be made, or somebody holds it for too long.
    """
    try:
        fd = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, _PRIVATE)
    except OSError as exc:
        raise StoreUnavailableError("the data directory cannot be written") from exc
    try:
        _wait_for(fd)
        yield
    finally:
        os.close(fd)


def _wait_for(fd: int) -> None:
    deadline = time.monotonic() + _WAIT_S
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as exc:
            if time.monotonic() >= deadline:
                raise StoreUnavailableError(
                    "another process is changing the tokens; try again"
                ) from exc
            time.sleep(_POLL_S)
        else:
            return


def write_private(path: Path, content: bytes) -> None:
    """Make `content` the whole file, for this user alone; a crash leaves the old file or the new.

    Args:
        path: In a directory that exists; whoever else may write it is locked out.
        content: On the disk when this returns.

    Raises:
        StoreUnavailableError: It cannot be written; the old file is untouched.
    """
    fresh = path.with_name(f"{path.name}.new")
    try:
        # What a crash left has the mode of whoever made it.
        fresh.unlink(missing_ok=True)
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE)
        with os.fdopen(fd, "wb") as file:
            # Whatever the umask took away.
            os.fchmod(fd, _PRIVATE)
            file.write(content)
            file.flush()
            os.fsync(fd)
        fresh.replace(path)
        _flush_directory(path.parent)
    except OSError as exc:
        raise StoreUnavailableError("the data directory cannot be written") from exc


def _flush_directory(directory: Path) -> None:
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
