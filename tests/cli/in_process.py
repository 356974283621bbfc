"""The command within the test's own process: for what needs many calls and no process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from graymatter_mcp.surfaces.cli.app import run
from tests.cli.command import Outcome

if TYPE_CHECKING:
    from pathlib import Path


class InProcess:
    """Runs `graymatter` in a directory, keyword only, without an owner of its own."""

    def __init__(self, where: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.where = where
        self._capture = capture

    def __call__(self, *arguments: str, **environment: str) -> Outcome:
        """Run one command line."""
        with pytest.MonkeyPatch.context() as patch:
            ours = ("GRAYMATTER_", "CLAUDE_PROJECT_DIR")
            for name in [one for one in os.environ if one.startswith(ours)]:
                patch.delenv(name)
            patch.chdir(self.where)
            for name, value in ({"GRAYMATTER_MODEL": "none"} | environment).items():
                patch.setenv(name, value)
            patch.setenv("GRAYMATTER_NO_DAEMON", "1")
            self._capture.readouterr()
            status = run(arguments)
            stdout, stderr = self._capture.readouterr()
        return Outcome(status, stdout, stderr)

    def json(self, *arguments: str) -> Any:
        """Run one command that succeeds, and return its document."""
        return self("--json", *arguments).document
