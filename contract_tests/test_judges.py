"""Outside judges over HTTP: ours is not the only opinion on what is valid."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from contract_tests import judges
from contract_tests.credentials import SERVER_TOKEN
from contract_tests.http_wire import OPEN, HttpServer
from contract_tests.issuer import IssuerProcess
from contract_tests.manifest import promise
from contract_tests.wire import environment, graymatter

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.interop

HERE: Final = Path(__file__).parent
CASES: Final = [(version, name) for version, names in judges.SCENARIOS.items() for name in names]


@pytest.fixture(scope="session")
def node_judges(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of npm, node of the wanted version among them."""
    packages = (judges.NODE, judges.CONFORMANCE, judges.INSPECTOR)
    return judges.npm_folder(tmp_path_factory.mktemp("judges"), *packages)


@pytest.fixture(scope="session")
def typescript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both TypeScript clients."""
    folder = tmp_path_factory.mktemp("clients")
    judges.npm_folder(folder, *judges.CLIENTS)
    return folder


@pytest.fixture(scope="session")
def python_judges(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of the judges written in Python."""
    return judges.python_folder(tmp_path_factory.mktemp("python"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A server that anybody may use: one judge can send no header."""
    directory = tmp_path_factory.mktemp("judged") / "store"
    with HttpServer(directory, *OPEN, GRAYMATTER_RATE_LIMIT="0") as running:
        yield running


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A server that asks for a token."""
    directory = tmp_path_factory.mktemp("guarded") / "store"
    variables = {"GRAYMATTER_HTTP_TOKEN": SERVER_TOKEN, "GRAYMATTER_RATE_LIMIT": "0"}
    with HttpServer(directory, **variables) as running:
        yield running


@pytest.fixture(scope="module")
def issuer() -> Iterator[IssuerProcess]:
    """An issuer that runs, and lets everybody sign in."""
    process = IssuerProcess()
    yield process
    process.close()


@pytest.fixture(scope="module")
def trusting(
    issuer: IssuerProcess, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HttpServer]:
    """A server that trusts it, and is where its public URL says."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    variables = {
        "GRAYMATTER_HTTP_TOKEN": SERVER_TOKEN,
        "GRAYMATTER_RATE_LIMIT": "0",
        "GRAYMATTER_OAUTH_ISSUER": issuer.url,
        "GRAYMATTER_OAUTH_JWKS_URL": f"{issuer.url}/jwks",
        "GRAYMATTER_OAUTH_SCOPES": "memory:read",
        "GRAYMATTER_PUBLIC_URL": f"http://{address}",
        "NO_PROXY": "127.0.0.1",
    }
    directory = tmp_path_factory.mktemp("trusting") / "store"
    command = ("mcp", "serve", "--http", address)
    with HttpServer(directory, command=command, **variables) as running:
        yield running


@promise("interop:conformance")
@pytest.mark.parametrize(("version", "scenario"), CASES, ids="-".join)
def test_the_official_conformance_suite_finds_no_failure(
    version: str, scenario: str, node_judges: Path, server: HttpServer, tmp_path: Path
) -> None:
    """Issue 4: every scenario that a server of tools can pass, in both eras."""
    words = ("server", "--url", server.url, "--spec-version", version, "--scenario", scenario)
    judges.run(
        [node_judges / "conformance", *words, "-o", tmp_path],
        first_in_path=node_judges,
        cwd=tmp_path,
    )
    assert judges.failed_checks(tmp_path, scenario) == []


@promise("interop:inspector")
def test_the_inspector_finds_nothing_in_strict_mode(
    node_judges: Path, guarded: HttpServer, tmp_path: Path
) -> None:
    """Issue 4: over stdio and over HTTP."""
    stdio = (graymatter(), "--dir", str(tmp_path / "store"), "mcp", "serve")
    bearer = ("--header", f"Authorization: Bearer {SERVER_TOKEN}", "--stored-auth-only")
    remote = (guarded.url, "--transport", "http", *bearer)
    arguments = ("--tool-args-json", '{"agent_id":"a","query":"q"}')
    for words in (
        (*stdio, "--method", "tools/list", "--strict"),
        (*remote, "--method", "tools/list", "--strict"),
        (*remote, "--method", "tools/call", "--tool-name", "memory_search", *arguments),
    ):
        done = judges.run(
            [node_judges / "mcp-inspector", "--cli", *words],
            first_in_path=node_judges,
            cwd=tmp_path,
            **environment(),
        )
        assert done.returncode == 0, done.stdout + done.stderr


@promise("interop:typescript")
@pytest.mark.parametrize("lib", ["v1", "v2", "v2-auto"])
def test_both_typescript_clients_work_over_http(
    lib: str, typescript: Path, guarded: HttpServer, tmp_path: Path
) -> None:
    """Issue 4: the handshake era, and the newest by negotiation."""
    script = HERE / "http_client.mjs"
    words = ("node", script, lib, guarded.url, SERVER_TOKEN, typescript)
    done = judges.run(words, first_in_path=typescript, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["server"], len(told["tools"])) == ("graymatter", 7)
    assert (told["facts"], told["refused"]) == (["Ports: 8137"], True)


@promise("interop:mcpcheck")
def test_mcpcheck_passes_every_check(
    python_judges: Path, guarded: HttpServer, tmp_path: Path
) -> None:
    """Issue 4: eight of eight."""
    options = ("--token", SERVER_TOKEN, "--legacy-probes", "--strict")
    words = (python_judges / "mcpcheck", guarded.url, *options)
    done = judges.run(words, first_in_path=python_judges, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@promise("interop:authlab")
def test_mcp_authlab_signs_in_and_finds_no_failure(
    python_judges: Path, trusting: HttpServer, tmp_path: Path
) -> None:
    """Issue 4: with the issuer alive, and a token of it that is for another resource."""
    for words in (
        ("login", trusting.url, "--client-id", "team-person", "--no-browser"),
        ("scan", trusting.url, "--fail-under", "A", "--format", "json", "-o", "report.json"),
    ):
        done = judges.run(
            [python_judges / "mcp-authlab", *words],
            first_in_path=python_judges,
            cwd=tmp_path,
            MCP_AUTHLAB_TOKENS=str(tmp_path / "tokens.json"),
            NO_PROXY="127.0.0.1",
        )
        assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    wrong = [one for one in report["results"] if one["status"] in {"fail", "error"}]
    assert wrong == []
    assert report["coverage"]["ran"] == report["coverage"]["applicable"]


@promise("interop:doctor")
@pytest.mark.parametrize("mode", [(), ("--truth",)], ids=["fuzz", "truth"])
def test_the_fuzz_of_mcp_doctor_finds_nothing(
    mode: tuple[str, ...], python_judges: Path, tmp_path: Path
) -> None:
    """Issue 4: over stdio, read-only tools."""
    target = (graymatter(), "--dir", str(tmp_path / "store"), "mcp", "serve")
    words = (python_judges / "mcp-doctor", "fuzz", *mode, "--", *target)
    done = judges.run(words, first_in_path=python_judges, cwd=tmp_path, **environment())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "100" in done.stdout


@promise("interop:schemathesis")
def test_schemathesis_finds_no_answer_that_the_description_does_not_tell(
    python_judges: Path, guarded: HttpServer, tmp_path: Path
) -> None:
    """Issue 5: statuses, media types, headers and bodies of answers to 10,000 requests and more."""
    checks = (
        *("not_a_server_error", "status_code_conformance", "content_type_conformance"),
        *("response_schema_conformance", "response_headers_conformance", "unsupported_method"),
    )
    description = f"http://{guarded.host}:{guarded.port}/openapi.json"
    words = ("run", description, "-H", f"Authorization: Bearer {SERVER_TOKEN}", "--no-color")
    amount = ("--phases", "coverage,fuzzing", "--max-examples", "120", "--seed", "7")
    done = judges.run(
        [python_judges / "schemathesis", *words, *amount, "--checks", ",".join(checks)],
        first_in_path=python_judges,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    told = re.search(r"(\d+) generated, (\d+) passed", done.stdout)
    assert told is not None, done.stdout[-4000:]
    assert told[1] == told[2]
    assert int(told[1]) >= 10_000
