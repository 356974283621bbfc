"""Calls that the SDK does not judge: it would have found nothing, and answered the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types.methods import validate_client_request

from graymatter_mcp.surfaces.mcp.plain import KEY, PlainCall, plain_call
from tests.surfaces.mcp.toy_server import SECRET
from tests.surfaces.mcp.wire_client import ENVELOPE, ERAS, answer_to, opening, request, talk

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
ODD = {"example.com/odd": 1}
"""A key of `_meta` that leaves a call to the SDK's judgement."""

names = st.text(max_size=8) | st.sampled_from(["memory_add", "", "é", "\ud800"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=5,
)
keys = st.sampled_from([KEY, "progressToken", *ENVELOPE, "example.com/odd"])
fields = ("name", "arguments", "_meta", "task", "x")
likely: dict[str, st.SearchStrategy[Any]] = {
    "name": names,
    "arguments": st.dictionaries(names, values, max_size=3),
    "_meta": st.dictionaries(
        keys, st.sampled_from([*ENVELOPE.values(), 1, True, None, "x"]) | values, max_size=5
    ).map(lambda given: {**ENVELOPE, **given})
    | st.dictionaries(keys, values, max_size=3),
}
messages = st.fixed_dictionaries(
    {}, optional={field: likely.get(field, values) | values for field in fields}
)


@given(messages)
def test_the_sdk_finds_nothing_wrong_with_a_plain_call_of_a_handshake_session(
    params: dict[str, Any],
) -> None:
    """mcp-wire 4: no revision refuses what is not shown to it."""
    if plain_call(params, is_modern=False) is not None:
        for revision in HANDSHAKE:
            validate_client_request("tools/call", revision, params)


@given(messages)
def test_the_sdk_finds_nothing_wrong_with_a_plain_call_that_carries_an_envelope(
    params: dict[str, Any],
) -> None:
    """The same in the modern era."""
    if plain_call(params, is_modern=True) is not None:
        validate_client_request("tools/call", MODERN, params)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("tool", ["echo", "whoami", "refuse", "crash", "surrogate", "nope"])
def test_both_ways_give_the_same_answer(era: str, tool: str) -> None:
    """A key of `_meta` more or less decides the way; no client can tell which was taken."""
    envelope = ENVELOPE if era == "modern" else {}
    params = {"name": tool, "arguments": {"text": "é\u2028"}}
    asked = [{**params, "_meta": {**envelope, **more}} for more in ({}, ODD)]
    assert [_is_plain(one, era) for one in asked] == [True, False]
    both = [request(name, "tools/call", one) for name, one in enumerate(asked)]
    answers = talk(opening(era), *both)
    plain, judged = (answer_to(name, answers) for name in (0, 1))
    assert {**plain, "id": 1} == judged
    assert SECRET not in str(plain)


@pytest.mark.parametrize(
    "params",
    [
        {"name": "echo"},
        {"name": "echo", "arguments": {}},
        {"name": "echo", "arguments": {"text": "\ud800"}, "_meta": {}},
        {"name": "echo", "_meta": {KEY: 7, "progressToken": 1}},
    ],
)
def test_what_is_plain(params: dict[str, Any]) -> None:
    """The fields are taken as they came."""
    call = plain_call(params, is_modern=False)
    given = params.get("_meta", {}).get(KEY)
    assert call == PlainCall("echo", params.get("arguments", {}), given, "")


@pytest.mark.parametrize(
    "params",
    [
        None,
        {},
        {"name": "echo", "arguments": None},
        {"name": "echo", "arguments": {"\ud800": 1}},
        {"name": "echo", "_meta": None},
        {"name": "echo", "_meta": {"progressToken": True}},
        {"name": "echo", "_meta": ENVELOPE},
        {"name": "echo", "_meta": ODD},
        {"name": "echo", "task": {}},
    ],
)
def test_what_is_left_to_the_sdk(params: dict[str, Any] | None) -> None:
    """Whatever may be refused is refused in its words."""
    assert plain_call(params, is_modern=False) is None


@pytest.mark.parametrize("gone", list(ENVELOPE))
def test_an_envelope_with_a_part_missing_is_left_to_the_sdk(gone: str) -> None:
    """The SDK knows which part may be missing."""
    envelope = {name: value for name, value in ENVELOPE.items() if name != gone}
    assert plain_call({"name": "echo", "_meta": envelope}, is_modern=True) is None


def test_a_call_before_the_opening_is_refused_like_any_other() -> None:
    """mcp-wire 3."""
    answers = talk(request(1, "tools/call", {"name": "echo"}), opening("handshake"))
    assert answer_to(1, answers)["error"]["code"] == -32602


def _is_plain(params: dict[str, Any], era: str) -> bool:
    return plain_call(params, is_modern=era == "modern") is not None
