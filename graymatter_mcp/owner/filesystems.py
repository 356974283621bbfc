"""Which file system a directory lies on; those of a network keep no promise about locks."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from graymatter_mcp.errors import StoreUnavailableError

MOUNTS: Final = Path("/proc/self/mountinfo")
FORCE_VARIABLE: Final = "GRAYMATTER_FORCE_NETWORK_FS"

_NETWORK: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "afs", "ceph", "9p", "glusterfs"}
    | {"lustre", "gpfs", "ncpfs", "davfs", "fuse.sshfs", "fuse.s3fs", "fuse.rclone", "fuse.davfs"}
    | {"fuse.glusterfs", "fuse.gcsfuse", "fuse.ceph", "fuse.curlftpfs"}
)


def filesystem_of(directory: Path, mounts: Path = MOUNTS) -> str:
    """Return the type of the file system under a path, which need not exist; "" where unknown.

    Args:
        directory: Absolute.
        mounts: A table in the form of ``/proc/self/mountinfo``.
    """
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    path = directory.resolve()
    best, kind = -1, ""
    for line in lines:
        left, _, right = line.partition(" - ")
        fields = left.split(" ")
        if len(fields) < 5 or not right:
            continue
        point = Path(_unescaped(fields[4]))
        # A later line with the same point lies on top of an earlier one.
        if (path == point or point in path.parents) and len(point.parts) >= best:
            best, kind = len(point.parts), right.split(" ")[0]
    return kind


def _unescaped(text: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, char)
    return text


def is_network(kind: str) -> bool:
    """Whether files of this type of file system come over a network."""
    return kind in _NETWORK


def refuse_network(directory: Path, *, is_forced: bool, mounts: Path | None = None) -> None:
    """Refuse a directory where two computers could write at once.

    Raises:
        StoreUnavailableError: It lies on a network file system and nobody insists.
    """
    kind = filesystem_of(directory, MOUNTS if mounts is None else mounts)
    if is_network(kind) and not is_forced:
        raise StoreUnavailableError(
            f"the data directory lies on a network file system ({kind}), where locks and flushes"
            f" are not dependable: use a local one, or set {FORCE_VARIABLE}=1"
        )
