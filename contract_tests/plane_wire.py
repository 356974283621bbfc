"""Clients of the data plane: one operation, asked over REST or as a tool, with one way to say it.

Every answer that passes here is held against its schema.
"""

from __future__ import annotations

import http.client
import json
from collections import deque
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from contract_tests.caller import Caller
from contract_tests.clients import RawClient
from contract_tests.credentials import SERVER_TOKEN
from contract_tests.http_wire import Response, ask, mcp_headers, response_of
from contract_tests.plane_answers import check_answer
from contract_tests.wire import DEADLINE_S, HANDSHAKE_REVISIONS, STATELESS_REVISION
from graymatter_mcp.contract.load import load_bundle
from graymatter_mcp.contract.routes import load_route
from graymatter_mcp.model.ids import Namespace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contract_tests.clients import Reply
    from contract_tests.plane_server import PlaneServer
    from contract_tests.wire import Message

ERAS: Final = (HANDSHAKE_REVISIONS[-1], STATELESS_REVISION)
REST: Final = "rest"
DOORS: Final = (REST, *ERAS)
"""How an operation can be asked: over REST, and as a tool in each era of MCP."""

_shelves = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an operation answered, in the same words whatever it was asked over."""

    body: Any
    """Of success; None of a failure."""
    error: str = ""
    """As a tool says it: `error: ...`."""
    response: Response | None = None
    """The answer of REST."""


class Plane:
    """A caller of one server; holds one token."""

    def __init__(self, server: PlaneServer, token: str | None = SERVER_TOKEN) -> None:
        self.server = server
        self.token = token
        self._callers: dict[str, Caller] = {}

    def with_token(self, token: str | None) -> Plane:
        """Return another caller of the same server."""
        return Plane(self.server, token)

    def shelf(self) -> str:
        """Return the name of a shelf that nobody has used."""
        return f"shelf-{next(_shelves)}"

    def connect(self) -> http.client.HTTPConnection:
        """Open a connection that is kept."""
        return http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=DEADLINE_S)

    def raw(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Send one request over a connection of its own, with the token and nothing else."""
        bearer = {} if self.token is None else {"authorization": f"Bearer {self.token}"}
        connection = self.connect()
        try:
            answer = ask(connection, method, path, body, {**bearer, **(headers or {})})
        finally:
            connection.close()
        if path != "/mcp" and method != "HEAD":
            check_answer(method, path, answer)
        return answer

    def announce(self, method: str, path: str, length: int) -> Response:
        """Say how long a body is, and send nothing of it."""
        connection = self.connect()
        try:
            connection.putrequest(method, path)
            for name, value in (
                ("authorization", f"Bearer {self.token}"),
                ("content-type", "application/json"),
                ("content-length", str(length)),
            ):
                connection.putheader(name, value)
            connection.endheaders()
            answer = response_of(connection)
        finally:
            connection.close()
        check_answer(method, path, answer)
        return answer

    def rest(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Response:
        """Send one request of REST, whose body is JSON; None for none."""
        sent = None if body is None else json.dumps(body).encode()
        kind = {} if sent is None else {"content-type": "application/json"}
        return self.raw(method, path, sent, {**kind, **(headers or {})})

    def post(self, name: str, /, **fields: Any) -> Response:
        """Ask an operation by the name of its route; its answer as it came."""
        route = load_route(name)
        path = route.path
        for parameter in ("id",):
            if f"{{{parameter}}}" in path:
                path = path.replace(f"{{{parameter}}}", fields.pop(parameter))
        return self.rest(route.method, path, fields if route.takes_body else None)

    def tool(self, era: str, name: str, /, **arguments: Any) -> Outcome:
        """Call a tool."""
        reply = self._caller(era).reply(name, arguments)
        if reply.is_error:
            assert reply.text.startswith("error: ")
            return Outcome(body=None, error=reply.text)
        assert reply.text == json.dumps(
            reply.structured, ensure_ascii=False, separators=(",", ":")
        ), "the text is not the same object"
        return Outcome(body=reply.structured)

    def tools(self, era: str) -> dict[str, Any]:
        """Return what is served, by name, in its order."""
        return self._caller(era).tools

    def instructions(self, era: str) -> str:
        """Return what the server says about itself as a client opens."""
        told = self._caller(era).client.instructions()
        assert told
        return told

    def reply(self, era: str, name: str, /, **arguments: Any) -> Reply:
        """Call a tool; return the whole of what comes."""
        return self._caller(era).reply(name, arguments)

    def core(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a core tool, which must succeed."""
        return self._caller(STATELESS_REVISION).ok(name, **arguments)

    def ask(self, door: str, operation: str, /, **fields: Any) -> Outcome:
        """Ask an operation over any door, by the name of its route."""
        if door != REST:
            return self.tool(door, twin_of(operation), **fields)
        response = self.post(operation, **fields)
        if response.status < 300:
            return Outcome(body=response.document, response=response)
        return Outcome(body=None, error=_as_tool(response), response=response)

    def ok(self, door: str, operation: str, /, **fields: Any) -> Any:
        """Ask an operation that must succeed; return its body."""
        outcome = self.ask(door, operation, **fields)
        assert not outcome.error, outcome.error
        return outcome.body

    def alike(self, operation: str, /, **fields: Any) -> Any:
        """Ask an operation that only reads over every door; return what all of them answer.

        Source: D59.
        """
        first, *others = [self.ask(door, operation, **fields) for door in DOORS]
        for other in others:
            assert (other.body, other.error) == (first.body, first.error)
        assert not first.error, first.error
        return first.body

    def refused_alike(self, operation: str, /, **fields: Any) -> Response:
        """Ask an operation over every door, which must be refused; return the answer of REST."""
        first, *others = [self.ask(door, operation, **fields) for door in DOORS]
        for other in others:
            assert (other.body, other.error) == (None, first.error)
        assert first.error
        assert first.response is not None
        return first.response

    def keep(self, namespace: str, *contents: str, **fields: Any) -> list[str]:
        """Remember facts on a shelf, oldest first; return their ids."""
        ids: list[str] = []
        for content in contents:
            answer = self.post("remember", namespace=namespace, content=content, **fields)
            assert answer.status == 201, answer.document
            ids.append(answer.document["id"])
        return ids

    def hits(self, namespace: str) -> dict[str, int]:
        """Return how often each fact of a shelf counts as read: at least once, when it was made."""
        facts = self.server.store.list(Namespace(namespace))
        return {fact.id: fact.access_count + 1 for fact in facts}

    def _caller(self, era: str) -> Caller:
        if era not in self._callers:
            self._callers[era] = Caller(RawClient(_Wire(self), era))
        return self._callers[era]


class _Wire:
    """MCP of one caller, request by request."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._answers: deque[Message] = deque()

    def send(self, *messages: object) -> None:
        """Post messages one after the other; their answers wait to be received."""
        for message in messages:
            body = json.dumps(message).encode()
            answer = self._plane.raw("POST", "/mcp", body, mcp_headers(message))
            if answer.status != http.client.ACCEPTED:
                self._answers.append(answer.document)

    def receive(self) -> Message:
        """Return the next answer."""
        return self._answers.popleft()

    def ask(self, message: object) -> Message:
        """Post one request; return its answer."""
        self.send(message)
        return self.receive()

    def close(self) -> None:
        """There is nothing to close."""


def twin_of(operation: str) -> str:
    """Return the tool that carries out what a route does."""
    tools = load_bundle(("dataplane",)).tools
    (name,) = (one.name for one in tools if one.route == operation and one.name != "memory_today")
    return name


def _as_tool(response: Response) -> str:
    """Return what a tool says where REST answers so.

    Source: data plane, section 9.
    """
    document = response.document
    if "issues" not in document:
        return f"error: {document['error']}"
    first = document["issues"][0]
    return f"error: invalid argument '{first['path']}': {first['message']}"
