"""What is done about damage when the file is opened, and how it is told.

DuckDB drops a torn end of its write-ahead log without a word, and refuses a log that is damaged
further ahead. A log found at open is therefore copied first: where promised rows turn out to be
missing, the copy stays beside the store.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import shutil
import struct
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb

from graymatter_mcp.errors import StoreUnavailableError
from graymatter_mcp.store.duckdb.torn import is_torn, mend

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from duckdb import DuckDBPyConnection

    from graymatter_mcp.store.duckdb.rows import AppliedBatch

logger = logging.getLogger(__name__)

_POSITION: Final = re.compile(r"byte position (\d+)")
_REPLAY_FAILED: Final = "replaying WAL"
_DISK_FULL: Final = "the store cannot be opened: the disk is full"
NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SHOWN: Final = 20
"""Reports that are kept."""

COUNT_PROMISED: Final = (
    "SELECT (SELECT count(*) FROM facts) + (SELECT count(*) FROM fact_changes)"
    " + (SELECT count(*) FROM checkpoints)"
)
"""Rows that each belong to an answer that somebody got."""


def wal_of(path: Path) -> Path:
    """Return where DuckDB keeps the write-ahead log of a file."""
    return path.with_name(path.name + ".wal")


class Salvage:
    """Opens a file whose log may be damaged; says afterwards what that cost."""

    def __init__(self, path: Path, connect: Callable[[], DuckDBPyConnection]) -> None:
        """Prepare.

        Args:
            path: The database file; nobody in this process has it open.
            connect: Opens it; raises duckdb.Error.
        """
        self._path = path
        self._wal = wal_of(path)
        self._connect = connect
        self._copy: Path | None = None
        self._reports: list[str] = []

    def open(self) -> DuckDBPyConnection:
        """Open the file; a log that cannot be replayed is cut before its damage, or put aside.

        Raises:
            duckdb.Error: It is something else that keeps the file from opening.
        """
        self._copy_log()
        try:
            return self._open()
        except BaseException:
            self._forget_copy()
            raise

    def _open(self) -> DuckDBPyConnection:
        while True:
            try:
                return self._connect()
            except duckdb.Error as exc:
                if is_torn(str(exc)) and self._mend(str(exc)):
                    continue
                if _REPLAY_FAILED not in str(exc) or not self._wal.exists():
                    raise
                self._cut_log(_POSITION.search(str(exc)))

    def _mend(self, complaint: str) -> bool:
        kept = self._path.with_name(f"{self._path.name}.damaged-{_stamp()}")
        if not mend(self._path, self._wal, complaint, kept):
            return False
        self._reports.append(
            "a block of the database file was half rewritten: mended, and all of it could be read;"
            f" the file as it was is kept as {kept.name}"
        )
        return True

    def _cut_log(self, found: re.Match[str] | None) -> None:
        position = 0 if found is None else int(found[1])
        if 0 < position < self._wal.stat().st_size:
            os.truncate(self._wal, position)
            self._reports.append(f"the write-ahead log was damaged at byte {position}: cut there")
        else:
            self._wal.unlink()
            self._reports.append("the write-ahead log could not be read: put aside")

    def _copy_log(self) -> None:
        try:
            size = self._wal.stat().st_size
            # Nor may the copy take the room that the opening itself needs.
            if not size or shutil.disk_usage(self._wal.parent).free < 3 * size:
                return
            self._copy = self._wal.with_name(f"{self._wal.name}.damaged-{_stamp()}")
            fd = os.open(self._copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(fd, "wb") as copy, self._wal.open("rb") as log:
                shutil.copyfileobj(log, copy)
        except FileNotFoundError:
            return
        except OSError:
            # A full disk must not keep the store from opening.
            self._forget_copy()

    def _forget_copy(self) -> None:
        if self._copy is not None:
            with suppress(OSError):
                self._copy.unlink()
            self._copy = None

    def give_up(self) -> None:
        """Leave no copy behind where nothing was done to the log; twice is fine."""
        self.settle(0, 0)

    def settle(self, promised: int, held: int) -> None:
        """Report damage once; drop the copy of the log where there was none.

        Args:
            promised: Rows that the last process had made durable, by the ledger.
            held: Rows that the tables hold now.
        """
        if promised > held:
            self._reports.append(f"{promised - held} acknowledged commits are missing")
        if not self._reports:
            self._forget_copy()
            return
        kept = "" if self._copy is None else f"; the damaged log is kept as {self._copy.name}"
        report(self._path, "; ".join(self._reports) + kept)
        self._reports.clear()
        self._copy = None


class Ledger:
    """How many rows were promised, in a file beside the store that outlives a killed process.

    It is written without fsync: the page cache outlives us, and after a power cut an old number
    only says less.
    """

    _FORMAT: Final = struct.Struct("<8sQ")
    _MAGIC: Final = b"gmledger"

    def __init__(self, path: Path) -> None:
        """Open or create the file of a store, readable by this user alone."""
        self._fd = os.open(ledger_of(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._held = 0
        self._turn = threading.Lock()

    def promised(self) -> int:
        """Return the number last written; 0 where the file is new or damaged."""
        found = os.pread(self._fd, self._FORMAT.size, 0)
        if len(found) != self._FORMAT.size or not found.startswith(self._MAGIC):
            return 0
        return int(self._FORMAT.unpack(found)[1])

    def note(self, held: int) -> None:
        """Write how many rows the store holds."""
        self._held = held
        with suppress(OSError):
            os.pwrite(self._fd, self._FORMAT.pack(self._MAGIC, held), 0)

    def committed(self, applied: Sequence[AppliedBatch]) -> None:
        """Follow a commit."""
        with self._turn:
            self.note(self._held + sum(one.promised for one in applied))

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)


def ledger_of(path: Path) -> Path:
    """Return where the ledger of a store lies."""
    return path.with_suffix(".commit_seq")


def reports_of(path: Path) -> Path:
    """Return where the reports of a store lie."""
    return path.with_suffix(".damage")


def report(path: Path, what: str) -> None:
    """Say in the log and for `doctor` what was found; the newest reports are kept."""
    logger.warning("%s", what)
    kept = [*read_reports(path), {"at": _stamp(), "what": what}][-_SHOWN:]
    text = "".join(json.dumps(one) + "\n" for one in kept)
    with suppress(OSError):
        fd = os.open(reports_of(path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(text)


def read_reports(path: Path) -> list[dict[str, str]]:
    """Return the reports kept, oldest first; unreadable lines are left out."""
    try:
        lines = reports_of(path).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []
    found: list[dict[str, str]] = []
    for line in lines:
        with suppress(ValueError, KeyError, TypeError):
            one = json.loads(line)
            found.append({"at": str(one["at"]), "what": str(one["what"])})
    return found


def is_disk_full(exc: duckdb.Error) -> bool:
    """Whether a write failed for want of room."""
    text = str(exc).lower()
    return "no space left" in text or "out of disk" in text


def explain(exc: duckdb.Error) -> StoreUnavailableError:
    """Name by our own phrase why a file did not open; the driver's text holds paths."""
    text = str(exc)
    if "lock on file" in text:
        return StoreUnavailableError("another process has the store open")
    if _REPLAY_FAILED in text:
        return StoreUnavailableError(
            "the write-ahead log is damaged, and where nothing can be written it stays so"
        )
    if is_disk_full(exc):
        return StoreUnavailableError(_DISK_FULL)
    return StoreUnavailableError(
        "the store cannot be opened: the file is damaged or of another kind; see graymatter doctor"
    )


def beside_unusable(exc: OSError) -> StoreUnavailableError:
    """Name by our own phrase why what lies beside a file keeps it from opening."""
    if exc.errno in NO_ROOM:
        return StoreUnavailableError(_DISK_FULL)
    return StoreUnavailableError(
        "the store cannot be opened: a file beside it cannot be used;"
        " look at the owner and mode of gray.journal and gray.commit_seq"
    )


def _stamp() -> str:
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
