"""REST over the owner's own door: this user's processes, and nobody else."""

from __future__ import annotations

import http.client
import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.processes import Session, connected, end_all, owner_note
from graymatter_mcp.owner.client import ask_rest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FACT: Final = "Deploys need two approvals"
REMEMBER: Final = b'{"content":"Nobody should have stored this","namespace":"a"}'


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data directory whose owner is up, with one fact."""
    directory = tmp_path_factory.mktemp("rest") / "store"
    with Session(directory) as opened:
        opened.ok("memory_add", agent_id="a", text=FACT)
        yield directory
    end_all(directory)


class Answer:
    """One answer, as it came."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.document: Any = json.loads(response.read() or b"null")


def ask(
    store: Path, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
) -> Answer:
    """Send one request as it is."""
    connection = http.client.HTTPConnection("localhost")
    connection.sock = connected(store, "http")
    try:
        connection.request(method, path, body, dict(headers))
        return Answer(connection.getresponse())
    finally:
        connection.close()


def bearer(store: Path) -> dict[str, str]:
    """Return what this user's processes show."""
    token = owner_note(store)["token"]
    return {"authorization": f"Bearer {token}", "content-type": "application/json"}


def contents(store: Path) -> list[str]:
    """Return what is stored."""
    status, body = ask_rest(store, "POST", "/v1/recent", {"namespace": "a"})
    assert status == 200
    return [item["content"] for item in body["results"]]


def test_this_users_processes_speak_rest(store: Path) -> None:
    """Data plane 2.1; design, section 2: the caller is user `local`, with every right."""
    assert contents(store) == [FACT]
    status, session = ask_rest(store, "GET", "/v1/me/session")
    assert status == 200
    assert (session["user"]["username"], session["scope"]) == ("local", "full")
    status, made = ask_rest(store, "POST", "/v1/me/projects", {"name": "web"}, is_write=True)
    assert status == 201
    assert ask_rest(store, "DELETE", f"/v1/me/projects/{made['id']}")[0] == 200
    assert ask_rest(store, "DELETE", "/v1/me/active-project") == (204, None)


def test_the_gate_is_that_of_the_network(store: Path) -> None:
    """Data plane 2.2: the same answers; the socket alone is outside of the limit of the rate."""
    good = ask(store, "POST", "/v1/recent", b"", bearer(store))
    assert good.status == 200
    assert good.headers["cache-control"] == "no-store"
    assert good.headers["x-request-id"]
    assert not [name for name in good.headers if name.startswith("x-ratelimit")]
    refused = {
        ("POST", "/v1/no-such"): (404, "not found"),
        ("GET", "/v1/search"): (405, "use POST here"),
        ("POST", "/v1/search"): (
            400,
            "Body cannot be empty when content-type is set to 'application/json'",
        ),
    }
    for (method, path), (status, text) in refused.items():
        answer = ask(store, method, path, b"", bearer(store))
        assert (answer.status, answer.document) == (status, {"error": text})
    foreign = {**bearer(store), "host": "example.org"}
    answer = ask(store, "POST", "/v1/recent", b"", foreign)
    assert (answer.status, answer.document) == (403, {"error": "host not allowed"})
    large = {**bearer(store), "content-length": str(2 * 1024 * 1024 + 1)}
    answer = ask(store, "POST", "/v1/search", None, large)
    assert (answer.status, answer.document) == (413, {"error": "request body is too large"})


def test_a_wrong_or_missing_token_is_refused(store: Path) -> None:
    """C71: before anything of the request is looked at but its route."""
    token = owner_note(store)["token"]
    for given in (None, "", "Bearer ", token, f"Bearer {token[:-1]}", f"Bearer {token.upper()}"):
        headers = {"content-type": "application/json"}
        if given is not None:
            headers["authorization"] = given
        answer = ask(store, "POST", "/v1/remember", REMEMBER, headers)
        assert (answer.status, answer.document) == (401, {"error": "unauthorized"})
    assert contents(store) == [FACT]
