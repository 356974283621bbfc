"""Which directory, and what an owner leaves in it. Standard library only: every door uses it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

DATABASE_FILE = "gray.duckdb"
MARKER_FILE = "MEMORY.md"
OWNER_FILE = "owner.json"
_NOTE_BYTES = 65_536


class DirectoryError(Exception):
    """The environment names no usable directory, or more than one."""


def locate(
    flag: str | None, environment: Mapping[str, str], *, is_service: bool = False
) -> tuple[str, str]:
    """Return the absolute data directory, which need not exist, and why it is that one.

    Args:
        flag: ``--dir``; relative to the working directory.
        environment: Holds ``GRAYMATTER_DIR`` and ``CLAUDE_PROJECT_DIR``.
        is_service: Services ignore ``CLAUDE_PROJECT_DIR``.

    Raises:
        DirectoryError: ``CLAUDE_PROJECT_DIR`` is unusable, or the working directory has another
            store, or is gone.
    """
    try:
        return _located(flag, environment, is_service=is_service)
    except FileNotFoundError:
        # What an absolute path of it needs is the working directory.
        raise DirectoryError("the working directory is gone: choose one with --dir") from None


def _located(
    flag: str | None, environment: Mapping[str, str], *, is_service: bool
) -> tuple[str, str]:
    if flag:
        return os.path.abspath(flag), "--dir"
    if environment.get("GRAYMATTER_DIR"):
        return os.path.abspath(environment["GRAYMATTER_DIR"]), "GRAYMATTER_DIR"
    here = os.path.abspath(".graymatter")
    project = None if is_service else environment.get("CLAUDE_PROJECT_DIR")
    if project is None:
        return here, "the working directory"
    if not os.path.isabs(project) or not os.path.isdir(project):
        raise DirectoryError("CLAUDE_PROJECT_DIR must be an existing absolute directory")
    directory = os.path.join(project, ".graymatter")
    if holds_store(here) and not _is_same(here, directory):
        raise DirectoryError(
            "the working directory and CLAUDE_PROJECT_DIR each have a store: choose one with --dir"
        )
    return directory, "CLAUDE_PROJECT_DIR"


def holds_store(directory: str) -> bool:
    """Whether the directory is marked as ours."""
    return any(
        os.path.isfile(os.path.join(directory, name)) for name in (DATABASE_FILE, MARKER_FILE)
    )


def read_owner(directory: str) -> dict[str, Any] | None:
    """Return what the owner says of itself; None where no note can be read."""
    import json

    try:
        # Not to wait for a pipe, and not to read on and on: anything may stand there.
        fd = os.open(os.path.join(directory, OWNER_FILE), os.O_RDONLY | os.O_NONBLOCK)
        try:
            note: Any = json.loads(os.read(fd, _NOTE_BYTES))
        finally:
            os.close(fd)
    except (OSError, ValueError, RecursionError):
        return None
    return dict(note) if isinstance(note, dict) else None  # pyright: ignore[reportUnknownArgumentType]


def _is_same(one: str, other: str) -> bool:
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)
