"""Schemas as named shapes, from which types of any language are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graymatter_mcp.contract.load import Bundle, Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One property of a shape."""

    name: str
    schema: Schema
    is_required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One object with a name of its own."""

    name: str
    words: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shapes:
    """All shapes of a bundle, each before what names it."""

    shapes: tuple[Shape, ...]
    names: Mapping[int, str]
    """Identity of a schema -> name of its shape, or of its branches with ` | ` between."""
    inputs: Mapping[str, str]
    outputs: Mapping[str, tuple[str, ...]]
    """Tool -> name of the input; names of the branches of the output."""


def shapes_of(bundle: Bundle) -> Shapes:
    """Name every object of a bundle; equal objects of one name are one shape."""
    namer = _Namer()
    inputs: dict[str, str] = {}
    outputs: dict[str, tuple[str, ...]] = {}
    for tool in bundle.tools:
        base = _camel(tool.name)
        inputs[tool.name] = namer.name(
            tool.input_schema, f"{base}Input", f"Arguments of {tool.name}."
        )
        branches = cast("list[Schema]", tool.output_schema.get("oneOf", [tool.output_schema]))
        outputs[tool.name] = tuple(
            namer.name(
                branch,
                f"{base}Output" if len(branches) == 1 else f"{base}Output{number}",
                f"Result of {tool.name}.",
            )
            for number, branch in enumerate(branches, 1)
        )
    return Shapes(
        shapes=tuple(namer.shapes.values()), names=namer.names, inputs=inputs, outputs=outputs
    )


class _Namer:
    def __init__(self) -> None:
        self.shapes: dict[str, Shape] = {}
        self.names: dict[int, str] = {}
        self._schemas: dict[str, Schema] = {}

    def name(self, schema: Schema, wanted: str, words: str) -> str:
        """Name an object and every object in it, the inner ones first."""
        if self._schemas.get(wanted) == schema:
            self.names[id(schema)] = wanted
            return wanted
        required = cast("list[str]", schema.get("required", []))
        properties = cast("dict[str, Schema]", schema.get("properties", {}))
        for key, part in properties.items():
            for inner in (part, cast("Schema", part.get("items", {})), values_of(part)):
                self._name_part(inner, key, wanted)
        self._schemas[wanted] = schema
        self.names[id(schema)] = wanted
        self.shapes[wanted] = Shape(
            name=wanted,
            words=words,
            fields=tuple(
                Field(name=key, schema=part, is_required=key in required)
                for key, part in properties.items()
            ),
        )
        return wanted

    def _name_part(self, schema: Schema, key: str, owner: str) -> None:
        branches = cast("list[Schema]", schema.get("oneOf", [schema]))
        names = [
            self.name(branch, self._free(f"{_camel(key)}{number}", branch, owner), f"Part {key}.")
            for number, branch in zip(_numbers(len(branches)), branches, strict=True)
            if branch.get("properties")
        ]
        if names:
            self.names[id(schema)] = " | ".join(names)

    def _free(self, wanted: str, schema: Schema, owner: str) -> str:
        taken = self._schemas.get(wanted, schema)
        return wanted if taken == schema else f"{owner}{wanted}"


def values_of(schema: Schema) -> Schema:
    """Return what the values of an object with free keys are; empty when anything goes."""
    values = schema.get("additionalProperties")
    return cast("Schema", values) if isinstance(values, dict) else {}


def types_of(schema: Schema) -> list[Any]:
    """Return the types that a schema names, `null` last; none when anything goes."""
    named = schema.get("type", [])
    names = [named] if isinstance(named, str) else cast("list[str]", named)
    return sorted(names, key=lambda name: name == "null")


def _numbers(count: int) -> list[str]:
    return [""] if count == 1 else [str(number) for number in range(1, count + 1)]


def _camel(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))
