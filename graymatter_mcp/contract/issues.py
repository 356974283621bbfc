"""All that is wrong with the arguments of an operation, and the spellings that are forgiven.

A name is that of a folder of the contract: `rest/<route>`, or `tools/<tool>` for a twin; or that of
a shared part without its ending, `defs/<part>`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from jsonschema import Draft202012Validator

from graymatter_mcp.contract.load import Schema, read_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Code = Literal[
    "invalid_type",
    "too_small",
    "too_big",
    "invalid_format",
    "invalid_value",
    "unrecognized_keys",
    "custom",
]

_OWN_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
# A limit of digits: what is longer is no number that any field takes, and slow to read.
_INTEGER: Final = re.compile(r"-?[0-9]{1,30}")
_NUMBER: Final = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """One thing that is wrong, and where."""

    path: str
    """Dotted, with positions in arrays; empty for the whole body."""
    message: str
    """In our words: it repeats no value."""
    code: Code


def issues(name: str, body: object) -> tuple[Issue, ...]:
    """Return everything that a body breaks of a schema, sorted by path.

    Args:
        name: Of the operation.
        body: As `coerced` returns it.

    Raises:
        BrokenContractError: There is no such operation.
    """
    found = [
        issue
        for error in cast("Any", _validator(name)).iter_errors(body)  # its stubs are partly unknown
        for issue in _issues_of(error)
    ]
    # Of a value of a wrong type nothing else is worth saying.
    mistyped = {one.path for one in found if one.code == "invalid_type"}
    kept = {one for one in found if one.code == "invalid_type" or one.path not in mistyped}
    return in_order(kept)


def in_order(found: set[Issue]) -> tuple[Issue, ...]:
    """Return issues as they are sent: by path."""
    return tuple(sorted(found, key=lambda one: (one.path, one.code, one.message)))


def coerced(name: str, body: object) -> Any:
    """Return a body as the schema wants it, as far as that is harmless.

    A field that is null is absent, a decimal string stands for the number that its field takes, an
    integer that was written as 8.0 is one, and unknown keys go unless the operation refuses them.
    What is no object stays as it is.

    Args:
        name: Of the operation.
        body: Parsed JSON; not changed.

    Raises:
        BrokenContractError: There is no such operation.
    """
    return _coerced(_schema(name), body)


@cache
def _schema(name: str) -> Schema:
    if name.startswith("defs/"):
        return read_schema(f"{name}.json")
    file = "request" if name.startswith("rest/") else "input"
    return read_schema(f"{name}/{file}.json")


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(_schema(name))


def _coerced(schema: Schema, value: object) -> object:
    kind = schema.get("type")
    is_free = schema.get("additionalProperties") is True
    if isinstance(value, dict) and "properties" in schema and not is_free:
        return _fields(schema, cast("dict[str, object]", value))
    if isinstance(value, list) and "items" in schema:
        return [_coerced(schema["items"], item) for item in cast("list[object]", value)]
    if kind == "integer" and isinstance(value, str) and _INTEGER.fullmatch(value):
        return int(value)
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)  # 8.0 is an integer to JSON Schema, and none to whoever counts with it
    if kind == "number" and isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value)
    return cast("object", value)


def _fields(schema: Schema, value: dict[str, object]) -> dict[str, object]:
    properties = cast("Mapping[str, Schema]", schema["properties"])
    is_strict = schema.get("additionalProperties") is False
    return {
        key: _coerced(properties[key], child) if key in properties else child
        for key, child in value.items()
        if (child is not None if key in properties else is_strict)
    }


def _issues_of(error: Any) -> Iterator[Issue]:
    path = ".".join(map(str, error.absolute_path))
    if error.validator == "required":
        # One error for each field that is missing, of which only the text of it tells the name.
        for field in error.validator_value:
            if field not in error.instance:
                whole = f"{path}.{field}" if path else field
                yield Issue(path=whole, message="is required", code="invalid_type")
    else:
        code, words = _WORDS[error.validator]
        yield Issue(path=path, message=words(error), code=code)


def _type(error: Any) -> str:
    name = str(error.validator_value)
    return f"must be {'an' if name[0] in 'aeiou' else 'a'} {name}"


def _unknown(error: Any) -> str:
    known = error.schema.get("properties", {})
    strays = [key for key in error.instance if key not in known]
    # A key may be anything, a secret too: only what could be a misspelled field is repeated.
    named = ", ".join(sorted(key for key in strays if _OWN_NAME.fullmatch(key))[:8])
    return f"holds unknown keys: {named}" if named else "holds unknown keys"


def _one_of(error: Any) -> str:
    return f"must be one of: {', '.join(map(str, error.validator_value))}"


def _bound(text: str) -> Callable[[Any], str]:
    return lambda error: text.format(error.validator_value)


_WORDS: Final[Mapping[str, tuple[Code, Callable[[Any], str]]]] = {
    "type": ("invalid_type", _type),
    "minLength": ("too_small", _bound("must hold at least {} characters")),
    "maxLength": ("too_big", _bound("must hold at most {} characters")),
    "minItems": ("too_small", _bound("must hold at least {} items")),
    "maxItems": ("too_big", _bound("must hold at most {} items")),
    "minimum": ("too_small", _bound("must be at least {}")),
    "maximum": ("too_big", _bound("must be at most {}")),
    "pattern": ("invalid_format", _bound("must match {}")),
    "enum": ("invalid_value", _one_of),
    "additionalProperties": ("unrecognized_keys", _unknown),
}
"""Every keyword that requests use; a test holds the list complete."""
