"""Canonical JSON: equal contracts are equal text, and any change of one shows."""

from __future__ import annotations

import json
from dataclasses import replace

from graymatter_mcp.contract.load import Bundle, load_bundle
from graymatter_mcp.contract.snapshot import canonical_bundle, canonical_json


def test_order_of_keys_required_and_enum_does_not_show() -> None:
    """House 3: required and enum compare as sets."""
    one = {"type": "object", "required": ["b", "a"], "properties": {"a": {"enum": [2, "x", None]}}}
    two = {"properties": {"a": {"enum": [None, 2, "x"]}}, "required": ["a", "b"], "type": "object"}
    assert canonical_json(one) == canonical_json(two)


def test_order_of_other_arrays_shows() -> None:
    """House 3: tool order counts."""
    assert canonical_json({"tools": [1, 2]}) != canonical_json({"tools": [2, 1]})
    core = load_bundle()
    assert canonical_bundle(core) != canonical_bundle(Bundle(tools=core.tools[::-1]))


def test_properties_named_like_keywords_stay_properties() -> None:
    """House 3: only arrays are sets."""
    value = {"properties": {"required": {"type": "array"}, "enum": {"b": 1, "a": 2}}}
    assert json.loads(canonical_json(value)) == value


def test_a_change_of_prose_shows() -> None:
    """House 3: titles and descriptions are snapshot diffs."""
    core = load_bundle()
    reworded = (replace(core.tools[0], description="Reworded."), *core.tools[1:])
    assert canonical_bundle(core) != canonical_bundle(Bundle(tools=reworded))
    assert json.loads(canonical_bundle(core))[0]["name"] == "memory_search"
