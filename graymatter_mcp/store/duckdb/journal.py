"""Plain writes, made durable before the database has them: one append and one fdatasync a group.

A commit of the database costs several times what the disk needs to keep a line. So rows that need
no look at the tables go into this file first, callers are answered, and the database takes them in
larger portions. What it has not taken when the process dies is read back at the next open.
"""

from __future__ import annotations

import errno
import json
import os
import threading
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

NUMBER: Final = "journal"
"""The table that tells which groups the database has: each group carries its number as a row."""

Rows = dict[str, list[tuple[Any, ...]]]
"""Rows to insert, by table."""


_SPARE: Final = 256 * 1024
"""Bytes of the disk that are left to the tables, besides what a group takes there."""


class Journal:
    """An append-only file of groups, each a line with its checksum; used in turn by two threads.

    Positions count bytes since the file was opened, and go on counting when its head is dropped.
    """

    def __init__(self, path: Path) -> None:
        """Open or create the file, readable by this user alone."""
        self._path = path
        self._rest = path.with_name(path.name + ".rest")
        # What a process left that died while it dropped a head: the file itself is whole.
        self._rest.unlink(missing_ok=True)
        self._fd = _open(path)
        self.turn = threading.Lock()
        """Held by whoever appends or drops, until it is known what stands where."""
        self._start = 0
        self.end = os.fstat(self._fd).st_size
        """The position behind the last group."""

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return self.end - self._start

    def append(self, rows: Rows, *, waiting: int = 0) -> None:
        """Make a group durable, where the disk has room for the tables to take it as well.

        Args:
            rows: By table.
            waiting: Bytes of earlier groups that the tables have not taken yet.

        Raises:
            OSError: It is not durable, and nothing of it is left in the file.
        """
        line = _encode(rows)
        disk = os.fstatvfs(self._fd)
        # A group that the tables cannot take is answered for, and not found by who reads them.
        if disk.f_bavail * disk.f_frsize < _SPARE + 3 * len(line) + 2 * waiting:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        try:
            _write_all(self._fd, line)
            os.fdatasync(self._fd)
        except OSError:
            os.ftruncate(self._fd, self.size)
            raise
        self.end += len(line)

    def read(self) -> list[Rows]:
        """Return the groups in order, and cut off a torn end, which nobody was promised."""
        data = os.pread(self._fd, self.size, 0)
        whole = data.rfind(b"\n") + 1
        if whole < self.size:
            # The next group must not become a part of the torn line.
            os.ftruncate(self._fd, whole)
            self.end = self._start + whole
        return read_groups(data[:whole])

    def drop(self, position: int) -> None:
        """Forget the groups before a position: the database has them for good.

        Raises:
            OSError: The groups behind it could not be written apart; all are still there.
        """
        if position == self.end:
            if self.size:
                os.ftruncate(self._fd, 0)
            self._start = position
        elif position > self._start:
            self._replace(os.pread(self._fd, self.end - position, position - self._start))
            self._start = position
            # Until the directory has the new name, a crash finds the old file, which will lack
            # the groups that follow.
            _sync_folder(self._path.parent)

    def _replace(self, rest: bytes) -> None:
        """Put a file that holds only `rest` in the place of this one."""
        fd = _open(self._rest)
        try:
            _write_all(fd, rest)
            os.fdatasync(fd)
            self._rest.replace(self._path)
        except OSError:
            os.close(fd)
            self._rest.unlink(missing_ok=True)
            raise
        os.close(self._fd)
        self._fd = fd

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def read_groups(data: bytes) -> list[Rows]:
    """Return the groups in order, without damaged lines: no group needs another."""
    decoded = map(_decode, data.split(b"\n"))
    return [rows for rows in decoded if rows is not None]


def merged(groups: Iterable[Rows]) -> Rows:
    """Join groups into one, rows in order."""
    together: Rows = {}
    for rows in groups:
        for table, values in rows.items():
            together.setdefault(table, []).extend(values)
    return together


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _encode(rows: Rows) -> bytes:
    body = json.dumps(rows, ensure_ascii=False, separators=(",", ":"), default=_as_hex).encode()
    return b"%08x %s\n" % (crc32(body), body)


def _as_hex(value: object) -> str:
    assert isinstance(value, UUID | bytes)
    return value.hex() if isinstance(value, bytes) else value.hex


def _decode(line: bytes) -> Rows | None:
    checksum, _, body = line.partition(b" ")
    try:
        if int(checksum, 16) != crc32(body):
            return None
        tables: dict[str, list[list[Any]]] = json.loads(body)
    except ValueError:
        return None
    return {table: [_row(table, values) for values in rows] for table, rows in tables.items()}


def _row(table: str, values: list[Any]) -> tuple[Any, ...]:
    if table == "vectors":
        return (UUID(hex=values[0]), *values[1:-1], bytes.fromhex(values[-1]))
    if table == "changes":
        return (*values[:2], UUID(hex=values[2]), *values[3:])
    if table in ("facts", "fact_changes", "checkpoints", "fact_details", "source_refs"):
        return (UUID(hex=values[0]), *values[1:])
    return tuple(values)
