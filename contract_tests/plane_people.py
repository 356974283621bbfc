"""Users of one server, each with tokens that an admin or they themselves made over the wire."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contract_tests.http_wire import Response
    from contract_tests.plane_wire import Plane

_names = count(1)


class Person:
    """One user, and who they are when they show their first token."""

    def __init__(self, admin: Plane, role: str = "user") -> None:
        self._admin = admin
        self.name = f"person-{next(_names)}"
        body = {"username": self.name, "role": role}
        self.id: str = done(admin.rest("POST", "/v1/admin/users", body), 201)["id"]
        token = done(admin.rest("POST", "/v1/admin/tokens", {"userId": self.id}), 201)
        self.token_id: str = token["id"]
        self.plane = admin.with_token(token["token"])

    def mint(self, **fields: Any) -> dict[str, Any]:
        """Make a token of their own; return the whole answer."""
        return done(self.plane.rest("POST", "/v1/me/tokens", fields), 201)

    def with_token(self, **fields: Any) -> Plane:
        """Return them with a new token."""
        return self.plane.with_token(self.mint(**fields)["token"])

    def project(self, name: str, *members: Person) -> str:
        """Make a project, and share it; return its id."""
        made = done(self.plane.rest("POST", "/v1/me/projects", {"name": name}), 201)
        for one in members:
            place = f"/v1/me/projects/{made['id']}/members"
            done(self.plane.rest("POST", place, {"username": one.name}), 201)
        return made["id"]

    def set_quota(self, **fields: int | None) -> None:
        """Let the admin say how much they may write."""
        done(self._admin.rest("PUT", f"/v1/admin/users/{self.id}/quota", fields))


def done(answer: Response, status: int = 200) -> Any:
    """Return the body of an answer that must have a status; None where it has none."""
    assert answer.status == status, answer.body
    return answer.document if answer.body else None


def refused(answer: Response, status: int, text: str) -> None:
    """Hold a refusal to its status and its one text."""
    assert (answer.status, answer.document) == (status, {"error": text})
