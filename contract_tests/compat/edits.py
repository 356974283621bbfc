"""One hundred and more edits of our own schemas, each with what it must be called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Edit:
    """One change at one place; the revision of the tool is raised with it."""

    place: str
    """Tool, part, then steps; ``-`` in front of the last one removes it."""
    value: Any
    expected: str
    """The rules that must report, joined by spaces, and nothing else."""


GONE: Final = object()

_IN: Final = "inputSchema/properties"
_OUT: Final = "outputSchema/properties"
_RECEIPT: Final = f"memory_search/{_OUT}/explained/items"
_ENTRY: Final = f"memory_search_batch/{_OUT}/per_query/items"
_FOUND: Final = "checkpoint_resume/outputSchema/oneOf/0"
_EMPTY: Final = "checkpoint_resume/outputSchema/oneOf/1"
_WORD: Final = {"type": "string"}
_LABELS: Final = ["verified", "inferred", "unverified"]
_ACTIONS: Final = ["add", "update", "forget", "link", "pin", "unpin"]

INPUTS: Final[Sequence[Edit]] = [
    # removing
    Edit(f"memory_search/{_IN}/top_k", GONE, "property-removed"),
    Edit(f"memory_search/{_IN}/explain", GONE, "property-removed"),
    Edit(f"memory_search/{_IN}/min_confidence", GONE, "property-removed"),
    Edit(f"memory_search_batch/{_IN}/confidence_weight", GONE, "property-removed"),
    Edit(f"memory_add/{_IN}/confidence", GONE, "property-removed"),
    Edit(f"memory_reflect/{_IN}/agent", GONE, "property-removed"),
    Edit(f"memory_reflect/{_IN}/target", GONE, "property-removed"),
    Edit(f"checkpoint_resume/{_IN}/on_missing", GONE, "property-removed"),
    Edit(f"checkpoint_save/{_IN}/state", GONE, "property-removed"),
    # adding
    Edit(f"memory_search/{_IN}/since", _WORD, "property-added"),
    Edit(f"memory_reflect/{_IN}/reason", _WORD, "property-added"),
    # required sets
    Edit("memory_search/inputSchema/required", ["agent_id"], "made-optional"),
    Edit("memory_search/inputSchema/required", ["query", "agent_id"], ""),
    Edit("memory_search/inputSchema/required", ["agent_id", "query", "top_k"], "made-required"),
    Edit("memory_add/inputSchema/required", ["agent_id", "text", "confidence"], "made-required"),
    Edit("memory_reflect/inputSchema/required", ["action", "agent_id"], "made-required"),
    Edit("memory_reflect/inputSchema/required", [], "made-optional"),
    Edit("memory_alias/inputSchema/required", GONE, "made-optional"),
    Edit(
        "memory_add/inputSchema/required",
        ["agent_id", "text", "shelf"],
        "required-without-declaration",
    ),
    # retyping, loosening, tightening
    Edit(f"memory_search/{_IN}/top_k/type", "integer", "type-narrowed"),
    Edit(f"memory_search/{_IN}/top_k/type", "string", "type-changed"),
    Edit(f"memory_search/{_IN}/top_k/type", ["number", "null"], "type-widened"),
    Edit(f"memory_search/{_IN}/top_k/type", GONE, "type-widened"),
    Edit(f"memory_search/{_IN}/query/type", ["string"], ""),
    Edit(f"memory_search/{_IN}/query/minLength", 1, "minLength-tightened"),
    Edit(f"memory_search/{_IN}/query/maxLength", 10_000, "maxLength-tightened"),
    Edit(f"memory_search/{_IN}/query/pattern", "\\S", "pattern-added"),
    Edit(f"memory_search/{_IN}/top_k/minimum", 1, "minimum-tightened"),
    Edit(f"memory_search/{_IN}/top_k/maximum", 100, "maximum-tightened"),
    Edit(f"memory_search/{_IN}/top_k/exclusiveMinimum", 0, "exclusiveMinimum-tightened"),
    Edit(f"memory_search/{_IN}/top_k/multipleOf", 1, "pattern-added"),
    Edit(f"memory_search/{_IN}/confidence_weight/maximum", 1, "maximum-loosened"),
    Edit(f"memory_search/{_IN}/confidence_weight/maximum", 0.4, "maximum-tightened"),
    Edit(f"memory_search/{_IN}/confidence_weight/maximum", GONE, "maximum-loosened"),
    Edit(f"memory_search/{_IN}/confidence_weight/minimum", -1, "minimum-loosened"),
    Edit(f"memory_search/{_IN}/confidence_weight/minimum", 0.1, "minimum-tightened"),
    Edit(f"memory_search/{_IN}/confidence_weight/minimum", 0.0, ""),
    Edit(f"memory_reflect/{_IN}/agent_id/minLength", GONE, "minLength-loosened"),
    Edit(f"memory_reflect/{_IN}/agent_id/minLength", 2, "minLength-tightened"),
    Edit(f"memory_alias/{_IN}/equivalents/minItems", 1, "minItems-tightened"),
    Edit(f"memory_alias/{_IN}/equivalents/items/type", ["string", "number"], "type-widened"),
    Edit(f"memory_alias/{_IN}/equivalents/items/minLength", 1, "minLength-tightened"),
    Edit(f"memory_alias/{_IN}/equivalents/items", GONE, "type-widened"),
    Edit(f"checkpoint_save/{_IN}/state/type", ["string", "object"], "type-widened"),
    Edit(f"checkpoint_save/{_IN}/state/format", "json", "pattern-added"),
    # enums
    Edit(f"memory_add/{_IN}/confidence/enum", _LABELS[::-1], ""),
    Edit(f"memory_add/{_IN}/confidence/enum", _LABELS[:2], "enum-narrowed"),
    Edit(f"memory_add/{_IN}/confidence/enum", [*_LABELS, "certain"], "enum-widened"),
    Edit(f"memory_add/{_IN}/confidence/enum", [*_LABELS[:2], "unsure"], "enum-changed"),
    Edit(f"memory_add/{_IN}/confidence/enum", GONE, "enum-widened"),
    Edit(f"memory_reflect/{_IN}/action/enum", [*_ACTIONS, "restore"], "enum-widened"),
    Edit(f"memory_reflect/{_IN}/action/enum", _ACTIONS[:-1], "enum-narrowed"),
    Edit(f"memory_reflect/{_IN}/action/const", "add", "enum-narrowed"),
    Edit(f"checkpoint_resume/{_IN}/on_missing/enum", ["error"], "enum-narrowed"),
    # defaults
    Edit(f"memory_search/{_IN}/top_k/default", 10, "default-changed"),
    Edit(f"memory_search/{_IN}/top_k/default", GONE, "default-changed"),
    Edit(f"memory_search/{_IN}/top_k/default", 8.0, ""),
    Edit(f"memory_search/{_IN}/explain/default", False, "default-changed"),
    Edit(f"checkpoint_resume/{_IN}/on_missing/default", "empty", "default-changed"),
    # open and closed
    Edit("memory_search/inputSchema/additionalProperties", False, "closed"),
    Edit("memory_search/inputSchema/additionalProperties", True, ""),
    Edit("memory_reflect/inputSchema/additionalProperties", GONE, "opened"),
    Edit("memory_reflect/inputSchema/additionalProperties", _WORD, "opened"),
    Edit("memory_add/inputSchema/additionalProperties", _WORD, "type-narrowed"),
    # unions and what nobody knows
    Edit("memory_reflect/inputSchema/oneOf", [{"required": ["agent"]}], "union"),
    Edit(f"memory_search/{_IN}/query/oneOf", [_WORD], "union"),
    Edit("memory_reflect/inputSchema/anyOf", [{"required": ["agent"]}], "unknown-keyword"),
    Edit("memory_reflect/inputSchema/allOf", [{}], "unknown-keyword"),
    Edit("memory_reflect/inputSchema/dependentRequired", {}, "unknown-keyword"),
    Edit("memory_search/inputSchema/$ref", "#/x", "unknown-keyword"),
    Edit("memory_search/inputSchema/minProperties", 1, "unknown-keyword"),
    Edit(f"memory_alias/{_IN}/equivalents/uniqueItems", True, "unknown-keyword"),
    Edit(f"memory_alias/{_IN}/equivalents/prefixItems", [_WORD], "unknown-keyword"),
    Edit(f"memory_search/{_IN}/query/deprecated", True, "unknown-keyword"),
    Edit(f"memory_search/{_IN}/query/x-order", 1, "unknown-keyword"),
    Edit(f"memory_search/{_IN}/query", False, "not-a-schema"),
    # prose
    Edit(f"memory_search/{_IN}/query/description", "Another.", "prose-changed"),
    Edit(f"memory_search/{_IN}/query/title", "Query", "prose-changed"),
    Edit(f"memory_search/{_IN}/query/examples", ["ports"], "prose-changed"),
]

OUTPUTS: Final[Sequence[Edit]] = [
    # removing
    Edit(f"memory_search/{_OUT}/feedback", GONE, "property-removed"),
    Edit(f"memory_search/{_OUT}/explained", GONE, "property-removed"),
    Edit(f"{_RECEIPT}/properties/kg_links", GONE, "property-removed"),
    Edit(f"{_RECEIPT}/properties/ranking/properties/factor", GONE, "property-removed"),
    Edit(f"{_ENTRY}/properties/error", GONE, "property-removed"),
    Edit(f"memory_add/{_OUT}/fact_id", GONE, "property-removed"),
    Edit(f"{_FOUND}/properties/message_count", GONE, "property-removed"),
    Edit(f"memory_search/{_OUT}/retrieval/properties/min_confidence", GONE, "property-removed"),
    # adding
    Edit(f"memory_search/{_OUT}/degraded", _WORD, "property-added"),
    Edit(f"{_RECEIPT}/properties/origin", _WORD, "property-added"),
    Edit(f"{_ENTRY}/properties/feedback", _WORD, "property-added"),
    Edit(f"{_FOUND}/properties/metadata", {"type": "object"}, "property-added"),
    # required sets
    Edit(f"{_RECEIPT}/required", ["text", "weight", "ranks", "provenance"], "made-optional"),
    Edit("memory_add/outputSchema/required", ["agent_id", "stored", "fact_id"], "made-required"),
    Edit("memory_add/outputSchema/required", ["stored", "agent_id"], ""),
    Edit("memory_search/outputSchema/required", ["agent_id", "query", "facts"], "made-optional"),
    Edit(f"{_FOUND}/required", ["id"], "made-optional"),
    Edit("memory_reflect/outputSchema/required", GONE, "made-optional"),
    # retyping, loosening, tightening
    Edit(f"memory_search/{_OUT}/count/type", "number", "type-widened"),
    Edit(f"memory_search/{_OUT}/count/type", "string", "type-changed"),
    Edit(f"memory_search/{_OUT}/count/minimum", 0, "minimum-tightened"),
    Edit(f"memory_search/{_OUT}/facts/type", "array", "type-narrowed"),
    Edit(f"memory_search/{_OUT}/facts/items", {"type": "object"}, "type-changed"),
    Edit(f"memory_search/{_OUT}/facts/items", GONE, "type-widened"),
    Edit(f"memory_search/{_OUT}/facts/maxItems", 100, "maxItems-tightened"),
    Edit(f"memory_search/{_OUT}/query/type", ["string", "null"], "type-widened"),
    Edit(f"{_RECEIPT}/properties/ranks/properties/k/type", "integer", "type-narrowed"),
    Edit(
        f"{_RECEIPT}/properties/ranks/properties/vector_rank/type",
        ["integer", "null"],
        "type-widened",
    ),
    Edit(f"{_RECEIPT}/properties/provenance/properties/pinned/type", "string", "type-changed"),
    Edit(f"{_RECEIPT}/properties/ranking/type", "object", "type-narrowed"),
    Edit("memory_search/outputSchema/type", GONE, "type-widened"),
    # enums
    Edit(f"memory_add/{_OUT}/confidence/enum", _LABELS, "enum-narrowed"),
    Edit(f"{_EMPTY}/properties/found/enum", [False, True], "enum-widened"),
    Edit(f"{_EMPTY}/properties/found/enum", [True], "enum-changed"),
    Edit(f"{_EMPTY}/properties/found/enum", GONE, "enum-widened"),
    # open and closed
    Edit("memory_search/outputSchema/additionalProperties", GONE, "opened"),
    Edit(f"{_RECEIPT}/additionalProperties", True, "opened"),
    Edit(f"{_ENTRY}/additionalProperties", _WORD, "opened"),
    Edit(f"{_FOUND}/properties/state/additionalProperties", False, "closed"),
    Edit(f"{_FOUND}/properties/state/additionalProperties", GONE, ""),
    Edit(f"{_FOUND}/additionalProperties", GONE, "opened"),
    # branches
    Edit("checkpoint_resume/outputSchema/oneOf", GONE, "union-removed"),
    Edit(_EMPTY, GONE, "branch-removed"),
    Edit("checkpoint_resume/outputSchema/oneOf/2", "third branch", "branch-added"),
    Edit("checkpoint_resume/outputSchema/oneOf", "turned round", "branches-reordered"),
    Edit("checkpoint_resume/outputSchema/oneOf/2", "open branch", "branches-overlap"),
    Edit("memory_add/outputSchema/oneOf", [{"type": "object"}], "union-added"),
    Edit(
        "checkpoint_resume/outputSchema/required",
        ["id"],
        "required-without-declaration union-not-alone",
    ),
    # defaults, prose, and what nobody knows
    Edit(f"memory_add/{_OUT}/stored/default", True, "default-changed"),
    Edit(f"memory_search/{_OUT}/count/description", "How many.", "prose-changed"),
    Edit("memory_search/outputSchema/patternProperties", {}, "unknown-keyword"),
    Edit("memory_search/outputSchema/unevaluatedProperties", False, "unknown-keyword"),
    Edit(f"memory_search/{_OUT}/facts/contains", _WORD, "unknown-keyword"),
    Edit(f"memory_search/{_OUT}/feedback/readOnly", True, "unknown-keyword"),
]
