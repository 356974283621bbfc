"""What `crash` does to a data directory between kills: nothing, a full disk, a damaged log."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Generator
    from random import Random

_DISK_MB: Final = 96
_LEFT: Final = (0, 0, 4_096, 200_000)
"""Bytes that a filled disk has left, one of these at a time."""
_GARBLED: Final = 400


class Mischief(Protocol):
    """One mode of `crash`."""

    title: str
    wants_rest: bool
    """Whether it is done while no process has the directory open."""

    def place(self, base: Path) -> TemporaryDirectory[str] | Disk:
        """Return where the data directory goes; leaving it ends the place."""
        ...

    def act(self, directory: Path, random: Random) -> None:
        """Do it, between two rounds."""
        ...


class Plain:
    """Kills alone."""

    title = "kills alone"
    wants_rest = False

    def place(self, base: Path) -> TemporaryDirectory[str]:
        """Give a fresh directory."""
        return TemporaryDirectory(dir=base)

    def act(self, directory: Path, random: Random) -> None:
        """Do nothing."""


class DamagedLog(Plain):
    """The database's write-ahead log is cut, garbled or lost."""

    title = "kills, and the write-ahead log cut or garbled between rounds"
    wants_rest = True

    def act(self, directory: Path, random: Random) -> None:
        """Damage what was written since the last checkpoint."""
        log = directory / "gray.duckdb.wal"
        with unused(directory):
            size = log.stat().st_size if log.exists() else 0
            if not size:
                return
            kind = random.choice(("cut", "cut", "garble", "garble", "lose", "append"))
            if kind == "cut":
                os.truncate(log, random.randrange(size))
            elif kind == "lose":
                log.unlink()
            else:
                with log.open("r+b") as file:
                    file.seek(size if kind == "append" else random.randrange(size))
                    file.write(random.randbytes(_GARBLED))
        sys.stderr.write(f"  log of {size:,} bytes: {kind}\n")


class FullDisk:
    """The disk is filled up, and freed again a round later."""

    title = "kills, and the disk full every other round"
    wants_rest = False

    def place(self, base: Path) -> Disk:
        """Give a small file system of its own."""
        return Disk(base)

    def act(self, directory: Path, random: Random) -> None:
        """Fill it, or free it."""
        ballast = directory.parent / "ballast"
        if ballast.exists():
            ballast.unlink()
            sys.stderr.write("  disk freed\n")
            return
        left = random.choice(_LEFT)
        with ballast.open("wb", buffering=0) as file:
            while (free := _free(directory) - left) > 0:
                try:
                    file.write(bytes(min(free, 1 << 20)))
                except OSError:
                    break
        sys.stderr.write(f"  disk full, {_free(directory):,} bytes left\n")


MODES: Final[dict[str, Mischief]] = {
    "plain": Plain(),
    "full-disk": FullDisk(),
    "damaged-log": DamagedLog(),
}


class Disk:
    """A small file system in memory, mounted below a directory for as long as it is entered."""

    def __init__(self, base: Path) -> None:
        self._room = TemporaryDirectory(dir=base)

    def __enter__(self) -> str:
        """Mount it.

        Raises:
            PermissionError: That takes rights that this process does not have.
        """
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={_DISK_MB}m,mode=0700", "tmpfs", self._room.name],
            check=False,
            capture_output=True,
        )
        if done.returncode:
            self._room.cleanup()
            raise PermissionError("a small file system cannot be mounted: run it as root")
        return self._room.name

    def __exit__(self, *_: object) -> None:
        """Take it away."""
        subprocess.run(["umount", "--lazy", self._room.name], check=True)
        self._room.cleanup()


@contextmanager
def unused(directory: Path) -> Generator[None]:
    """Keep every owner out while the body runs; the caller has ended the one there was."""
    with (directory / "owner.lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _free(directory: Path) -> int:
    disk = os.statvfs(directory)
    return disk.f_bavail * disk.f_frsize
