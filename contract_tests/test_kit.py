"""The conformance kit: our server passes it at every door, and every check of it can fail."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.http_wire import HttpServer
from contract_tests.manifest import PROMISES, promise
from contract_tests.mutants.catalogue import MUTANTS
from contract_tests.wire import environment, graymatter
from graymatter_mcp.contract.bundle import bundle_document
from graymatter_mcp.contract.kit.checks import CHECKS
from graymatter_mcp.contract.kit.run import BROKEN, KEPT, SKIPPED, check_server
from graymatter_mcp.contract.wire.base import REVISIONS
from graymatter_mcp.contract.wire.session import Target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graymatter_mcp.contract.kit.run import Verdict

ROOT: Final = Path(__file__).parents[1]
TOKEN: Final = "a-token-for-the-kit-of-forty-characters-"  # noqa: S105 - of a server that lives for a test


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The command of a server, whose owner outlives each of its clients."""
    directory = tmp_path_factory.mktemp("kit") / "store"
    kept = environment(GRAYMATTER_IDLE_EXIT="10m", PYTHONPATH=str(ROOT))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in kept.items():
            patch.setenv(name, value)
        base = [graymatter(), "--dir", str(directory), "--quiet"]
        yield [*base, "mcp", "serve"]
        subprocess.run([*base, "daemon", "stop"], check=True, capture_output=True)


def run(command: list[str], **options: Any) -> Verdict:
    """Run the kit on a command."""
    return check_server(Target(command=tuple(command)), bundle_document(""), **options)


def at(server: HttpServer, token: str) -> Target:
    """Return a server that listens as a target, with a token."""
    return Target(url=server.url, headers={"Authorization": f"Bearer {token}"})


@promise("kit:ours-passes", *(check.id for check in CHECKS))
@pytest.mark.slow
@pytest.mark.parametrize("revision", REVISIONS)
def test_our_server_keeps_every_promise(command: list[str], revision: str) -> None:
    """Issue 7: in every era."""
    verdict = run(command, revisions=[revision])
    assert [one for one in verdict.outcomes if one.status != KEPT] == []
    assert len(verdict.outcomes) == len(CHECKS)


@promise("kit:ours-passes")
def test_a_read_only_run_stores_nothing(command: list[str]) -> None:
    """Issue 7: read-only or in a scratch namespace."""
    verdict = run(command, revisions=REVISIONS[-1:], read_only=True)
    skipped = {one.check for one in verdict.outcomes if one.status == SKIPPED}
    assert skipped == {one.id for one in CHECKS if one.writes}
    assert verdict.is_kept
    status = [*command[:-2], "--json", "status"]
    status.remove("--quiet")
    told = json.loads(subprocess.run(status, check=True, capture_output=True).stdout)
    assert told["store"]["agents"] == []


@promise("kit:every-check-can-fail")
@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_server_is_caught(command: list[str], name: str) -> None:
    """Issue 7: each mutant, by the check of the promise that it breaks."""
    mutant = MUTANTS[name]
    (outcome,) = run(
        [sys.executable, "-m", "contract_tests.mutants.wrapper", name, *command],
        revisions=[mutant.revision],
        checks=[check for check in CHECKS if check.id == mutant.breaks],
    ).outcomes
    assert (outcome.check, outcome.status) == (mutant.breaks, BROKEN)


@promise("kit:every-check-can-fail")
@pytest.mark.slow
def test_a_wrapper_that_changes_nothing_is_not_caught(command: list[str]) -> None:
    """House, section 5, question 8: the wrapper itself breaks no promise."""
    wrapper = [sys.executable, "-m", "contract_tests.mutants.wrapper", "list-without-age"]
    verdict = run([*wrapper, *command], revisions=REVISIONS[-2:-1], read_only=True)
    assert verdict.is_kept, verdict.table()


@promise("kit:every-check-can-fail")
def test_every_check_has_a_mutant_and_every_mutant_a_check() -> None:
    """Issue 7: at least forty mutants, one for every promise of the kit."""
    assert len(MUTANTS) >= 40
    assert {mutant.breaks for mutant in MUTANTS.values()} == {check.id for check in CHECKS}


@promise("kit:rows")
def test_every_check_is_a_row_of_the_manifest_and_a_sentence() -> None:
    """Issue 7: the kit runs the behaviour manifest."""
    assert len({check.id for check in CHECKS}) == len(CHECKS)
    assert {check.id for check in CHECKS} - PROMISES.keys() == set()
    assert [check.id for check in CHECKS if not check.text.endswith(".")] == []


@promise("kit:ours-passes")
@pytest.mark.slow
@pytest.mark.parametrize("revision", REVISIONS)
def test_our_server_at_a_url_keeps_every_promise_that_http_can_carry(
    tmp_path: Path, revision: str
) -> None:
    """Issue 7: in every era, with a token."""
    # The kit waits where a server limits requests; here nobody should.
    limits = {"GRAYMATTER_RATE_LIMIT": "0"}
    with HttpServer(tmp_path / "store", "--token", TOKEN, **limits) as server:
        verdict = check_server(at(server, TOKEN), bundle_document(""), revisions=[revision])
    skipped = {check.id for check in CHECKS if check.streams_only}
    bad = {one.check: one.detail for one in verdict.outcomes if one.status != KEPT}
    assert bad == dict.fromkeys(skipped, "")


@promise("kit:ours-passes")
def test_a_server_at_a_url_is_a_target_and_its_token_a_header(tmp_path: Path) -> None:
    """Issue 7: a URL is a target like a command."""
    wanted = ("tools:properties", "errors:protocol", "found:at-once", "confidence:write-payload")
    checks = [check for check in CHECKS if check.id in wanted]
    eras = REVISIONS[-2:]
    with HttpServer(tmp_path / "store", "--token", TOKEN) as server:
        good, bad = (
            check_server(at(server, token), bundle_document(""), revisions=eras, checks=checks)
            for token in (TOKEN, "another")
        )
    assert [one.status for one in good.outcomes] == [KEPT] * len(eras) * len(wanted), good.table()
    assert {one.check: one.detail for one in bad.outcomes} == {
        "server:opens": "the server wants a token: give one with --header"
    }


@promise("kit:ours-passes")
def test_a_command_that_cannot_start_is_a_broken_opening() -> None:
    """Issue 7: the report says what went wrong."""
    verdict = run(["no-such-command-of-anyone"], revisions=REVISIONS[:1])
    (outcome,) = verdict.outcomes
    assert (outcome.check, outcome.status) == ("server:opens", BROKEN)
