"""All issues of a body, and the few spellings that are forgiven."""

from __future__ import annotations

from typing import Any

import pytest

from graymatter_mcp.contract.issues import Issue, coerced, issues
from graymatter_mcp.contract.routes import load_routes


def codes(name: str, body: object) -> list[tuple[str, str]]:
    """Return path and code of each issue."""
    return [(one.path, one.code) for one in issues(name, body)]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"content": ""}, "too_small"),
        ({}, "invalid_type"),
        ({"content": 7}, "invalid_type"),
        ({"content": "x" * 262_145}, "too_big"),
        ({"content": "x" * 262_144}, None),
        ({"content": "\U0001f419" * 262_144}, None),
    ],
)
def test_content_is_there_and_has_a_length(body: object, code: str | None) -> None:
    """D2: lengths count code points."""
    assert codes("rest/remember", body) == ([] if code is None else [("content", code)])


def test_all_issues_come_sorted_by_path() -> None:
    """D3, what of it the schema alone can say."""
    body = {
        "content": "x",
        "namespace": "n" * 129,
        "sensitivity": "topsecret",
        "confidence": 1.5,
        "force": "yes",
    }
    assert codes("rest/remember", body) == [
        ("confidence", "too_big"),
        ("force", "invalid_type"),
        ("namespace", "too_big"),
        ("sensitivity", "invalid_value"),
    ]


@pytest.mark.parametrize(
    ("body", "issue"),
    [
        ({"k": 201}, ("k", "too_big")),
        ({"k": 0}, ("k", "too_small")),
        ({"k": 1.5}, ("k", "invalid_type")),
        ({"k": True}, ("k", "invalid_type")),
        ({"contentMode": "brief"}, ("contentMode", "invalid_value")),
        ({"contentMode": 3}, ("contentMode", "invalid_type")),
        ({"includeNamespaces": ["a"] * 17}, ("includeNamespaces", "too_big")),
        ({"includeNamespaces": ["a", ""]}, ("includeNamespaces.1", "too_small")),
        ({"includeNamespaces": [None]}, ("includeNamespaces.0", "invalid_type")),
    ],
)
def test_recent_refuses(body: object, issue: tuple[str, str]) -> None:
    """D4."""
    assert codes("rest/recent", body) == [issue]


def test_more_places_of_one_body_are_told_apart() -> None:
    """Data plane, 2.6: paths are dotted."""
    body = {"query": "q", "weights": {"vector": -1, "graph": 101, "entity": "no"}}
    assert codes("rest/search", body) == [
        ("weights.entity", "invalid_type"),
        ("weights.graph", "too_big"),
        ("weights.vector", "too_small"),
    ]
    assert codes("rest/neighbors", {"id": "x", "depth": 4}) == [("depth", "invalid_value")]
    assert codes("rest/adoption", {"observedToolsHash": "x"}) == [
        ("observedToolsHash", "invalid_format")
    ]


@pytest.mark.parametrize("body", [[1, 2], "s", 5, None, True])
def test_what_is_no_object_is_one_issue(body: object) -> None:
    """D5."""
    for name in ("rest/search", "rest/recent", "rest/hygiene"):
        assert codes(name, coerced(name, body)) == [("", "invalid_type")]


def test_unknown_keys_are_dropped_or_refused() -> None:
    """D10."""
    assert coerced("rest/remember", {"content": "x", "stray": 1}) == {"content": "x"}
    assert coerced("rest/stats", {"stray": 1}) == {}
    for name in ("rest/session-recap", "rest/hygiene", "rest/evaluate", "rest/adoption"):
        body = coerced(name, {"decision": ["a misspelled array"]})
        (issue,) = issues(name, body)
        assert (issue.path, issue.code) == ("", "unrecognized_keys")
        assert "decision" in issue.message
    (issue,) = issues("rest/hygiene", {"\x1b[2J gm_secret": 1, "k": 5})
    assert "secret" not in issue.message


def test_null_means_absent() -> None:
    """D4: every optional field null, decimal strings for numbers."""
    body: dict[str, Any] = {
        "k": "8",
        "includeNamespaces": ["__shared__"],
        **dict.fromkeys(["namespace", "since", "project", "includeProjects", "agentName"]),
        **dict.fromkeys(["maxSensitivity", "contentMode", "asOf", "ids", "maxBytes"]),
    }
    assert coerced("rest/recent", body) == {"k": 8, "includeNamespaces": ["__shared__"]}
    assert issues("rest/recent", coerced("rest/recent", body)) == ()
    assert codes("rest/search", coerced("rest/search", {"query": None})) == [
        ("query", "invalid_type")
    ]
    weights = {"keyword": "0.5", "graph": None, "stray": 1}
    assert coerced("rest/search", {"weights": weights}) == {"weights": {"keyword": 0.5}}


def test_values_inside_free_objects_stay() -> None:
    """Data plane, 2.5: the rule is about fields; what a caller keeps in metadata is theirs."""
    body = {"content": "1", "metadata": {"a": None, "b": "8", "c": [None]}}
    assert coerced("rest/remember", body) == body


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("8", 8),
        ("-3", -3),
        ("1.5", "1.5"),
        (" 8", " 8"),
        ("8 ", "8 "),
        ("0x8", "0x8"),
        ("٨", "٨"),
        ("", ""),
        ("1_0", "1_0"),
        ("1e1", "1e1"),
        ("9" * 5000, "9" * 5000),
        (8.0, 8),
        (-0.0, 0),
        (1.5, 1.5),
        (float("inf"), float("inf")),
        (True, True),
    ],
)
def test_only_decimal_strings_and_whole_floats_are_integers(sent: object, read: object) -> None:
    """Data plane, 2.5: no other coercion; 8.0 is an integer to JSON Schema."""
    found = coerced("rest/recent", {"k": sent})
    assert found == {"k": read}
    assert type(found["k"]) is type(read)


@pytest.mark.parametrize("sent", ["nan", "inf", "1.5.2", "+1"])
def test_a_number_is_finite_and_plain(sent: str) -> None:
    """Data plane, 2.5."""
    assert codes("rest/capture", coerced("rest/capture", {"content": "x", "confidence": sent})) == [
        ("confidence", "invalid_type")
    ]


def test_a_body_is_not_changed_by_reading_it() -> None:
    """A caller's object is the caller's."""
    body = {"query": "q", "k": "8", "weights": {"graph": None}}
    coerced("rest/search", body)
    assert body == {"query": "q", "k": "8", "weights": {"graph": None}}


def test_no_message_repeats_a_value() -> None:
    """House, section 4: errors hold no text of facts."""
    body = {"content": 0, "namespace": "hush" * 33, "sensitivity": "hush", "expiresAt": ["hush"]}
    found = issues("rest/remember", body)
    assert len(found) == 4
    assert all(one.message and "hush" not in one.message for one in found)


def test_an_issue_is_its_three_words() -> None:
    """Data plane, 2.6."""
    assert issues("rest/search", {}) == (
        Issue(path="query", message="is required", code="invalid_type"),
    )


def test_every_keyword_of_a_request_has_words() -> None:
    """A keyword without words would be a fault of ours in the face of a caller."""
    silent = {"properties", "items", "default", "description", "format"}
    worded = {
        *("type", "required", "minLength", "maxLength", "minItems", "maxItems"),
        *("minimum", "maximum", "pattern", "enum", "additionalProperties"),
    }
    for route in load_routes():
        assert keywords(route.request) <= silent | worded


def keywords(schema: dict[str, Any]) -> set[str]:
    """Return the keywords of a schema and of its parts."""
    parts = [*schema.get("properties", {}).values()]
    if "items" in schema:
        parts.append(schema["items"])
    return set(schema).union(*map(keywords, parts))
