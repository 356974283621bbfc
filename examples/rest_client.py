"""Keep and find facts over REST, with the standard library alone.

    graymatter --dir memory mcp serve --http 127.0.0.1:8137
    export GRAYMATTER_URL=http://127.0.0.1:8137
    export GRAYMATTER_TOKEN=$(cat memory/graymatter.http-token)
    python examples/rest_client.py

A project is made, facts are captured, one of them is corrected, and a question is asked about
both. Run it twice: the second time finds the project, and the same facts are active as before.
"""

from __future__ import annotations

import json
import os
import sys
import time
import uuid
from http import HTTPStatus
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

TRIES = 60


class RefusedError(Exception):
    """The server said no, and why."""


class Plane:
    """The routes below `/v1`, as one caller."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url.rstrip("/")
        self._token = token

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Ask for one operation; return the answer, or raise `RefusedError`."""
        # The same key with the same request takes effect once, however often it is sent.
        key = str(uuid.uuid4())
        status, answer = self._send(method, path, body, key)
        tries = 1
        # While the model loads, a search by words alone that finds nothing proves nothing.
        while status == HTTPStatus.SERVICE_UNAVAILABLE and tries < TRIES:
            time.sleep(0.5)
            status, answer = self._send(method, path, body, key)
            tries += 1
        if status >= HTTPStatus.BAD_REQUEST:
            raise RefusedError(f"{status} {answer['error']}")
        return answer

    def _send(
        self, method: str, path: str, body: dict[str, Any] | None, key: str
    ) -> tuple[int, Any]:
        request = Request(  # noqa: S310 - the reader's own server
            f"{self._url}/v1/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
                "Idempotency-Key": key,
            },
        )
        try:
            with urlopen(request, timeout=60) as answer:  # noqa: S310 - as above
                return answer.status, json.load(answer)
        except HTTPError as refusal:
            return refusal.code, json.load(refusal)


def main(plane: Plane) -> None:
    """Hold one conversation."""
    try:
        plane.ask("POST", "me/projects", {"name": "webshop"})
    except RefusedError as refusal:
        print("project:", refusal)

    for content in (
        "Decided to need two approvals for each deploy of the webshop.",
        "The staging API uses port 8137",
        "The staging API uses port 8200",
        "ok thanks",
    ):
        stored = plane.ask("POST", "capture", {"content": content, "project": "webshop"})
        print("capture:", content, "->", json.dumps(stored, ensure_ascii=False))

    found = plane.ask(
        "POST", "search", {"query": "which port does staging use?", "project": "webshop", "k": 1}
    )
    print("search:", [item["content"] for item in found["results"]])
    nothing = plane.ask("POST", "search", {"query": "zorgblatt", "project": "webshop"})
    print("search for what nobody stored:", json.dumps(nothing))
    context = plane.ask(
        "POST", "context", {"message": "How do I deploy the webshop?", "project": "webshop"}
    )
    pack = context["contextPack"]
    print("decisions:", [item["content"] for item in pack["decisions"]])
    print("counts:", json.dumps(plane.ask("GET", "stats")["byNamespace"]))
    try:
        plane.ask("POST", "search", {"query": "", "k": 500})
    except RefusedError as refusal:
        print("refused:", refusal)


if __name__ == "__main__":
    try:
        where, bearer = os.environ["GRAYMATTER_URL"], os.environ["GRAYMATTER_TOKEN"]
    except KeyError as missing:
        sys.exit(f"set {missing.args[0]}")
    main(Plane(where, bearer))
