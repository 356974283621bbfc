"""Python types of arguments and results: `TypedDict`s."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.contract.pages.shapes import shapes_of, types_of, values_of

if TYPE_CHECKING:
    from graymatter_mcp.contract.load import Bundle, Schema
    from graymatter_mcp.contract.pages.shapes import Shape, Shapes

_HEAD: Final = '''"""Types of what the tools take and answer.

Made from the schema files by `python -m graymatter_mcp.contract`; do not edit.
"""

# Without postponed evaluation, which would hide from readers at run time which keys are required.
from typing import Any, Final, Literal, NotRequired, TypedDict
'''
_SCALARS: Final = {
    "string": "str",
    "number": "float",
    "integer": "int",
    "boolean": "bool",
    "null": "None",
    "object": "dict[str, Any]",
}


def python_types(bundle: Bundle) -> str:
    """Return the module."""
    shapes = shapes_of(bundle)
    parts = [_HEAD, *(_class(shape, shapes) for shape in shapes.shapes)]
    parts += [
        f"{_alias(tool)} = {' | '.join(names)}\n"
        for tool, names in shapes.outputs.items()
        if len(names) > 1
    ]
    listed = "".join(f'    "{tool.name}",\n' for tool in bundle.tools)
    parts.append(f'TOOLS: Final = (\n{listed})\n"""Every tool, in the order of the list."""\n')
    return "\n\n".join(parts)


def _alias(tool: str) -> str:
    return "".join(word.capitalize() for word in tool.split("_")) + "Output"


def _class(shape: Shape, shapes: Shapes) -> str:
    lines = [f"class {shape.name}(TypedDict):", f'    """{shape.words}"""', ""]
    for field in shape.fields:
        kind = _kind(field.schema, shapes)
        lines.append(f"    {field.name}: {kind if field.is_required else f'NotRequired[{kind}]'}")
    return "\n".join(lines).rstrip() + "\n"


def _kind(schema: Schema, shapes: Shapes) -> str:
    if "enum" in schema:
        return f"Literal[{', '.join(_literal(value) for value in schema['enum'])}]"
    kinds = [_one(name, schema, shapes) for name in types_of(schema)]
    return " | ".join(kinds) or "Any"


def _one(name: str, schema: Schema, shapes: Shapes) -> str:
    if name == "array":
        return f"list[{_kind(schema.get('items', {}), shapes)}]"
    if name == "object" and id(schema) in shapes.names:
        return shapes.names[id(schema)]
    if name == "object" and (values := values_of(schema)):
        return f"dict[str, {_kind(values, shapes)}]"
    return _SCALARS[name]


def _literal(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
