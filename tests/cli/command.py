"""The command as a user starts it: a process of its own, bytes out of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DEADLINE_S = 60.0


@dataclass(frozen=True)
class Outcome:
    """How one call ended."""

    status: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        assert self.status == 0, self.stderr
        return json.loads(self.stdout)

    @property
    def complaint(self) -> Any:
        """The one JSON document on stderr of a call that failed."""
        assert (self.status, self.stdout) == (1, "")
        return json.loads(self.stderr)


class Command:
    """Runs `graymatter` in a directory, keyword only, without an owner of its own."""

    def __init__(self, where: Path, environment: Mapping[str, str] | None = None) -> None:
        self.where = where
        ours = ("GRAYMATTER_", "CLAUDE_PROJECT_DIR", "PYTHON", "LC_", "LANG")
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(ours)},
            "GRAYMATTER_MODEL": "none",
            "GRAYMATTER_NO_DAEMON": "1",
            **(environment or {}),
        }

    def __call__(self, *arguments: str, **environment: str) -> Outcome:
        """Run one command line; arguments reach the process as UTF-8."""
        done = subprocess.run(
            [
                os.fsencode(sys.executable),
                b"-m",
                b"graymatter_mcp",
                *(one.encode() for one in arguments),
            ],
            cwd=self.where,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=DEADLINE_S,
        )
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    def json(self, *arguments: str) -> Any:
        """Run one command that succeeds, and return its document."""
        return self("--json", *arguments).document
