"""Loading of bundles: toolsets by name, references inlined, broken files refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.contract import load
from graymatter_mcp.errors import InvalidArgumentError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_bundle_is_loaded_once() -> None:
    """House 3: one bundle, read at start."""
    assert load.load_bundle() is load.load_bundle(("core",))


@pytest.mark.parametrize("toolsets", [("nope",), ("core", "nope"), (), ("core", "core")])
def test_toolsets_that_make_no_list_are_refused(toolsets: tuple[str, ...]) -> None:
    """Contract 2.1: toolsets are opted into by name."""
    with pytest.raises(InvalidArgumentError, match="toolset"):
        load.load_bundle(toolsets)


def test_an_unknown_toolset_is_named_beside_the_known_ones() -> None:
    """House 4: an error says what was wrong and what to do."""
    with pytest.raises(InvalidArgumentError, match=r'^unknown toolset "nope"; known: core'):
        load.load_bundle(("nope",))


def test_nested_references_are_replaced_by_what_they_name() -> None:
    """Contract 3.1: what is served holds no reference."""
    output = load.load_bundle()["memory_search"].output_schema
    receipt = output["properties"]["explained"]["items"]
    assert receipt["properties"]["ranks"]["properties"]["k"] == {"type": "number"}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.json": {"$ref": "b.json"}, "b.json": {"$ref": "a.json"}}, "circle"),
        ({"a.json": {"$ref": "b.json", "type": "object"}, "b.json": {}}, "siblings"),
        ({"a.json": {"properties": {"x": {"$ref": "defs/none.json"}}}}, "cannot be read"),
    ],
)
def test_a_broken_reference_stops_loading(
    files: dict[str, object], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F11: a dangling reference must never be served."""
    (tmp_path / "v1").mkdir()
    for name, content in files.items():
        (tmp_path / "v1" / name).write_text(json.dumps(content), "utf-8")
    monkeypatch.setattr(load, "schema_root", lambda: tmp_path)
    with pytest.raises(load.BrokenContractError, match=message):
        load.read_schema("a.json")
