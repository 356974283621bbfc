"""A block that a kill left half rewritten: every part of it is good, its checksum is not.

The database rewrites some blocks of its own book-keeping in place. What the last good state needs
of them stays the same, so that a block cut between old and new is whole but for its checksum.
"""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_MISMATCH: Final = re.compile(
    r"computed checksum (\d+) does not match stored checksum \d+ in block at location (\d+)"
)
_BLOCKS: Final = 4
"""Blocks that are mended at most: a kill tears one."""
_DEADLINE_S: Final = 600.0
_PROOF: Final = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1], config={"threads": 1})
for schema, table in connection.execute(
    "SELECT schema_name, table_name FROM duckdb_tables()"
).fetchall():
    connection.execute(f'SELECT bit_xor(hash(t)) FROM "{schema}"."{table}" t').fetchall()
connection.execute("CHECKPOINT")
connection.close()
"""


def is_torn(text: str) -> bool:
    """Whether this is how the database complains of such a block."""
    return _MISMATCH.search(text) is not None


def mend(path: Path, wal: Path, complaint: str, kept: Path) -> bool:
    """Give torn blocks their checksums in a copy, and take it once all of it could be read.

    The proof runs in a process of its own: a block that is bad in truth may end it.

    Args:
        path: The database file, open nowhere; as it was where nothing could be mended.
        wal: Its log, which the proven copy holds afterwards.
        complaint: What the database said.
        kept: Gets the file as it was found.
    """
    room = path.with_name(f".{path.name}.mending")
    shutil.rmtree(room, ignore_errors=True)
    try:
        room.mkdir(mode=0o700)
        copy = room / path.name
        for one in (path, wal):
            if one.exists():
                shutil.copyfile(one, room / one.name)
        copy.chmod(0o600)
        if not _is_mended(copy, complaint):
            return False
        kept.hardlink_to(path)
        # The log first: a kill in between leaves the file as it was, and its log is copied.
        wal.unlink(missing_ok=True)
        copy.replace(path)
    except OSError:
        return False
    finally:
        shutil.rmtree(room, ignore_errors=True)
    return True


def _is_mended(copy: Path, complaint: str) -> bool:
    for _ in range(_BLOCKS):
        found = _MISMATCH.search(complaint)
        if found is None:
            return False
        with copy.open("r+b") as file:
            file.seek(int(found[2]))
            file.write(struct.pack("<Q", int(found[1])))
        proof = subprocess.run(  # noqa: S603 - our own words, and a path of ours
            [sys.executable, "-c", _PROOF, str(copy)],
            check=False,
            capture_output=True,
            timeout=_DEADLINE_S,
        )
        if proof.returncode == 0:
            return True
        complaint = proof.stderr.decode(errors="replace")
    return False
