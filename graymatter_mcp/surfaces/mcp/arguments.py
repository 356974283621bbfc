"""From raw arguments to checked ones: one mechanism, one row of rules a tool.

Order: the confidence guard on what came; spellings, parameter by parameter in the order of the
schema; the tool's own checks in the order of the contract. The schema itself is checked by the
dispatcher, after this and before any effect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from graymatter_mcp.errors import InvalidArgumentError
from graymatter_mcp.model.ids import UNSET
from graymatter_mcp.surfaces.mcp.guard import REFLECT, REFLECT_ACTIONS, guard_confidence
from graymatter_mcp.surfaces.mcp.purity import refuse_bad_text, refuse_non_finite
from graymatter_mcp.surfaces.mcp.spelling import (
    Spelling,
    as_sent,
    boolean,
    integer,
    is_visible,
    non_empty_string,
    optional_string,
    strings,
    visible_string,
)
from graymatter_mcp.surfaces.mcp.state import decode_state, state

if TYPE_CHECKING:
    from collections.abc import Mapping

Arguments = dict[str, object]
"""Canonical arguments: known names only, absent ones left out."""

Check = Callable[[Arguments], None]
"""One check of a tool; raises `InvalidArgumentError`, and may settle which key holds a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRules:
    """What one tool takes and what it checks."""

    spellings: Mapping[str, Spelling]
    """Every parameter of the schema, in its order."""
    checks: tuple[Check, ...]
    null_is_a_value: frozenset[str] = frozenset()
    """Parameters whose null is not absence."""


def prepare(tool: str, raw: Mapping[str, object]) -> Arguments:
    """Apply guard, spellings and checks of one tool.

    Raises:
        InvalidArgumentError: The first rule that is broken; its text is the answer.
        KeyError: There is no such tool.
    """
    rules = RULES[tool]
    guard_confidence(tool, raw)
    for name, value in raw.items():
        if name in rules.spellings:
            refuse_bad_text(name, value)
        refuse_non_finite(name if name in rules.spellings else "an argument", value)
    spelled = {
        name: spelling(name, raw[name])
        for name, spelling in rules.spellings.items()
        if name in raw and (raw[name] is not None or name in rules.null_is_a_value)
    }
    arguments = {name: value for name, value in spelled.items() if value is not UNSET}
    for check in rules.checks:
        check(arguments)
    return arguments


def _needs(name: str, message: str) -> Check:
    def check(arguments: Arguments) -> None:
        if name not in arguments:
            raise InvalidArgumentError(message)

    return check


def _on_missing_is_known(arguments: Arguments) -> None:
    if arguments.get("on_missing", "error") not in ("error", "empty"):
        raise InvalidArgumentError('on_missing must be "error" or "empty"')


def _state_is_an_object(arguments: Arguments) -> None:
    if "state" in arguments:
        decode_state(cast("str", arguments["state"]))


def _action_is_known(arguments: Arguments) -> None:
    action = cast("str | None", arguments.get("action"))
    if action is None:
        raise InvalidArgumentError("action is required")
    if action not in REFLECT_ACTIONS:
        raise InvalidArgumentError(f'unknown action "{action}"')


def _identity_is_good(arguments: Arguments) -> None:
    present = [name for name in ("agent_id", "agent") if name in arguments]
    for name in present:
        value = arguments[name]
        if not (isinstance(value, str) and is_visible(value)):
            raise InvalidArgumentError(f"{name} must be a non-empty string")
    if not present:
        raise InvalidArgumentError("agent_id is required")
    arguments["agent_id"] = arguments[present[0]]
    arguments.pop("agent", None)


def _action_has_its_needs(arguments: Arguments) -> None:
    action = cast("str", arguments["action"])
    for name, message in _NEEDS.get(action, ()):
        value = cast("str", arguments.get(name, ""))
        # The ids of nodes are trimmed: a blank one names nothing.
        if not (is_visible(value) if action == "link" else value):
            raise InvalidArgumentError(message)
    if action not in _NEEDS and "target" not in arguments and "text" not in arguments:
        raise InvalidArgumentError(f"the fact to {action} is required: pass it in target (or text)")


_NEEDS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "add": (("text", "text (the fact to add) is required for add"),),
    "update": (
        ("target", "target (fact to supersede) is required for update"),
        ("text", "text (the corrected fact) is required for update"),
    ),
    "link": (
        ("target", "target (node ID) is required for link"),
        ("text", "text (the source node ID) is required for link"),
    ),
}

_NEEDS_AGENT: Final = _needs("agent_id", "agent_id is required")

RULES: Final[Mapping[str, ToolRules]] = {
    "memory_search": ToolRules(
        spellings={
            "agent_id": visible_string,
            "query": non_empty_string,
            "top_k": integer,
            "explain": boolean,
            "min_confidence": as_sent,
            "confidence_weight": as_sent,
        },
        checks=(_NEEDS_AGENT, _needs("query", "query is required")),
    ),
    "memory_search_batch": ToolRules(
        spellings={
            "agent_id": visible_string,
            "queries": strings,
            "top_k": integer,
            "min_confidence": as_sent,
            "confidence_weight": as_sent,
        },
        checks=(
            _NEEDS_AGENT,
            _needs("queries", "queries is required and must hold at least one non-empty query"),
        ),
    ),
    "memory_add": ToolRules(
        spellings={"agent_id": visible_string, "text": non_empty_string, "confidence": as_sent},
        checks=(_NEEDS_AGENT, _needs("text", "text is required")),
    ),
    "memory_alias": ToolRules(
        spellings={"agent_id": visible_string, "term": visible_string, "equivalents": strings},
        checks=(
            _NEEDS_AGENT,
            _needs("term", "term is required"),
            _needs(
                "equivalents",
                "equivalents is required and must hold at least one non-empty value",
            ),
        ),
    ),
    "checkpoint_save": ToolRules(
        spellings={"agent_id": visible_string, "state": state},
        checks=(_NEEDS_AGENT, _state_is_an_object),
    ),
    "checkpoint_resume": ToolRules(
        spellings={"agent_id": visible_string, "on_missing": as_sent},
        checks=(_NEEDS_AGENT, _on_missing_is_known),
    ),
    REFLECT: ToolRules(
        spellings={
            "action": non_empty_string,
            "agent_id": as_sent,
            "agent": as_sent,
            "text": optional_string,
            "target": optional_string,
            "confidence": as_sent,
        },
        checks=(_action_is_known, _identity_is_good, _action_has_its_needs),
        null_is_a_value=frozenset({"agent_id", "agent"}),
    ),
}
