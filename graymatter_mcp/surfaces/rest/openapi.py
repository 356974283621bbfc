"""The routes as OpenAPI, made from the files that the server checks with."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any, Final, cast

from graymatter_mcp.contract.load import read_document
from graymatter_mcp.contract.routes import FOLDER, load_routes

if TYPE_CHECKING:
    from graymatter_mcp.contract.load import Schema
    from graymatter_mcp.contract.routes import RouteContract

_PLACE: Final = "#/components/schemas/"
_ERROR: Final = f"{FOLDER}/error.json"
_WORDS: Final = {
    200: "Done.",
    201: "Something was made.",
    204: "Done; nothing to say.",
    400: "The request is not what the route takes.",
    401: "No bearer, or one that is unknown, revoked or expired.",
    403: "The caller may not do this.",
    404: "Nothing here has this name.",
    409: "What is stored stands against it.",
    408: "The request did not arrive in time.",
    413: "The body is too large.",
    415: "The body is no JSON.",
    429: "Too many requests or writes; Retry-After says when.",
    431: "The request line and headers are too large.",
    500: "A fault of the server; its log has more under the request id.",
    503: "Not now: the store or a part of it is away.",
}
_OF_ANY_REQUEST: Final = (408, 431)
"""Answered before it is known which route is meant."""
_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Of a write that may be sent again: within a day it takes effect once.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[ -~]+$"},
}


def openapi_document(version: str) -> dict[str, Any]:
    """Describe all routes.

    Args:
        version: Of the server.
    """
    parts = _Parts()
    paths: dict[str, dict[str, Any]] = {}
    for route in load_routes():
        for path in route.paths:
            paths.setdefault(path, {})[route.method.lower()] = _operation(route, path, parts)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "graymatter",
            "version": version,
            "description": "Long-term memory for agents. A field that is null is absent, and a"
            " number may come as a decimal string.",
        },
        "security": [{"bearer": []}],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": dict(sorted(parts.found.items())),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "gm_session"},
            },
        },
    }


class _Parts:
    """Shared parts under the names of their files, gathered as they are met."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}

    def read(self, path: str) -> Any:
        """Return a file of the contract whose references lead to shared parts."""
        return self._linked(read_document(path), path)

    def name(self, path: str) -> Schema:
        """Return a reference to a file that is a shared part."""
        name = posixpath.basename(path).removesuffix(".json")
        if name not in self.found:
            self.found[name] = None  # held before it is read, in the order of the first meeting
            self.found[name] = self.read(path)
        return {"$ref": _PLACE + name}

    def _linked(self, node: object, path: str) -> Any:
        if isinstance(node, list):
            return [self._linked(item, path) for item in cast("list[object]", node)]
        if not isinstance(node, dict):
            return node
        schema = cast("Schema", node)
        if "$ref" not in schema:
            return {key: self._linked(value, path) for key, value in schema.items()}
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), schema["$ref"]))
        return self.name(target) if target.startswith("defs/") else self.read(target)


def _operation(route: RouteContract, path: str, parts: _Parts) -> dict[str, Any]:
    is_mirror = path != route.path
    request = parts.read(f"{FOLDER}/{route.name}/request.json")
    about: dict[str, Any] = {
        "operationId": f"me-{route.name}" if is_mirror else route.name,
        "tags": [route.family],
        "summary": route.summary,
        "security": _security(route, path),
        "responses": _responses(route, parts),
    }
    if route.description:
        about["description"] = route.description
    parameters = _parameters(route, path, request)
    if parameters:
        about["parameters"] = parameters
    if route.takes_body:
        about["requestBody"] = {
            "required": not route.has_optional_body,
            "content": {"application/json": {"schema": request}},
        }
    return about


def _security(route: RouteContract, path: str) -> list[dict[str, list[str]]]:
    if route.is_open:
        return []
    cookie: list[dict[str, list[str]]] = [{"cookie": []}] if path.startswith("/v1/me/") else []
    return [{"bearer": []}, *cookie]


def _parameters(route: RouteContract, path: str, request: Schema) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in re.findall(r"{(\w+)}", path)
    ]
    if route.takes == "query":
        required = request.get("required", [])
        found += [
            {"name": name, "in": "query", "required": name in required, **_described(field)}
            for name, field in request["properties"].items()
        ]
    if route.needs_write and route.family != "legacy":
        found.append(_KEY)
    return found


def _described(field: Schema) -> dict[str, Any]:
    words = field.get("description")
    schema = {key: value for key, value in field.items() if key != "description"}
    return {"schema": schema} if words is None else {"description": words, "schema": schema}


def _responses(route: RouteContract, parts: _Parts) -> dict[str, Any]:
    folder = f"{FOLDER}/{route.name}"
    answers: dict[str, Any] = {}
    for status in route.success:
        schema = None if route.response is None else parts.read(f"{folder}/response.json")
        answers[str(status)] = _answer(status, schema)
    for status in sorted({*route.errors, *_OF_ANY_REQUEST}):
        schema = parts.name(_ERROR)
        if status in route.failures:
            schema = {"oneOf": [parts.read(f"{folder}/{status}.json"), schema]}
        answers[str(status)] = _answer(status, schema)
    return answers


def _answer(status: int, schema: Schema | None) -> dict[str, Any]:
    content = {} if schema is None else {"content": {"application/json": {"schema": schema}}}
    return {"description": _WORDS[status], **content}
