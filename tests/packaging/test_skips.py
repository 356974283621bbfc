"""A check that could not be made is never taken for one that passed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a test run of its own, without what starts other interpreters."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTEST_ADDOPTS": "", "CI": "", **variables},
    )


@pytest.mark.parametrize(("ci", "status"), [("true", 1), ("", 0)])
def test_without_its_client_the_interop_stage_fails_in_ci_alone(ci: str, status: int) -> None:
    """Issue: CI comes to this stage only where npm answers, so that a skip there is a fault."""
    done = run("-m", "interop", "contract_tests/test_typescript.py", CI=ci, PATH="/nowhere")
    assert done.returncode == status, done.stdout
    assert "NOT JUDGED: node and npm are not installed" in done.stdout


def test_skipped_tests_are_counted_aloud(tmp_path: Path) -> None:
    """Issue: a full disk that could not be made must not look like one that was."""
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "test_x.py").write_text(
        "import pytest\n"
        "@pytest.mark.parametrize('number', [1, 2])\n"
        "def test_x(number): pytest.skip('a full disk needs root')\n"
    )
    done = run("--rootdir", str(tmp_path), "-c", os.devnull, str(tmp_path))
    assert done.returncode == 0
    assert "!!!! 2 NOT RUN: a full disk needs root !!!!" in done.stdout
