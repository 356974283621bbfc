"""Entry of the command `graymatter`: standard library until it is known what is asked for."""

from __future__ import annotations

import io
import os
import sys

_PRIVATE_UMASK = 0o077


def main() -> None:
    """Run the command; exit 0 or 1."""
    _speak_utf8()
    # The database makes files of its own: nobody else may read any of them.
    os.umask(_PRIVATE_UMASK)
    # Products here are small: threads of the library would spin against each other. It reads this
    # once, when it is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from graymatter_mcp.surfaces.cli.app import run

    sys.exit(run(sys.argv[1:]))


def _speak_utf8() -> None:
    """Make arguments, paths and streams UTF-8 whatever the locale says."""
    if sys.getfilesystemencoding() != "utf-8":
        arguments = [sys.executable, "-X", "utf8", "-m", "graymatter_mcp", *sys.argv[1:]]
        os.execve(sys.executable, arguments, {**os.environ, "PYTHONUTF8": "1"})  # noqa: S606 - ourselves
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
