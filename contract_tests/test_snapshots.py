"""Everything that is served, compared with what was served before."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.clients import RawClient
from contract_tests.conftest import TRANSPORTS
from contract_tests.http_wire import OPEN, HttpServer
from contract_tests.manifest import promise
from contract_tests.wire import REVISIONS, STATELESS_REVISION, environment, graymatter
from graymatter_mcp.contract.load import read_document
from graymatter_mcp.contract.snapshot import canonical_json

if TYPE_CHECKING:
    from collections.abc import Iterator

SNAPSHOTS: Final = Path(__file__).with_name("snapshots")


def opening_name(revision: str, toolset: str) -> str:
    """Return the snapshot of how a connection of this revision opens."""
    return named("discover" if revision == STATELESS_REVISION else "initialize", toolset)


def expected_files() -> set[str]:
    """Return every snapshot that a test reads."""
    served = {
        f"{revision}/{name}.json"
        for revision in REVISIONS
        for toolset in toolsets()
        for name in (opening_name(revision, toolset), named("tools_list", toolset))
    }
    return served | {"cli_help.txt", "openapi.json", "rest_routes.json"}


def toolsets() -> dict[str, list[str]]:
    """Return the toolsets that are shipped."""
    return read_document("toolsets.json")


def named(name: str, toolset: str) -> str:
    """Return the snapshot of a toolset; another one than the core has a file of its own."""
    return name if toolset == "core" else f"{name}.{toolset}"


def served_with(toolset: str) -> list[str]:
    """Return what starts a server of a toolset; others than the core come beside it."""
    return [] if toolset == "core" else ["--toolset", f"core,{toolset}"]


def compare(name: str, text: str, *, update: bool) -> None:
    """Compare with the snapshot of this name; write it only when asked to."""
    path = SNAPSHOTS / name
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return
    assert path.is_file(), f"no snapshot {name}: run once with --update-snapshots"
    assert text == path.read_text(encoding="utf-8")


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether snapshots are to be written."""
    return bool(request.config.getoption("--update-snapshots"))


@pytest.fixture(
    scope="module",
    params=[
        (transport, revision, toolset)
        for transport in TRANSPORTS
        for revision in REVISIONS
        for toolset in toolsets()
    ],
    ids="-".join,
)
def client(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RawClient]:
    """A raw client in each revision, over each transport, of each toolset."""
    transport, revision, chosen = request.param
    directory = tmp_path_factory.mktemp("snapshots")
    opened = RawClient(TRANSPORTS[transport](directory, served_with(chosen)), revision)
    yield opened
    opened.close()


@pytest.fixture
def toolset(request: pytest.FixtureRequest) -> str:
    """The toolset that the client sees."""
    return request.node.callspec.params["client"][2]


@promise("snapshots:tools-list")
def test_the_list_of_tools_is_what_it_was(client: RawClient, toolset: str, update: bool) -> None:
    """House, section 3: the diff ships with the commit that caused it."""
    result = client.ask("tools/list")["result"]
    name = f"{client.revision}/{named('tools_list', toolset)}.json"
    compare(name, canonical_json(result), update=update)


@promise("snapshots:opening")
def test_the_opening_is_what_it_was(client: RawClient, toolset: str, update: bool) -> None:
    """House, section 3. The version is a row of its own: each release changes it."""
    text = json.dumps(client.opening).replace(
        json.dumps(client.server_info()["version"]), json.dumps("<version>")
    )
    opening: dict[str, Any] = json.loads(text)
    name = f"{client.revision}/{opening_name(client.revision, toolset)}.json"
    compare(name, canonical_json(opening), update=update)


def help_pages(command: str = "") -> Iterator[str]:
    """Return the page of a command and of every command below it, as they are listed."""
    words = [*command.split(), "--help"]
    page = subprocess.run(
        [graymatter(), *words],
        capture_output=True,
        check=True,
        env=environment(COLUMNS="80", TERMINAL_WIDTH="80"),
    ).stdout.decode()
    yield f"$ graymatter {' '.join(words)}\n{page}"
    _, _, listed = page.partition("\nCommands:\n")
    for name in re.findall(r"^  (\S+)", listed, re.MULTILINE):
        yield from help_pages(f"{command} {name}")


@promise("snapshots:cli-help")
def test_the_help_of_the_command_is_what_it_was(update: bool) -> None:
    """House, section 3."""
    compare("cli_help.txt", "\n".join(help_pages()), update=update)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A server for remote callers that asks nobody who they are."""
    with HttpServer(tmp_path_factory.mktemp("rest"), *OPEN) as opened:
        yield opened


@promise("snapshots:rest")
def test_the_description_of_the_routes_is_what_it_was(server: HttpServer, update: bool) -> None:
    """House, section 3; issue 7: OpenAPI, as a running server gives it."""
    document = server.ask("GET", "/openapi.json").document
    document["info"]["version"] = "<version>"
    compare("openapi.json", canonical_json(document), update=update)


@promise("snapshots:rest")
def test_the_routes_are_what_they_were(server: HttpServer, update: bool) -> None:
    """House, section 3; issue 7: each path with what the server itself says it takes."""
    described = server.ask("GET", "/openapi.json").document["paths"]
    others = ["/mcp", "/live", "/ready", "/healthz", "/metrics"]
    taken: dict[str, list[str]] = {}
    for path in sorted({*described, *others}):
        answer = server.ask("TRACE", path.replace("{", "").replace("}", ""))
        assert answer.status == 405, path
        taken[path] = sorted(answer.headers["allow"].split(", "))
    for path, operations in described.items():
        # A probe may ask for the head alone.
        methods = [method for method in taken[path] if method != "HEAD"]
        assert methods == sorted(method.upper() for method in operations), path
    compare("rest_routes.json", canonical_json(taken), update=update)


@promise("snapshots:none-unused")
def test_no_snapshot_is_missing_or_left_over(update: bool) -> None:
    """House, section 3."""
    if update:
        pytest.skip("snapshots are being written")
    found = {
        path.relative_to(SNAPSHOTS).as_posix() for path in SNAPSHOTS.rglob("*") if path.is_file()
    }
    assert found == expected_files()


@promise("limits:toolsets")
@pytest.mark.parametrize("chosen", toolsets())
def test_the_snapshots_of_a_toolset_hold_its_tools_and_no_tool_is_in_two(chosen: str) -> None:
    """F10; issue 7: snapshots per toolset."""
    for revision in REVISIONS:
        path = SNAPSHOTS / revision / f"{named('tools_list', chosen)}.json"
        tools = json.loads(path.read_text(encoding="utf-8"))["tools"]
        assert [tool["name"] for tool in tools][-len(toolsets()[chosen]) :] == toolsets()[chosen]
    every = [name for names in toolsets().values() for name in names]
    assert len(set(every)) == len(every)
