"""From a request of an old route to its fields, or to the one text that says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from graymatter_mcp.contract.issues import coerced, issues
from graymatter_mcp.surfaces.http.messages import RefusedError, error_answer
from graymatter_mcp.surfaces.rest.requests import read_query
from graymatter_mcp.surfaces.rest.text import is_text

if TYPE_CHECKING:
    from graymatter_mcp.contract.routes import RouteContract
    from graymatter_mcp.surfaces.http.messages import HttpRequest
    from graymatter_mcp.surfaces.rest.rules import Fields

REQUIRED: Final[Mapping[str, str]] = {
    "legacy-remember": "agent and text are required",
    "legacy-recall": "agent and q query params are required",
    "legacy-consolidate": "agent is required",
    "legacy-facts": "agent query param is required",
    "legacy-forget": "agent is required",
    "legacy-forget-id": "agent query param and a fact id are required",
}
"""What is said where a field is missing or blank, by the name of the route."""
WHAT_TO_FORGET: Final = "id or query is required"
_EITHER: Final = ("id", "query")


def read_legacy(route: RouteContract, request: HttpRequest) -> Fields:
    """Return the fields of a request, with those of its path; absent ones are left out.

    Raises:
        RefusedError: Holds the answer, always with status 400.
    """
    name = f"rest/{route.name}"
    sent = _parsed(request.body) if route.takes_body else read_query(request.query)
    fields: Any = coerced(name, sent)
    if not isinstance(fields, dict):
        raise _refusal("invalid JSON: the body is no object")
    given = {key: field for key, field in cast("Fields", fields).items() if not _is_blank(field)}
    given |= {key: step for key, step in request.parameters.items() if not _is_blank(step)}
    needed = (*route.request["required"], *request.parameters)
    if any(key not in given for key in needed):
        raise _refusal(REQUIRED[route.name])
    if route.name == "legacy-forget" and not any(key in given for key in _EITHER):
        raise _refusal(WHAT_TO_FORGET)
    prefix = "invalid JSON: " if route.takes_body else ""
    for issue in issues(name, given):
        raise _refusal(f"{prefix}{issue.path} {issue.message}")
    for key in sorted(given):
        if not is_text(given[key]):
            raise _refusal(f"{key} is not valid text")
    return given


def _is_blank(field: object) -> bool:
    return isinstance(field, str) and not field.strip()


def _parsed(body: bytes) -> Any:
    if not body:
        raise _refusal("invalid JSON: the body is empty")
    try:
        return json.loads(body.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        # What the parser says may quote the body.
        raise _refusal("invalid JSON: the body cannot be read as JSON in UTF-8") from None


def _refuse(constant: str) -> NoReturn:
    # Python reads NaN and Infinity, which are no JSON.
    raise ValueError(constant)


def _refusal(text: str) -> RefusedError:
    return RefusedError(error_answer(400, text))
