"""Compare two schemas keyword by keyword; what is not understood is reported as breaking.

Each keyword is a condition that a value must meet, and a schema is all of its conditions at once.
So when no condition became stricter, the schema did not; the rules need no look at values. The
claim that this makes, and that a property test holds:

- input: arguments that fitted the old schema and hold declared properties only fit the new one;
- output: a result that fits the new schema fits the old one once the properties are taken away
  that the old one did not declare.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, cast

from graymatter_mcp.contract.compat import objects, unions, values
from graymatter_mcp.contract.compat.levels import Change, Direction
from graymatter_mcp.contract.compat.same import ABSENT, same_json
from graymatter_mcp.contract.compat.table import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graymatter_mcp.contract.compat.rules import Document

PROSE: Final = frozenset({"title", "description", "examples", "$comment"})
KNOWN: Final = (
    PROSE | values.KEYWORDS | objects.KEYWORDS | unions.KEYWORDS | frozenset({"items", "default"})
)
"""Keywords whose changes are understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A place in the walk, and where to report."""

    direction: Direction
    path: str
    on_request: frozenset[str] = frozenset()
    """Paths of branches that only a new optional argument brings."""
    changes: list[Change] = field(default_factory=list[Change])

    def report(self, name: str, detail: str = "") -> None:
        """Report a rule of this direction here."""
        self.changes.append(RULES[f"{self.direction}:{name}"].at(self.path, detail))

    def down(self, *steps: object) -> Step:
        """Return the step to a part of this one."""
        return replace(self, path="/".join([self.path, *map(str, steps)]))

    def compare(self, old: Any, new: Any) -> None:
        """Compare two parts that stand at this place."""
        _compare(self, old, new)


def compare_schemas(
    old: Document,
    new: Document,
    direction: Direction,
    *,
    path: str = "",
    on_request: Iterable[str] = (),
) -> list[Change]:
    """Return every difference between two schemas, classified.

    Args:
        old: The schema that callers hold.
        new: The schema to be served.
        direction: `INPUT` or `OUTPUT`.
        path: Put before every path that is reported.
        on_request: Paths of new branches that only a new optional argument brings.
    """
    step = Step(direction=direction, path=path or direction, on_request=frozenset(on_request))
    step.compare(old, new)
    return step.changes


def _compare(step: Step, old: Any, new: Any) -> None:
    before, after = _document(old), _document(new)
    if before is None or after is None:
        if not same_json(old, new):
            step.report("not-a-schema")
    elif not same_json(before, after):
        _compare_documents(step, before, after)


def _document(schema: Any) -> Document | None:
    """Return a schema that can be looked into; `true` is the empty one."""
    if schema is True:
        return {}
    return cast("Document", schema) if isinstance(schema, dict) else None


def _compare_documents(step: Step, before: Document, after: Document) -> None:
    if any(not same_json(before.get(key, ABSENT), after.get(key, ABSENT)) for key in PROSE):
        step.report("prose-changed")
    old, new = (
        {key: value for key, value in one.items() if key not in PROSE} for one in (before, after)
    )
    if same_json(old, new):
        return
    for keyword in sorted((old.keys() | new.keys()) - KNOWN):
        step.report("unknown-keyword", keyword)
    values.compare(step, old, new)
    objects.compare(step, old, new)
    if "items" in old or "items" in new:
        step.down("items").compare(old.get("items", {}), new.get("items", {}))
    if not same_json(old.get("default", ABSENT), new.get("default", ABSENT)):
        step.report("default-changed")
    unions.compare(step, old, new)
