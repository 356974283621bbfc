"""The page about the data plane, taken at its word."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from jsonschema import Draft202012Validator

from graymatter_mcp.contract.load import load_bundle, toolset_names
from graymatter_mcp.contract.routes import RouteContract, load_routes
from tests.spawned import ROOT

PAGE: Final = (ROOT / "docs" / "data-plane.md").read_text(encoding="utf-8")
SHOWN: Final = re.compile(
    r"^`(?P<method>[A-Z]+) (?P<path>/v1/\S+)`\n\n"
    r"(?:```json\n(?P<request>.*?)^```\n\n)?"
    r"answers (?P<status>\d+):\n\n```json\n(?P<answer>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def _route(method: str, path: str) -> RouteContract:
    shape = re.sub(r"/[0-9A-HJKMNP-TV-Z]{26}$", "/{id}", path)
    (found,) = [route for route in load_routes() if route.method == method and shape in route.paths]
    return found


def _complaints(schema: Any, value: Any) -> list[str]:
    validator: Any = Draft202012Validator(schema)  # its stubs are unknown
    return [error.message for error in validator.iter_errors(value)]


def test_each_request_and_answer_on_the_page_fits_its_schema() -> None:
    """Issue 5: a reader copies what the page shows."""
    complaints: dict[str, list[str]] = {}
    for shown in SHOWN.finditer(PAGE):
        route = _route(shown["method"], shown["path"])
        request = json.loads(shown["request"] or "{}")
        if "{id}" in route.paths[0]:
            request["id"] = shown["path"].rpartition("/")[2]
        assert int(shown["status"]) in route.success
        complaints[shown[0]] = [
            *_complaints(route.request, request),
            *_complaints(route.response, json.loads(shown["answer"])),
        ]
    assert {place: found for place, found in complaints.items() if found} == {}


def test_each_operation_and_each_tool_of_one_is_on_the_page_with_an_example() -> None:
    """Issue 5: one request and answer for each operation."""
    listed = dict(re.findall(r"^\| `([A-Z]+ /v1/\S+)` \| (`memory_[^|]+) \|", PAGE, re.MULTILINE))
    twins = {tool.name for tool in load_bundle(toolset_names()).tools if tool.route}
    named = set(re.findall(r"`(\w+)`", " ".join(listed.values())))
    assert named == {name for name in twins if name.startswith("memory_")}
    exemplified = {_route(shown["method"], shown["path"]).name for shown in SHOWN.finditer(PAGE)}
    routes = {_route(*row.split(" ")).name for row in listed}
    assert len(routes) == 13
    assert exemplified == routes
