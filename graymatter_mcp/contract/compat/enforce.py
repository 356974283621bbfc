"""May this be released? Every frozen bundle of the major is asked, and every notice kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from graymatter_mcp.contract.compat.levels import Change, Level, gravest
from graymatter_mcp.contract.compat.routes import FOLDER
from graymatter_mcp.contract.compat.tools import compare_releases
from graymatter_mcp.contract.compat.versions import (
    Version,
    allowed_level,
    parse_version,
    prior_minor,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graymatter_mcp.contract.compat.release import Notice, Release
    from graymatter_mcp.contract.compat.rules import Document

NEVER_WITHIN_ZERO: Final = frozenset(
    {"tool:tool-removed", "tool:route-removed", "input:property-removed"}
)
"""What no notice allows before 1.0: tools, routes and parameters stay."""

_FIRST: Final[Version] = (1, 0, 0)


def problems(tree: Release, frozen: Sequence[Release]) -> list[str]:
    """Return what stands in the way of releasing a tree under its version; empty when nothing.

    Args:
        tree: What is to be released; its version is that of the release.
        frozen: Every bundle of the same major of the contract, in any order.
    """
    found = [text for notice in tree.notices for text in _problems_of(notice, tree, frozen)]
    for release in frozen:
        found += _problems_against(release, tree, frozen)
    return found


def _problems_against(old: Release, tree: Release, frozen: Sequence[Release]) -> Iterator[str]:
    if parse_version(old.version) > parse_version(tree.version):
        yield f"{old.version} is frozen already: release a later version than {tree.version}"
        return
    changes = compare_releases(old, tree)
    for change in changes:
        if change.level is Level.BREAKING and not _is_announced(change, tree, frozen):
            yield f"breaks {old.version} at {change.path}: {change.text} ({change.rule})"
    level = gravest(change for change in changes if change.level < Level.BREAKING)
    if level > allowed_level(old.version, tree.version):
        wanted = "minor" if level is Level.ADDITIVE else "patch"
        yield f"{level.word} since {old.version}: it needs a {wanted} release of its own"


def _is_announced(change: Change, tree: Release, frozen: Sequence[Release]) -> bool:
    """Whether a release of the prior minor held a notice of exactly this change, now due."""
    if change.rule in NEVER_WITHIN_ZERO and parse_version(tree.version) < _FIRST:
        return False
    prior = prior_minor((release.version for release in frozen), tree.version)
    return any(
        (notice.what, notice.where) == (change.rule, change.path)
        and parse_version(notice.remove_not_before) <= parse_version(tree.version)
        for release in frozen
        if release.version in prior
        for notice in release.notices
    )


def _problems_of(notice: Notice, tree: Release, frozen: Sequence[Release]) -> Iterator[str]:
    name = f"notice {notice.what} at {notice.where}"
    try:
        announced = parse_version(notice.announced_in)
        removal = parse_version(notice.remove_not_before)
    except ValueError as exc:
        yield f"{name}: {exc}"
        return
    yield from (f"{name}: {text}" for text in _problems_of_words(notice, tree))
    if announced > parse_version(tree.version):
        yield f"{name}: it is announced in a release to come"
    if removal[:2] <= announced[:2]:
        yield f"{name}: the removal must wait for a later minor than the announcement"
    if notice.what in NEVER_WITHIN_ZERO and removal < _FIRST:
        yield f"{name}: no notice allows this before 1.0"
    for release in frozen:
        if announced <= parse_version(release.version) and notice not in release.notices:
            yield f"{name}: release {release.version} does not hold it as it stands"


def _problems_of_words(notice: Notice, tree: Release) -> Iterator[str]:
    words = _words_at(notice.where, tree)
    is_due = parse_version(notice.remove_not_before) <= parse_version(tree.version)
    if words is None and not is_due:
        yield "nothing is there any more, and its time has not come"
    elif words is not None and "deprecated" not in words.lower():
        yield "the description there does not say that it is deprecated"


def _words_at(where: str, tree: Release) -> str | None:
    """Return the description of a place of a release; None where nothing is."""
    name, *steps = where.split("/")
    node: object = _route_at(steps, tree) if name == FOLDER else _tool_at(name, tree)
    for step in steps[1:] if name == FOLDER else steps:
        node = _step(node, step)
    return _description(node)


def _tool_at(name: str, tree: Release) -> Document | None:
    tool = tree.tools.get(name)
    if tool is None:
        return None
    schemas = {"input": tool.input_schema, "output": tool.output_schema}
    return {"description": tool.description, **schemas}


def _route_at(steps: Sequence[str], tree: Release) -> Document | None:
    route = (tree.routes or {}).get(steps[0] if steps else "")
    if route is None:
        return None
    words = f"{route.about.get('summary', '')} {route.about.get('description', '')}"
    answers = {"response": route.response, **route.failures}
    return {"description": words, "request": route.request, **answers}


def _step(node: object, step: str) -> object:
    if isinstance(node, dict):
        return node.get(step)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - parsed JSON
    if isinstance(node, list) and step.isdigit() and int(step) < len(node):  # pyright: ignore[reportUnknownArgumentType]
        return node[int(step)]  # pyright: ignore[reportUnknownVariableType]
    return None


def _description(node: object) -> str | None:
    return str(cast("Document", node).get("description", "")) if isinstance(node, dict) else None
