"""Who owns a data directory: an flock held for life, and a note that says who holds it."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graymatter_mcp.bridge.directory import read_owner
from graymatter_mcp.errors import NoStoreError, StoreUnavailableError

if TYPE_CHECKING:
    from types import TracebackType

LOCK_FILE: Final = "owner.lock"
OWNER_FILE: Final = "owner.json"
SPARE_FILE: Final = "owner.spare"
"""Blanks that keep the note's room while nobody has one: the disk may be full by then."""
_LOCK_POLL_S: Final = 0.01
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)


class Ownership:
    """Holds the directory from construction to `release`; the kernel frees it if we die."""

    def __init__(self, directory: Path, *, wait_s: float = 0.0) -> None:
        """Take the lock.

        Args:
            directory: Exists.
            wait_s: How long another process may still hold it, on its way out.

        Raises:
            StoreUnavailableError: Another process holds it; the message names its pid.
        """
        self._note = directory / OWNER_FILE
        self._spare = directory / SPARE_FILE
        try:
            self._fd = os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as exc:
            raise StoreUnavailableError("the data directory cannot be written") from exc
        deadline = time.monotonic() + wait_s
        while not self._try_lock():
            if time.monotonic() >= deadline:
                os.close(self._fd)
                raise StoreUnavailableError(
                    f"another process ({_pid_of(self._note)}) has this memory open; stop it first"
                )
            time.sleep(_LOCK_POLL_S)

    def _try_lock(self) -> bool:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def announce(self, facts: dict[str, object]) -> None:
        """Write the note by rename, readable by this user alone; on a full disk too."""
        text = json.dumps({"pid": os.getpid(), **facts}).encode()
        try:
            self._put_down(text)
        except OSError as exc:
            if exc.errno not in _NO_ROOM or not self._note.exists():
                raise
            # The note that is there gives its room: whoever looks for it now looks again.
            self._note.replace(self._spare)
            self._put_down(text)

    def _put_down(self, text: bytes) -> None:
        # Never emptied before it is written: the room that it has might be the last.
        fd = os.open(self._spare, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(fd, text)
            os.ftruncate(fd, len(text))
        finally:
            os.close(fd)
        self._spare.replace(self._note)

    def is_in_place(self) -> bool:
        """Whether the directory still has the lock that we hold: it may be moved or deleted."""
        try:
            found, held = self._note.with_name(LOCK_FILE).stat(), os.fstat(self._fd)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino)

    def is_announced(self) -> bool:
        """Whether the note is there and ours."""
        note = read_owner(str(self._note.parent))
        return note is not None and note.get("pid") == os.getpid()

    def withdraw(self) -> None:
        """Take the note away, if it is ours: nobody new shall come."""
        if self.is_in_place() and self.is_announced():
            with suppress(OSError):
                self._note.replace(self._spare)
                # The token goes with its owner.
                with self._spare.open("r+b") as file:
                    file.write(b" " * self._spare.stat().st_size)

    def release(self) -> None:
        """Take the note away and free the lock; twice is fine."""
        if self._fd < 0:
            return
        self.withdraw()
        os.close(self._fd)
        self._fd = -1

    def __enter__(self) -> Ownership:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release."""
        self.release()


def is_held(directory: Path, pid: int) -> bool:
    """Whether this owner holds the directory still.

    Its pid alone does not tell: a process that has ended keeps it until its parent asks.
    """
    note = read_owner(str(directory))
    if note is not None and note.get("pid") != pid:
        return False
    try:
        fd = os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(fd)


def _pid_of(note: Path) -> str:
    try:
        return f"pid {int(json.loads(note.read_text(encoding='utf-8'))['pid'])}"
    except (OSError, ValueError, KeyError, TypeError):
        return "pid unknown"


def prepare_directory(directory: Path, database: str, *, may_create: bool, has_store: bool) -> None:
    """Make sure the directory can hold a store, creating it 0700 when it may.

    Raises:
        NoStoreError: It holds none and none may be created.
        StoreUnavailableError: It cannot be created, or the database is no regular file.
    """
    if not may_create and not has_store:
        raise NoStoreError("there is no memory here, and none may be created")
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as exc:
        raise StoreUnavailableError("the data directory cannot be created") from exc
    try:
        mode = (directory / database).lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as exc:
        raise StoreUnavailableError("the data directory cannot be read") from exc
    if not stat.S_ISREG(mode):
        raise StoreUnavailableError(
            f"{database} must be a regular file, not a link, folder or device"
        )
