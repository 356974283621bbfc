"""`graymatter contract`: differences and checks for anyone, from files, releases and servers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.manifest import promise
from contract_tests.wire import environment, graymatter
from graymatter_mcp.contract.bundle import bundle_document
from graymatter_mcp.contract.compat import Level, compare_releases, read_release
from graymatter_mcp.contract.kit.checks import CHECKS
from graymatter_mcp.contract.report import as_document, as_markdown, as_table

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT: Final = Path(__file__).parents[1]


def contract(*words: str | Path, cwd: Path = ROOT) -> tuple[int, str, str]:
    """Run the command; return exit status, stdout, stderr."""
    run = subprocess.run(
        [graymatter(), *words], capture_output=True, check=False, cwd=cwd, env=environment()
    )
    return run.returncode, run.stdout.decode(), run.stderr.decode()


def changed(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Return our bundle with one change in the first tool."""
    document = json.loads(json.dumps(bundle_document("0.9.0")))
    change(document["tools"][0])
    return document


def _reword(tool: dict[str, Any]) -> None:
    tool["description"] = "Search it. Use it. Returns facts."


def _grow(tool: dict[str, Any]) -> None:
    tool["inputSchema"]["properties"]["since"] = {"type": "string"}
    tool["revision"] = 2


def _shrink(tool: dict[str, Any]) -> None:
    del tool["inputSchema"]["properties"]["top_k"]
    tool["revision"] = 2


@promise("contract:diff")
@pytest.mark.parametrize(
    ("change", "level", "status"),
    [(_reword, "prose", 0), (_grow, "additive", 2), (_shrink, "breaking", 3)],
)
def test_a_difference_has_a_level_and_an_exit_status(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], level: str, status: int
) -> None:
    """Issue 7: exit code by level."""
    new = tmp_path / "new.json"
    new.write_text(json.dumps(changed(change)), encoding="utf-8")
    code, out, _ = contract("--json", "contract", "diff", "tree", new)
    told = json.loads(out)
    assert (code, told["level"], len(told["changes"])) == (status, level, 1)
    assert told["changes"][0]["path"].startswith("memory_search")


@promise("contract:diff")
def test_a_report_has_a_table_and_markdown() -> None:
    """Issue 7: for people, and for pull requests."""
    old = read_release(bundle_document(""))
    changes = compare_releases(old, read_release(changed(_shrink)))
    path = "memory_search/input/properties/top_k"
    assert as_table(changes).splitlines()[0].startswith(f"breaking  {path}  a property was")
    assert "breaking (1 breaking)" in as_table(changes)
    markdown = as_markdown("0.1.0", "tree", changes).splitlines()
    assert markdown[0] == "### Contract: breaking"
    row = f"| breaking | `{path}` | a property was removed or renamed | `input:property-removed` |"
    assert markdown[-1] == row
    assert "Nothing that a client can notice changed." in as_markdown("a", "b", [])
    assert as_document("a", "b", [])["level"] == Level.SAME.word


@promise("contract:diff")
@pytest.mark.parametrize(
    ("change", "fail_on", "status"),
    [
        (_reword, "additive", 0),
        (_grow, "breaking", 0),
        (_grow, "additive", 1),
        (_shrink, "breaking", 1),
        (_shrink, "never", 0),
    ],
)
def test_the_step_for_pull_requests_fails_from_its_level_on(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], fail_on: str, status: int
) -> None:
    """Issue 7: a composite action under examples/ci/."""
    (tmp_path / "new.json").write_text(json.dumps(changed(change)), encoding="utf-8")
    summary, output = tmp_path / "summary.md", tmp_path / "output"
    step = subprocess.run(
        ["sh", str(ROOT / "examples/ci/contract-diff/diff.sh")],
        check=False,
        env=environment(
            PATH=f"{Path(graymatter()).parent}:/usr/bin:/bin",
            OLD="tree",
            NEW=str(tmp_path / "new.json"),
            FAIL_ON=fail_on,
            GITHUB_STEP_SUMMARY=str(summary),
            GITHUB_OUTPUT=str(output),
        ),
    )
    assert step.returncode == status
    level = output.read_text(encoding="utf-8").strip().removeprefix("level=")
    assert summary.read_text(encoding="utf-8").startswith(f"### Contract: {level}\n")


@promise("contract:diff")
def test_a_running_server_a_directory_and_a_list_are_contracts_too(tmp_path: Path) -> None:
    """Issue 7: files, versions, git revisions, or running servers by command."""
    served = f"stdio:{graymatter()} --dir {tmp_path / 'store'} --quiet mcp serve"
    snapshot = ROOT / "contract_tests/snapshots/2025-11-25/tools_list.json"
    for name in (served, str(ROOT), str(snapshot)):
        code, out, err = contract("--json", "contract", "diff", name, "tree")
        assert code in (0, 2), err
        levels = {one["rule"] for one in json.loads(out)["changes"]}
        # A list of tools holds no notices, and a server lists the toolsets that were asked for.
        assert levels <= {"tool:notice-added", "tool:toolset-added"}


@promise("contract:diff")
def test_a_git_revision_is_a_contract(tmp_path: Path) -> None:
    """Issue 7."""
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (
        ["git", "init", "-q"],
        ["cp", "-r", str(ROOT / "schemas"), "schemas"],
        [*git, "add", "schemas"],
        [*git, "commit", "-qm", "Schemas"],
    ):
        subprocess.run(command, cwd=tmp_path, check=True)
    code, out, err = contract("contract", "diff", "git:HEAD", "tree", cwd=tmp_path)
    assert (code, out) == (0, "Nothing that a client can notice changed.\n"), err


@promise("contract:diff")
@pytest.mark.parametrize(
    "name", ["no-such-thing", "9.9.9", "git:--output=x", "stdio:no-such-command-of-anyone"]
)
def test_what_holds_no_contract_is_an_error(name: str, tmp_path: Path) -> None:
    """Issue 7; contract 11.1: exit 1 for every error."""
    code, out, err = contract("contract", "diff", "tree", name, cwd=tmp_path)
    assert (code, out) == (1, "")
    assert "holds no contract" in err
    assert "Traceback" not in err


@promise("contract:check")
def test_one_command_checks_a_server(tmp_path: Path) -> None:
    """Issue 7: `contract check TARGET`."""
    server = [graymatter(), "--dir", str(tmp_path / "store"), "--quiet", "mcp", "serve"]
    words = ["contract", "check", "--read-only", "--revision", "2025-11-25", "--", *server]
    code, out, err = contract("--json", *words)
    told = json.loads(out)
    assert (code, told["ok"], told["broken"]) == (0, True, 0), err
    assert told["kept"] + told["skipped"] == len(CHECKS)
    words = ["contract", "check", "--only", "search:needs", "--revision", "2024-11-05", "--"]
    code, out, _ = contract(*words, *server)
    assert code == 0
    assert out.splitlines()[-1] == "1 kept, 0 broken, 0 skipped"


@promise("contract:check")
def test_a_check_says_what_it_does_not_know() -> None:
    """Contract 11.1."""
    for words, complaint in (
        (["--only", "no:such"], 'unknown promise "no:such"'),
        (["--revision", "1999-01-01"], 'unknown revision "1999-01-01"'),
        (["--against", "9.9.9"], "is not released"),
        (["--header", "no colon"], "Name: value"),
    ):
        code, _, err = contract("contract", "check", *words, "http://127.0.0.1:9/mcp")
        assert code == 1
        assert complaint in err


@promise("contract:check")
def test_verify_tells_whether_this_may_be_released() -> None:
    """House, section 3: what CI runs."""
    code, out, err = contract("--json", "contract", "verify")
    assert (code, json.loads(out)["problems"]) == (0, []), err
