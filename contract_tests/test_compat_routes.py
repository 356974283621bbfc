"""REST routes in bundles: compared like tools, and unknown where only tools were asked for."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.manifest import promise
from graymatter_mcp.contract.bundle import bundle_document
from graymatter_mcp.contract.compat import Level, compare_releases, read_release
from graymatter_mcp.contract.compat.enforce import problems
from graymatter_mcp.contract.released import read_released
from graymatter_mcp.contract.routes import route_names

if TYPE_CHECKING:
    from graymatter_mcp.contract.compat import Change

Edit = Callable[[dict[str, Any]], object]

TREE: Final = bundle_document("9.0.0")
NOTICE: Final = {
    "what": "input:default-changed",
    "where": "rest/search/request/properties/k",
    "announced_in": "9.0.0",
    "remove_not_before": "9.1.0",
    "instead": "say k",
}

BREAKS: Final[list[tuple[Edit, str, str]]] = [
    (
        lambda one: one["requestSchema"]["properties"].pop("k"),
        "input:property-removed",
        "rest/search/request/properties/k",
    ),
    (
        lambda one: one["responseSchema"]["properties"].pop("abstained"),
        "output:property-removed",
        "rest/search/response/properties/abstained",
    ),
    (
        lambda one: one["failureSchemas"]["503"]["properties"].pop("error"),
        "output:property-removed",
        "rest/search/503/properties/error",
    ),
    (lambda one: one.pop("responseSchema"), "tool:route-body-changed", "rest/search/response"),
    (lambda one: one.update(method="PUT"), "tool:route-changed", "rest/search"),
    (lambda one: one.update(access="open"), "tool:route-changed", "rest/search"),
    (lambda one: one.update(needs_write=True), "tool:route-changed", "rest/search"),
    (lambda one: one.update(other=1), "tool:route-changed", "rest/search"),
    (lambda one: one["paths"].pop(), "tool:route-path-removed", "rest/search"),
    (lambda one: one.update(name="find"), "tool:route-removed", "rest/search"),
]
"""An edit of a route, the rule that it breaks, and where."""


def edited(change: Edit, **parts: Any) -> dict[str, Any]:
    """Return the tree with one route changed."""
    tree = copy.deepcopy(TREE)
    (search,) = [route for route in tree["routes"] if route["name"] == "search"]
    change(search)
    return {**tree, **parts}


def changes(old: Any, new: Any) -> list[Change]:
    """Compare two documents."""
    return compare_releases(read_release(old), read_release(new))


@promise("compat:routes")
def test_a_bundle_holds_every_route() -> None:
    """House, section 3: a release freezes everything that it serves."""
    assert [route["name"] for route in TREE["routes"]] == route_names()
    for route in TREE["routes"]:
        assert {"method", "paths", "revision", "requestSchema"} <= set(route)
    assert changes(TREE, copy.deepcopy(TREE)) == []


@promise("compat:routes")
def test_routes_are_an_addition_to_the_release_without_any() -> None:
    """0.1.0 is frozen and holds the core alone."""
    found = changes(read_released("0.1.0"), TREE)
    routes = [one for one in found if one.path.startswith("rest/")]
    assert {one.rule for one in routes} == {"tool:route-added"}
    assert len(routes) == len(route_names())
    assert max(one.level for one in found) is Level.ADDITIVE


@promise("compat:routes")
def test_a_list_of_tools_says_nothing_of_routes() -> None:
    """A server that is asked over MCP has not removed its routes."""
    listed = {"tools": TREE["tools"]}
    for pair in ((listed, TREE), (TREE, listed)):
        assert not [one for one in changes(*pair) if one.path.startswith("rest/")]


@promise("compat:routes")
@pytest.mark.parametrize(("change", "rule", "path"), BREAKS)
def test_what_breaks_a_caller_of_a_route_is_breaking(change: Edit, rule: str, path: str) -> None:
    """House, section 3: the same rules as for tools."""
    found = {one.rule: one for one in changes(TREE, edited(change))}
    assert (found[rule].level, found[rule].path) == (Level.BREAKING, path)


@promise("compat:routes")
def test_an_addition_to_a_route_needs_a_revision() -> None:
    """House, section 3."""

    def widen(route: dict[str, Any]) -> None:
        route["requestSchema"]["properties"]["more"] = {"type": "string", "description": "More."}

    def raised(route: dict[str, Any]) -> None:
        widen(route)
        route["revision"] = 2

    assert "tool:revision-not-raised" in {one.rule for one in changes(TREE, edited(widen))}
    assert {one.rule for one in changes(TREE, edited(raised))} == {"input:property-added"}
    words = edited(lambda route: route.update(summary="Other words"))
    assert [one.level for one in changes(TREE, words)] == [Level.PROSE]


@promise("compat:routes")
def test_a_notice_may_speak_of_a_route() -> None:
    """Contract 1.2, rule 2."""

    def announce(route: dict[str, Any]) -> None:
        route["requestSchema"]["properties"]["k"]["description"] = "Deprecated default."

    def again(route: dict[str, Any]) -> None:
        announce(route)
        route["requestSchema"]["properties"]["k"]["default"] = 5
        route["revision"] = 2

    first: dict[str, Any] = {**TREE, "deprecations": []}
    announced = edited(announce, deprecations=[NOTICE])
    assert problems(read_release({**announced, "version": "9.0.0"}), []) == []
    silent = problems(read_release({**first, "deprecations": [NOTICE]}), [])
    assert [text for text in silent if "does not say that it is deprecated" in text]
    frozen = [read_release(announced)]
    later = edited(again, deprecations=[NOTICE], version="9.1.0")
    assert problems(read_release(later), frozen) == []
    early = edited(again, deprecations=[], version="9.1.0")
    assert problems(read_release(early), [read_release(first)])
