from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

import graymatter_mcp
from contract_tests.processes import Session, end_all, tool_call
from contract_tests.wire import (
    DEADLINE_S,
    BridgeWire,
    as_line,
    environment,
    graymatter,
    initialize,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(graymatter_mcp.__file__).parents[1]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """A working directory, and the stores below it that must not outlive the test."""
    (tmp_path / "work").mkdir()
    yield tmp_path / "work"
    for store in (*tmp_path.rglob(".graymatter"), tmp_path / "work" / "relative", tmp_path / "env"):
        end_all(store)


def start(work: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Start a bridge in a directory, add one fact, leave; return what it said."""
    call = tool_call(1, "memory_add", {"agent_id": "a", "text": work.name})
    return subprocess.run(
        [graymatter(), *arguments, "mcp", "serve"],
        input=(as_line(initialize("2025-11-25")) + as_line(call)).decode(),
        capture_output=True,
        check=False,
        cwd=work,
        text=True,
        env={**environment(), **variables},
        timeout=DEADLINE_S,
    )


def serves(done: subprocess.CompletedProcess[str], directory: Path, why: str) -> bool:
    """Whether it served this directory for this reason, and said so."""
    line = f"graymatter: serving {directory} (by {why})\n"
    return (
        (done.returncode, done.stderr) == (0, line)
        and '"stored":true' in done.stdout
        and (directory / "gray.duckdb").is_file()
    )


def test_the_start_line_says_the_absolute_directory_and_why(project: Path) -> None:
    """F34, contract 10.1: each rule, and that it beats those behind it."""
    home = project.parent / "home"
    home.mkdir()
    both = {"GRAYMATTER_DIR": str(project.parent / "env"), "CLAUDE_PROJECT_DIR": str(home)}
    assert serves(start(project, "--dir", "relative", **both), project / "relative", "--dir")
    assert serves(start(project, **both), project.parent / "env", "GRAYMATTER_DIR")
    del both["GRAYMATTER_DIR"]
    assert serves(start(project, **both), home / ".graymatter", "CLAUDE_PROJECT_DIR")
    assert not (project / ".graymatter").exists()
    assert serves(start(project), project / ".graymatter", "the working directory")


@pytest.mark.parametrize("value", ["", "relative", "/no/such/folder", "file"])
def test_a_bad_project_directory_is_an_error_and_no_fallback(project: Path, value: str) -> None:
    """Contract 10.1: exit 1, nothing on stdout, nothing made."""
    if value == "file":
        (project / "file").write_text("")
        value = str(project / "file")
    done = start(project, CLAUDE_PROJECT_DIR=value)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "CLAUDE_PROJECT_DIR must be an existing absolute directory\n"
    assert not (project / ".graymatter").exists()


@pytest.mark.parametrize("mark", ["gray.duckdb", "MEMORY.md"])
def test_two_stores_in_question_stop_the_start(project: Path, mark: str) -> None:
    """Contract 10.1, F15: the user chooses; the same directory by another name is one."""
    home = project.parent / "home"
    home.mkdir()
    (project / ".graymatter").mkdir()
    (project / ".graymatter" / mark).write_bytes(b"")
    done = start(project, CLAUDE_PROJECT_DIR=str(home))
    assert (done.returncode, done.stdout) == (1, "")
    assert "choose one with --dir" in done.stderr
    assert list(home.iterdir()) == []
    (project / ".graymatter" / mark).unlink()
    (home / "link").symlink_to(project, target_is_directory=True)
    assert serves(start(project), project / ".graymatter", "the working directory")
    linked = start(project, CLAUDE_PROJECT_DIR=str(home / "link"))
    assert serves(linked, home / "link" / ".graymatter", "CLAUDE_PROJECT_DIR")


@pytest.mark.parametrize("options", [(), ("--quiet",), ("--no-daemon",)])
def test_a_misspelt_variable_is_named_at_the_start(project: Path, options: tuple[str, ...]) -> None:
    """F34, contract 11.5: on stderr of the process that the user started; others are not named."""
    done = start(project, *options, GRAYMATTER_DIRR="x", GRAYMATTER_TOP_K="5", GRAYMATTERS="x")
    assert done.returncode == 0
    warned = [line for line in done.stderr.splitlines() if "is it misspelt?" in line]
    assert len(warned) == 1
    assert "unknown variable GRAYMATTER_DIRR: is it misspelt?" in warned[0]


def test_no_create_makes_nothing(project: Path) -> None:
    """Contract 10.1: exit 1 with empty stdout, before any owner, socket or file exists."""
    with BridgeWire(project / "none", ["--no-create"]) as wire:
        assert wire.end() == ([], 1)
    assert list(project.iterdir()) == []


def test_no_create_serves_a_directory_that_is_marked(project: Path) -> None:
    """Contract 10.1: MEMORY.md is mark enough."""
    directory = project / ".graymatter"
    directory.mkdir()
    (directory / "MEMORY.md").write_text("")
    with Session(directory, ["--no-create"]) as session:
        assert session.ok("memory_add", agent_id="a", text="x")["stored"] is True


def test_a_start_imports_none_of_what_costs_time() -> None:
    """Issue 3, "Must show": the bridge is the standard library, and little of it."""
    code = "import sys, graymatter_mcp.bridge.main; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.append({str(ROOT)!r}); {code}"],
        capture_output=True,
        check=True,
        text=True,
    )
    heavy = {"typing", "dataclasses", "pathlib", "contextlib", "inspect"}
    heavy |= {"socket", "signal", "threading"}
    assert heavy & set(done.stdout.split()) == set()


def test_the_working_directory_may_be_gone(tmp_path: Path) -> None:
    """F34: then a relative place means nothing, and the error says so without a traceback."""
    gone = tmp_path / "gone"
    gone.mkdir()
    code = f"import os; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r});"
    code += f"os.execv({graymatter()!r}, ['graymatter', 'mcp', 'serve'])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
        env=environment(),
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.count(os.linesep) == 1
