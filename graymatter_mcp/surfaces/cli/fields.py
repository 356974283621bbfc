"""Options from the contract: a command has one for each field of its route, named as the field.

Values go to the route as they are given, so the route's checks are the only ones.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import click

from graymatter_mcp.contract.routes import load_route
from graymatter_mcp.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from graymatter_mcp.contract.load import Schema

Command = TypeVar("Command", bound="Callable[..., Any]")

_INNER_CAPITAL: Final = re.compile(r"(?=[A-Z])")
_WORDS: Final = {"string": "TEXT", "integer": "INTEGER", "number": "NUMBER", "object": "JSON"}


def options_of(route: str, leave_out: Collection[str] = ()) -> Callable[[Command], Command]:
    """Return a decorator that gives a command the options of a route.

    Args:
        route: Its name.
        leave_out: Fields that the command takes as arguments.
    """
    properties = cast("dict[str, Schema]", load_route(route).request["properties"])

    def give(command: Command) -> Command:
        for name in reversed(properties):
            if name not in leave_out:
                command = _option(name, properties[name])(command)
        return command

    return give


def sent_fields(route: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that were given.

    Raises:
        InvalidArgumentError: What should be a JSON object is none.
    """
    properties = cast("dict[str, Schema]", load_route(route).request["properties"])
    return {
        name: _read(name, properties[name], value)
        for name, value in options.items()
        if value not in (None, (), False)
    }


def _option(name: str, schema: Schema) -> Callable[[Any], Any]:
    flag = f"--{_INNER_CAPITAL.sub('-', name).lower()}"
    words = str(schema["description"])
    kind = schema["type"]
    if kind == "boolean":
        return click.option(flag, name, is_flag=True, help=words)
    if "default" in schema:
        words = f"{words} [default: {schema['default']}]"
    item = schema["items"] if kind == "array" else schema
    metavar = "|".join(map(str, item["enum"])) if "enum" in item else _WORDS[item["type"]]
    if kind == "array":
        words = f"{words} Repeatable."
    return click.option(flag, name, metavar=metavar, multiple=kind == "array", help=words)


def _read(name: str, schema: Schema, value: Any) -> Any:
    if isinstance(value, tuple):
        return list(cast("tuple[str, ...]", value))
    if schema["type"] != "object":
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise InvalidArgumentError(f"{name} must be a JSON object") from None
