"""Entry of the command `graymatter`: no import before it is known to be needed."""

from __future__ import annotations

import os
import sys

_PRIVATE_UMASK = 0o077
_ON_DEMAND = ("daemon", "run", "--on-demand")


def main() -> None:
    """Run the command; exit 0 or 1."""
    if sys.getfilesystemencoding() != "utf-8":
        _start_over_in_utf8()
    # The database makes files of its own: nobody else may read any of them.
    os.umask(_PRIVATE_UMASK)
    arguments = sys.argv[1:]
    if arguments[-2:] == ["mcp", "serve"] or "serve" in arguments:
        from graymatter_mcp.bridge.main import serve, understood

        invocation = understood(arguments)
        if invocation is not None:
            serve(invocation)
    # Products here are small: threads of the library would spin against each other. It reads this
    # once, when it is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    from graymatter_mcp.surfaces.cli.app import run

    sys.exit(run(arguments))


def _start_over_in_utf8() -> None:
    """Make arguments, paths and streams UTF-8 whatever the locale says."""
    arguments = [sys.executable, "-X", "utf8", "-m", "graymatter_mcp", *sys.argv[1:]]
    os.execve(sys.executable, arguments, {**os.environ, "PYTHONUTF8": "1"})  # noqa: S606 - ourselves
