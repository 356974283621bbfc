"""Compare two releases: toolsets, tools, hints, revisions, notices, and all their schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graymatter_mcp.contract.compat.levels import Change, Direction, gravest
from graymatter_mcp.contract.compat.objects import properties_of, required_of
from graymatter_mcp.contract.compat.revisions import compare_revisions
from graymatter_mcp.contract.compat.routes import compare_routes
from graymatter_mcp.contract.compat.same import same_json
from graymatter_mcp.contract.compat.table import RULES
from graymatter_mcp.contract.compat.versions import parse_version
from graymatter_mcp.contract.compat.walk import compare_schemas

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graymatter_mcp.contract.compat.release import Notice, Release, ServedTool
    from graymatter_mcp.contract.compat.rules import Document

_WHOLE: Final = Direction.TOOL


def compare_releases(old: Release, new: Release) -> list[Change]:
    """Return every difference, classified, in the order of the new list.

    Args:
        old: What callers hold.
        new: What is to be served.
    """
    changes = [*_compare_toolsets(old, new)]
    for name, tool in new.tools.items():
        if name in old.tools:
            changes += _compare_tools(old.tools[name], tool)
    if old.routes is not None and new.routes is not None:
        changes += compare_routes(old.routes, new.routes)
    return [*changes, *_compare_notices(old.notices, new.notices)]


def _rule(name: str, path: str, detail: str = "") -> Change:
    return RULES[f"{_WHOLE}:{name}"].at(path, detail)


def _compare_toolsets(old: Release, new: Release) -> Iterator[Change]:
    for toolset, names in new.toolsets.items():
        if toolset in old.toolsets:
            yield from _compare_order(toolset, old.toolsets[toolset], names)
        else:
            yield _rule("toolset-added", toolset)
    for toolset in old.toolsets.keys() - new.toolsets.keys():
        yield _rule("toolset-removed", toolset)


def _compare_order(toolset: str, old: Sequence[str], new: Sequence[str]) -> Iterator[Change]:
    kept = [name for name in new if name in old]
    for name in old:
        if name not in new:
            yield _rule("tool-removed", name, f"toolset {toolset}")
    if kept != [name for name in old if name in new]:
        yield _rule("tools-reordered", toolset)
    last = max((place for place, name in enumerate(new) if name in old), default=-1)
    for place, name in enumerate(new):
        if name not in old:
            rule = "tool-added" if place > last else "tool-inserted"
            yield _rule(rule, name, f"toolset {toolset}")


def _compare_tools(old: ServedTool, new: ServedTool) -> Iterator[Change]:
    name = new.name
    if (old.title, old.description) != (new.title, new.description):
        yield _rule("prose-changed", name)
    if not same_json(old.annotations, new.annotations):
        yield _rule("hint-changed", f"{name}/annotations")
    if not same_json(old.others, new.others):
        parts = sorted(old.others.keys() | new.others.keys())
        yield _rule("unknown-part", name, ", ".join(parts))
    schemas = [*_compare_schemas(old, new)]
    yield from schemas
    yield from compare_revisions(name, old.revision, new.revision, gravest(schemas))


def _compare_schemas(old: ServedTool, new: ServedTool) -> Iterator[Change]:
    yield from compare_schemas(
        old.input_schema, new.input_schema, Direction.INPUT, path=f"{new.name}/input"
    )
    if old.output_schema is None and new.output_schema is not None:
        yield _rule("output-schema-added", f"{new.name}/output")
    elif new.output_schema is None and old.output_schema is not None:
        yield _rule("output-schema-removed", f"{new.name}/output")
    elif old.output_schema is not None and new.output_schema is not None:
        yield from compare_schemas(
            old.output_schema,
            new.output_schema,
            Direction.OUTPUT,
            path=f"{new.name}/output",
            on_request=[
                f"{new.name}/{branch}"
                for branch, argument in new.opt_in.items()
                if _is_new_option(old.input_schema, new.input_schema, argument)
            ],
        )


def _is_new_option(old: Document, new: Document, argument: str) -> bool:
    """Whether no old call can hold this argument, and no new call must."""
    return (
        argument in properties_of(new)
        and argument not in properties_of(old)
        and argument not in required_of(new)
    )


def _compare_notices(old: Sequence[Notice], new: Sequence[Notice]) -> Iterator[Change]:
    before, after = ({(one.what, one.where): one for one in notices} for notices in (old, new))
    for key, notice in after.items():
        if key not in before:
            yield _rule("notice-added", notice.where, notice.what)
        elif _dates(notice) < _dates(before[key]):
            yield _rule("notice-brought-forward", notice.where, notice.what)
    for key, notice in before.items():
        if key not in after:
            yield _rule("notice-withdrawn", notice.where, notice.what)


def _dates(notice: Notice) -> tuple[int, ...]:
    # The announcement counts backwards: dated back is brought forward.
    return (*parse_version(notice.remove_not_before), *parse_version(notice.announced_in))
