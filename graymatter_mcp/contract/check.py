"""Hold values against the contract: validators compiled once, messages without values."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final, cast

from jsonschema import Draft202012Validator

from graymatter_mcp.contract.accept import compiled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from graymatter_mcp.contract.load import Bundle, Schema


_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_OWN_NAME: Final = re.compile("[A-Za-z0-9_]{1,32}")


class ContractViolationError(Exception):
    """A value does not fit its schema; the message tells place and rule, never the value."""


class Checker:
    """Compiled validators of one bundle."""

    def __init__(self, bundle: Bundle) -> None:
        # That the files are schemas is for a test to say: asking here costs each start 0.1 s.
        self._inputs: Final = {t.name: _Rules(t.input_schema) for t in bundle.tools}
        self._outputs: Final = {t.name: _Rules(t.output_schema) for t in bundle.tools}

    def check_input(self, tool: str, value: object) -> None:
        """Accept arguments exactly as the input file does.

        Raises:
            ContractViolationError: They do not fit; the message holds path and keyword.
            KeyError: The bundle has no such tool.
        """
        _check(self._inputs[tool], f"{tool}/input", value)

    def check_output(self, tool: str, value: object) -> None:
        """Accept a payload exactly as the output file does.

        Raises:
            ContractViolationError: It does not fit; the message holds path and keyword.
            KeyError: The bundle has no such tool.
        """
        _check(self._outputs[tool], f"{tool}/output", value)


class ValueChecker:
    """The compiled validator of one schema."""

    def __init__(self, contract_id: str, schema: Schema | None) -> None:
        """Compile.

        Args:
            contract_id: Names it in messages.
            schema: None takes everything that JSON can carry.
        """
        self._contract_id = contract_id
        self._rules = _Rules({} if schema is None else schema)

    def check(self, value: object) -> None:
        """Accept a value exactly as the schema does.

        Raises:
            ContractViolationError: It does not fit; the message holds path and keyword.
        """
        _check(self._rules, self._contract_id, value)


class _Rules:
    """One schema: what accepts most values at once, and what knows why another does not fit."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.accepts: Final = compiled(schema)
        self.validator: Final[Any] = Draft202012Validator(schema)  # its stubs are partly unknown


def _check(rules: _Rules, contract_id: str, value: object) -> None:
    for name in _unsendable(value):
        raise ContractViolationError(f"{contract_id}: {_json_path([name])}: not JSON text")
    if rules.accepts is not None and rules.accepts(value):
        return
    errors = rules.validator.iter_errors(value)
    for error in errors:
        path = _json_path(error.absolute_path)
        raise ContractViolationError(f"{contract_id}: {path}: {error.validator}")


def _unsendable(value: object) -> Iterable[str]:
    """Yield the top-level name of each part that JSON cannot carry.

    JSON Schema lets NaN pass as a number and looks at nothing below ``{}``. A stack instead of
    recursion: how deep a saved state nests is for its writer to say.
    """
    stack: list[tuple[str, object]] = [("", value)]
    while stack:
        name, node = stack.pop()
        if isinstance(node, dict):
            for key, child in cast("dict[object, object]", node).items():
                own = key if isinstance(key, str) else "?"
                if own is not key or not _is_json_scalar(own):
                    yield name or "?"
                stack.append((name or own, child))
        elif isinstance(node, list):
            stack.extend((name, child) for child in cast("list[object]", node))
        elif not _is_json_scalar(node):
            yield name


def _is_json_scalar(node: object) -> bool:
    if isinstance(node, float):
        return math.isfinite(node)
    if isinstance(node, str):
        return node.isascii() or not _LONE_SURROGATE.search(node)
    return node is None or isinstance(node, int)


def _json_path(steps: Iterable[object]) -> str:
    path = "$"
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif step:
            # Free keys come from the caller, and a value must not get into a log by that door.
            path += f".{step}" if _OWN_NAME.fullmatch(str(step)) else ".?"
    return path
