"""What a schema cannot say about the fields of the data plane."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from graymatter_mcp.errors import InvalidArgumentError
from graymatter_mcp.surfaces.rest.rules import check_arguments, check_fields

NOW = datetime(2026, 5, 2, 17, tzinfo=UTC)


def found(name: str, **body: Any) -> list[tuple[str, str]]:
    """Return path and code of each issue."""
    return [(one.path, one.code) for one in check_fields(name, body, NOW)[1]]


def messages(name: str, **body: Any) -> list[str]:
    """Return the messages of the issues."""
    return [one.message for one in check_fields(name, body, NOW)[1]]


def test_five_issues_of_one_body() -> None:
    """D3."""
    assert found(
        "rest/remember",
        content="x",
        namespace="n" * 129,
        sensitivity="topsecret",
        confidence=1.5,
        metadata={"k" * 65: 1},
        force="yes",
    ) == [
        ("confidence", "too_big"),
        ("force", "invalid_type"),
        ("metadata", "custom"),
        ("namespace", "too_big"),
        ("sensitivity", "invalid_value"),
    ]


@pytest.mark.parametrize(
    ("body", "path", "message"),
    [
        (
            {"since": "yesterday"},
            "since",
            "since must be ISO-8601 (e.g. 2026-05-02T17:00:00Z)",
        ),
        (
            {"includeNamespaces": ["-bad"]},
            "includeNamespaces.0",
            "namespace must start alphanumeric and contain only letters, digits, dot, colon,"
            " underscore, or dash",
        ),
        ({"project": "a\x07"}, "project", "project ref contains control characters"),
        (
            {"includeProjects": ["a", "\x9f"]},
            "includeProjects.1",
            "project ref contains control characters",
        ),
    ],
)
def test_recent_refuses_with_the_exact_message(body: Any, path: str, message: str) -> None:
    """D4; data plane, 2.4 and 2.5."""
    (issue,) = check_fields("rest/recent", body, NOW)[1]
    assert (issue.path, issue.message) == (path, message)


@pytest.mark.parametrize(
    ("operation", "field"),
    [("project-create", "name"), ("token-create", "label"), ("user-create", "username")],
)
@pytest.mark.parametrize("text", [" ", "a\nb", "a\x07", "a\u200bb"])
def test_a_name_that_people_give_is_one_line_or_an_issue(
    operation: str, field: str, text: str
) -> None:
    """Data plane, 2.6: whatever is wrong with a body is an issue with path and code."""
    (issue,) = check_fields(f"rest/{operation}", {field: text}, NOW)[1]
    assert (issue.path, issue.code) == (field, "custom")
    assert check_fields(f"rest/{operation}", {field: "Ána's team 東京"}, NOW)[1] == ()


def test_recent_takes_what_is_good() -> None:
    """D4."""
    body = {"k": "8", "includeNamespaces": ["__shared__", "A.b:c_d-9"], "since": None, "ids": None}
    arguments, issues = check_fields("rest/recent", body, NOW)
    assert arguments == {"k": 8, "includeNamespaces": ["__shared__", "A.b:c_d-9"]}
    assert issues == ()


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"k" * 65: 1}, "metadata key too long (64-char max)"),
        ({"k": "x" * 8185}, "metadata too large (8KB max)"),
        ({"k": "é" * 4093}, "metadata too large (8KB max)"),
        ({"k": float("inf")}, "metadata holds a number that is not finite"),
    ],
)
def test_metadata_has_bounds(metadata: Any, message: str) -> None:
    """Data plane, 2.5."""
    assert messages("rest/remember", content="x", metadata=metadata) == [message]


def test_metadata_at_its_bounds_is_good() -> None:
    """Data plane, 2.5: 8192 bytes as compact JSON, keys of 64."""
    good = ({"k" * 64: 1}, {"k": "x" * 8184}, {"k": "é" * 4092}, {"k": {"n" * 99: None}})
    for metadata in good:
        assert found("rest/remember", content="x", metadata=metadata) == []


def test_metadata_that_nests_without_end_is_an_issue() -> None:
    """A caller decides how deep a value nests."""
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert found("rest/remember", content="x", metadata={"k": deep}) == [("metadata", "custom")]


@pytest.mark.parametrize(
    "value",
    [
        "yesterday",
        "2026-05-02",
        "2026-05-02T17:00:00",
        "2026-05-02T17:00Z",
        "2026-05-02 17:00:00Z",
        "2026-13-02T17:00:00Z",
        "2026-05-02T24:00:00Z",
        "2026-05-02T17:00:00+99:00",
        "0001-01-01T00:00:00+14:00",
        "2026-W18-6T17:00:00Z",
        "20260502T170000Z",
        "٢٠٢٦-05-02T17:00:00Z",
    ],
)
def test_a_time_has_seconds_and_an_offset(value: str) -> None:
    """Data plane, 2.5."""
    for field in ("since", "asOf"):
        assert found("rest/recent", **{field: value}) == [(field, "invalid_format")]


@pytest.mark.parametrize(
    "value", ["2026-05-02T16:59:59Z", "2026-05-02T18:59:59.999+02:00", "1999-01-01T00:00:00-05:30"]
)
def test_good_times_pass(value: str) -> None:
    """Data plane, 2.5."""
    assert found("rest/recent", since=value, asOf=value) == []


def test_times_lie_on_the_right_side_of_now() -> None:
    """Data plane, 2.5; D30."""
    past, now, future = "2026-05-02T16:00:00Z", "2026-05-02T17:00:00Z", "2026-05-02T17:00:01Z"
    assert found("rest/recent", asOf=future) == [("asOf", "custom")]
    assert found("rest/recent", asOf=now, since=future) == []
    assert found("rest/update", expiresAt=past) == [("expiresAt", "custom")]
    assert found("rest/update", expiresAt=now) == [("expiresAt", "custom")]
    assert found("rest/update", expiresAt=future) == []


@pytest.mark.parametrize(
    ("name", "body", "path"),
    [
        ("rest/search", {"query": " \n\u2003"}, "query"),
        ("rest/context", {"message": " "}, "message"),
        ("rest/forget", {"sourceRef": " "}, "sourceRef"),
        ("rest/forget", {"sourceRef": "a\nb"}, "sourceRef"),
        ("rest/remember", {"content": "x", "sourceRefs": ["a", "\t"]}, "sourceRefs.1"),
        ("rest/project-create", {"name": "a\x00b"}, "name"),
    ],
)
def test_blank_and_unprintable_text_is_refused(name: str, body: Any, path: str) -> None:
    """Data plane, 2.5; D52."""
    assert path in {one.path for one in check_fields(name, body, NOW)[1]}
    assert check_fields(name, body, NOW)[1]


def test_a_schema_issue_of_a_field_stands_alone() -> None:
    """Nothing is said twice of one place."""
    assert found("rest/search", query="") == [("query", "too_small")]
    assert found("rest/recent", includeNamespaces=["", "-"]) == [
        ("includeNamespaces.0", "too_small"),
        ("includeNamespaces.1", "invalid_format"),
    ]
    assert found("rest/recent", includeNamespaces="-", project=7, since=[]) == [
        ("includeNamespaces", "invalid_type"),
        ("project", "invalid_type"),
        ("since", "invalid_type"),
    ]


@pytest.mark.parametrize("text", ["a\x00b", "\ud800"])
def test_what_is_no_text_is_refused_anywhere(text: str) -> None:
    """Such text has no place in a store or in UTF-8."""
    assert found("rest/remember", content=text) == [("content", "invalid_format")]
    assert found("rest/remember", content="x", metadata={"a": [{text: 1}]}) == [
        ("metadata", "invalid_format")
    ]
    assert found("rest/recent", ids=["ok", text]) == [("ids", "invalid_format")]


def test_weights_are_not_all_zero() -> None:
    """Data plane, 2.5; D24."""
    zero = {"keyword": 0, "vector": 0, "graph": 0, "entity": 0}
    assert found("rest/search", query="q", weights=zero) == [("weights", "custom")]
    assert found("rest/search", query="q", weights={**zero, "recency": 0}) == [
        ("weights", "custom")
    ]
    assert found("rest/search", query="q", weights={**zero, "recency": 1}) == []
    assert found("rest/search", query="q", weights={"keyword": 0}) == []
    assert found("rest/search", query="q", weights={}) == []
    assert found("rest/search", query="q", weights={"keyword": -1}) == [
        ("weights.keyword", "too_small")
    ]


def test_forget_takes_exactly_one_of_two() -> None:
    """Data plane, 3.11; D52."""
    for body in ({}, {"id": "a", "sourceRef": "b"}, {"id": None}):
        assert found("rest/forget", **body) == [("", "custom")]
    assert found("rest/forget", id="a", sourceRef=None) == []


def test_an_update_changes_something() -> None:
    """Data plane, 3.12; D53. A project is a check of scope, not a change."""
    for body in ({}, {"project": "p"}, {"content": None}):
        (issue,) = check_fields("rest/update", body, NOW)[1]
        assert (issue.path, issue.message, issue.code) == ("", "nothing to update", "custom")
    assert found("rest/update", metadata={}) == []


def test_a_twin_names_the_first_issue() -> None:
    """Data plane, section 9."""
    with pytest.raises(InvalidArgumentError) as caught:
        check_arguments("rest/search", {"k": 0, "query": " "}, NOW)
    assert str(caught.value) == "invalid argument 'k': must be at least 1"
    assert check_arguments("rest/search", {"query": "q", "k": "3"}, NOW) == {"query": "q", "k": 3}


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("memory_forget", {}, "'': exactly one of id and sourceRef is required"),
        ("memory_update", {"id": "x", "project": "p"}, "'': nothing to update"),
        ("memory_update", {"content": "x"}, "'id': is required"),
        ("memory_hybrid_search", {}, "'query': is required"),
        ("project_share", {"project": "a\x01", "username": "u"}, "'project': project ref contains"),
        ("memory_hygiene", {"kk": 1}, "'': holds unknown keys: kk"),
    ],
)
def test_twins_keep_the_rules_of_their_routes(
    tool: str, arguments: dict[str, Any], words: str
) -> None:
    """Data plane, section 9; D59: a missing query is named."""
    with pytest.raises(InvalidArgumentError) as caught:
        check_arguments(f"tools/{tool}", arguments, NOW)
    assert str(caught.value).startswith(f"invalid argument {words}")
