"""TypeScript types of arguments and results: interfaces, and a map from tool to both."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from graymatter_mcp.contract.pages.shapes import shapes_of, types_of, values_of

if TYPE_CHECKING:
    from graymatter_mcp.contract.load import Bundle, Schema
    from graymatter_mcp.contract.pages.shapes import Shape, Shapes

_HEAD: Final = """// Types of what the tools take and answer.
// Made from the schema files by `python -m graymatter_mcp.contract`; do not edit.
"""
_SCALARS: Final = {
    "string": "string",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "null": "null",
    "object": "Record<string, unknown>",
}


def typescript_types(bundle: Bundle) -> str:
    """Return the module."""
    shapes = shapes_of(bundle)
    rows = [
        f"  {tool.name}: {{ input: {shapes.inputs[tool.name]};"
        f" output: {' | '.join(shapes.outputs[tool.name])} }};"
        for tool in bundle.tools
    ]
    tools = ["/** Every tool, with its arguments and its results. */", "export interface Tools {"]
    parts = [_HEAD, *(_interface(shape, shapes) for shape in shapes.shapes), *tools, *rows, "}", ""]
    return "\n".join(parts)


def _interface(shape: Shape, shapes: Shapes) -> str:
    lines = [f"/** {shape.words} */", f"export interface {shape.name} {{"]
    for field in shape.fields:
        if description := field.schema.get("description", ""):
            lines.append(f"  /** {description} */")
        mark = "" if field.is_required else "?"
        lines.append(f"  {field.name}{mark}: {_kind(field.schema, shapes)};")
    return "\n".join([*lines, "}", ""])


def _kind(schema: Schema, shapes: Shapes) -> str:
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    kinds = [_one(name, schema, shapes) for name in types_of(schema)]
    return " | ".join(kinds) or "unknown"


def _one(name: str, schema: Schema, shapes: Shapes) -> str:
    if name == "array":
        items = _kind(schema.get("items", {}), shapes)
        return f"({items})[]" if " | " in items else f"{items}[]"
    if name == "object" and id(schema) in shapes.names:
        return shapes.names[id(schema)]
    if name == "object" and (values := values_of(schema)):
        return f"Record<string, {_kind(values, shapes)}>"
    return _SCALARS[name]
