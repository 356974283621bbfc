"""From the bytes of a request to checked arguments, or to the answer that says what is wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NoReturn
from urllib.parse import parse_qsl

from graymatter_mcp.surfaces.http.messages import RefusedError, error_answer, json_answer
from graymatter_mcp.surfaces.rest.rules import check_fields

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from graymatter_mcp.contract.issues import Issue
    from graymatter_mcp.contract.routes import RouteContract
    from graymatter_mcp.surfaces.http.messages import HttpAnswer
    from graymatter_mcp.surfaces.rest.rules import Fields

INVALID: Final = "invalid request body"
NOT_JSON: Final = "Body is not valid JSON but content-type is set to 'application/json'"
EMPTY: Final = "Body cannot be empty when content-type is set to 'application/json'"
WRONG_TYPE: Final = "content type must be application/json"
_PARAMETERS: Final = 50
"""How many parameters of a query are read; no route knows more than a few."""


def read_arguments(
    route: RouteContract, body: bytes, content_type: str | None, query: str, *, now: datetime
) -> Fields:
    """Return the arguments of a request, checked, names as in REST, absent ones left out.

    Not for the legacy routes, whose errors have their own texts.

    Args:
        route: Which was found.
        body: As it came.
        content_type: The header, if it came.
        query: Of the URL, without the question mark.
        now: With its offset.

    Raises:
        RefusedError: Holds the answer: 415 for a media type, 400 for all else.
    """
    sent = _sent(route, body, content_type, query)
    arguments, issues = check_fields(f"rest/{route.name}", sent, now)
    if issues:
        raise RefusedError(issues_answer(issues))
    return arguments


def issues_answer(issues: Sequence[Issue]) -> HttpAnswer:
    """Return the answer that names all issues."""
    rows = [{"path": one.path, "message": one.message, "code": one.code} for one in issues]
    return json_answer(400, {"error": INVALID, "issues": rows})


def _sent(route: RouteContract, body: bytes, content_type: str | None, query: str) -> Any:
    if route.takes == "query":
        return read_query(query)
    if not route.takes_body or (not body and route.has_optional_body):
        return {}
    if not body:
        raise RefusedError(error_answer(400, EMPTY))
    if (content_type or "").partition(";")[0].strip().lower() != "application/json":
        raise RefusedError(error_answer(415, WRONG_TYPE))
    return _parsed(body)


def read_query(query: str) -> dict[str, str]:
    """Return the parameters of a URL; of a repeated one the last.

    Raises:
        RefusedError: They are too many.
    """
    try:
        return dict(parse_qsl(query, keep_blank_values=True, max_num_fields=_PARAMETERS))
    except ValueError:
        raise RefusedError(error_answer(400, "the query has too many parameters")) from None


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise RefusedError(error_answer(400, NOT_JSON)) from None


def _refuse(constant: str) -> NoReturn:
    # Python reads NaN and Infinity, which are no JSON.
    raise ValueError(constant)
