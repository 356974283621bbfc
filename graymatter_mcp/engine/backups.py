"""Where a backup may be put."""

from __future__ import annotations

import os
from pathlib import Path

from graymatter_mcp.errors import InvalidArgumentError


def checked_target(target: str, data_dir: Path, *, replace: bool) -> Path:
    """Return where a backup goes, or refuse.

    Args:
        target: Absolute path of the file.
        data_dir: Where no backup belongs.
        replace: Whether a regular file may be there already.

    Raises:
        InvalidArgumentError: It cannot go there.
    """
    path = Path(target)
    if not path.is_absolute() or not path.parent.is_dir():
        raise InvalidArgumentError("the folder of the backup does not exist")
    if os.path.lexists(path):
        if not replace:
            raise InvalidArgumentError("a file is there already; --force replaces it")
        if not path.is_file() or path.is_symlink():
            raise InvalidArgumentError("a backup replaces only a regular file")
    if path.resolve().parent == data_dir.resolve():
        raise InvalidArgumentError("a backup does not belong in the data directory itself")
    return path
