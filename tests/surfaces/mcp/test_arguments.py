"""What each value of each argument does: the exact error, or the exact request to the engine."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from graymatter_mcp.contract.load import load_bundle
from graymatter_mcp.model.facts import Origin
from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.model.requests import (
    BatchRecallRequest,
    RecallOptions,
    RecallRequest,
    RememberRequest,
    WriteOptions,
)
from graymatter_mcp.surfaces.mcp.arguments import RULES
from graymatter_mcp.surfaces.mcp.spelling import ALL
from tests.surfaces.mcp.recording_memory import RecordingMemory, call

if TYPE_CHECKING:
    from collections.abc import Iterator

ABSENT = object()
BLANKS = ["", " ", "\u2003"]
NOT_STRINGS: list[Any] = [7, True, ["a"], {"a": 1}]
NOT_BOOLEANS: list[Any] = ["TRUE", "yes", 1, 0, ["a"], {"a": 1}]
NOT_NUMBERS: list[Any] = ["8x", "+8", "08", "0x8", "8.", "NaN", True, False, ["a"], {"a": 1}]
LABELS = ["verified", "inferred", "unverified"]
NOT_LABELS = [*BLANKS, "null", " verified", "Verified", "verified ", "unknown"]

Reached = tuple[object, ...]
Outcome = str | Reached
Rows = list[tuple[list[Any], Outcome]]


def search(method: str = "recall", **changes: Any) -> Reached:
    """Return what a plain search asks for, changed."""
    request = RecallRequest(namespace=Namespace("a"), query="q", hints=True, learn=True)
    return (method, replace(request, **changes))


def explain() -> Reached:
    """Return what an explained search asks for."""
    return search("recall_explain", hints=False, learn=False)


def batch(**changes: Any) -> Reached:
    """Return what a batch asks for, changed."""
    request = BatchRecallRequest(namespace=Namespace("a"), queries=("q",))
    return ("recall_batch", replace(request, **changes))


def add(tool: str = "memory_add", **changes: Any) -> Reached:
    """Return what an addition asks for, changed."""
    request = RememberRequest(
        namespace=Namespace("a"),
        text="t",
        origin=origin(tool),
        is_curation=tool == "memory_reflect",
    )
    return ("remember", replace(request, **changes))


def alias(namespace: str = "a", term: str = "x", equivalents: tuple[str, ...] = ("y",)) -> Reached:
    """Return what an alias asks for."""
    return ("add_alias", namespace, term, list(equivalents), origin("memory_alias"))


def save(namespace: str = "a", state: object = None) -> Reached:
    """Return what a checkpoint asks for."""
    return ("save_checkpoint", namespace, state, {"source": "mcp"})


def update(**changes: Any) -> Reached:
    """Return what an update asks for, changed."""
    fields: dict[str, Any] = {"namespace": "a", "target": "o", "text": "t", "label": None} | changes
    options = (
        WriteOptions() if fields["label"] is None else WriteOptions(confidence=fields["label"])
    )
    return (
        "revise",
        fields["namespace"],
        fields["target"],
        fields["text"],
        options,
        origin("memory_reflect"),
    )


def origin(tool: str) -> Origin:
    """Return the claims of the test's caller."""
    return Origin(source=tool, client="tester 1.0", session="s1")


BASES: dict[str, dict[str, Any]] = {
    "memory_search": {"agent_id": "a", "query": "q"},
    "memory_search_batch": {"agent_id": "a", "queries": ["q"]},
    "memory_add": {"agent_id": "a", "text": "t"},
    "memory_alias": {"agent_id": "a", "term": "x", "equivalents": ["y"]},
    "checkpoint_save": {"agent_id": "a"},
    "checkpoint_resume": {"agent_id": "a"},
    "memory_reflect": {"action": "update", "agent_id": "a", "text": "t", "target": "o"},
}

NO_AGENT: Rows = [([ABSENT, None, *BLANKS, *NOT_STRINGS], "agent_id is required")]
NO_IDENTITY: list[Any] = [None, *BLANKS, *NOT_STRINGS, 0, False, [], {}]
COUNTS = [
    ("8", 8),
    (8, 8),
    (8.9, 8),
    ("8.9", 8),
    ("80e-1", 8),
    (0, 0),
    ("-0", 0),
    (-0.5, 0),
    (-3, -3),
]
HUGE: list[Any] = [10**400, "9" * 5000, "1e400", 2**31, 1e300]
BAD_NUMBER: Rows = [([math.nan, math.inf, -math.inf], "top_k holds a number that is not finite")]
CONFIDENCE_WEIGHT = "confidence_weight must be finite and between 0 and 0.5"
NO_QUERIES = "queries is required and must hold at least one non-empty query"
NO_EQUIVALENTS = "equivalents is required and must hold at least one non-empty value"
BAD_STATE = "state must be a JSON object or a string holding one"
BAD_JSON = "state must be valid JSON: Expecting value at line 1 column "


def label_rows(key: str, untouched: Outcome) -> Rows:
    """Return the strict rules of a label option."""
    return [
        ([ABSENT], untouched),
        ([None, *NOT_STRINGS, [], {}], f"{key} must be a string"),
        (NOT_LABELS, f"{key} must be verified, inferred or unverified"),
    ]


def weight_rows(untouched: Outcome) -> Rows:
    """Return the strict rules of the weight option."""
    return [
        ([ABSENT], untouched),
        (
            [None, *BLANKS, "null", "0.1", True, False, [], ["a"], {"a": 1}],
            "confidence_weight must be a number",
        ),
        ([-0.01, 0.51, 7, math.nan, math.inf, -math.inf, 10**400], CONFIDENCE_WEIGHT),
    ]


TABLE: dict[tuple[str, str], Rows] = {
    ("memory_search", "agent_id"): [
        *NO_AGENT,
        *(([v], search(namespace=v)) for v in ["null", " a ", "\u200b", "__shared__", "Ä"]),
    ],
    ("memory_search", "query"): [
        ([ABSENT, None, "", *NOT_STRINGS], "query is required"),
        *(([v], search(query=v)) for v in [" ", "\u2003", "null", " q "]),
    ],
    ("memory_search", "top_k"): [
        ([ABSENT, None, *BLANKS, "null", *NOT_NUMBERS], search()),
        *(([v], search(top_k=k)) for v, k in COUNTS),
        (HUGE, search(top_k=ALL)),
        ([-(10**400), "-1e400"], search(top_k=-ALL)),
        *BAD_NUMBER,
    ],
    ("memory_search", "explain"): [
        ([ABSENT, None, *BLANKS, "null", *NOT_BOOLEANS, False, "false"], search()),
        ([True, "true"], explain()),
    ],
    ("memory_search", "min_confidence"): [
        *label_rows("min_confidence", search()),
        *(([v], search(options=RecallOptions(min_confidence=v))) for v in LABELS),
    ],
    ("memory_search", "confidence_weight"): [
        *weight_rows(search()),
        *(([v], search(options=RecallOptions(confidence_weight=v))) for v in [0.0, 0.2, 0.5]),
        ([0, -0.0], search(options=RecallOptions(confidence_weight=0.0))),
    ],
    ("memory_search_batch", "agent_id"): [*NO_AGENT, (["null"], batch(namespace="null"))],
    ("memory_search_batch", "queries"): [
        ([ABSENT, None, *BLANKS, "null", "q", 7, True, {"a": 1}, [], ["", " "]], NO_QUERIES),
        ([["q", 7], [None], [["q"]]], "queries must hold strings only"),
        ([["a"]], batch(queries=("a",))),
        ([[" q ", "", "\u2003", "null", "q"]], batch(queries=(" q ", "null", "q"))),
    ],
    ("memory_search_batch", "top_k"): [
        ([ABSENT, None, *BLANKS, "null", *NOT_NUMBERS], batch()),
        *(([v], batch(top_k=k)) for v, k in COUNTS),
        (HUGE, batch(top_k=ALL)),
        *BAD_NUMBER,
    ],
    ("memory_search_batch", "min_confidence"): [
        *label_rows("min_confidence", batch()),
        *(([v], batch(options=RecallOptions(min_confidence=v))) for v in LABELS),
    ],
    ("memory_search_batch", "confidence_weight"): [
        *weight_rows(batch()),
        *(([v], batch(options=RecallOptions(confidence_weight=v))) for v in [0.0, 0.5]),
    ],
    ("memory_add", "agent_id"): [*NO_AGENT, (["null"], add(namespace="null"))],
    ("memory_add", "text"): [
        ([ABSENT, None, "", *NOT_STRINGS], "text is required"),
        *(([v], add(text=v)) for v in [" ", "\u2003", "null", " t\n", "é", "e\u0301"]),
    ],
    ("memory_add", "confidence"): [
        *label_rows("confidence", add()),
        *(([v], add(options=WriteOptions(confidence=v))) for v in LABELS),
    ],
    ("memory_alias", "agent_id"): [*NO_AGENT, (["null"], alias(namespace="null"))],
    ("memory_alias", "term"): [
        ([ABSENT, None, *BLANKS, *NOT_STRINGS], "term is required"),
        *(([v], alias(term=v)) for v in ["null", " x = "]),
    ],
    ("memory_alias", "equivalents"): [
        ([ABSENT, None, *BLANKS, "null", "y", 7, True, {"a": 1}, [], [" "]], NO_EQUIVALENTS),
        ([["y", 7], [None]], "equivalents must hold strings only"),
        ([["a"]], alias(equivalents=("a",))),
        ([[" y ", "", "null", "\u2003"]], alias(equivalents=(" y ", "null"))),
    ],
    ("checkpoint_save", "agent_id"): [*NO_AGENT, (["null"], save(namespace="null"))],
    ("checkpoint_save", "state"): [
        ([ABSENT, None, "", "null"], save()),
        ([7, 0, 1.5, True, False, ["a"], []], BAD_STATE),
        ([{"a": 1}, '{"a": 1}', ' {"a":1}\n'], save(state={"a": 1})),
        ([{}, "{}"], save(state={})),
        ([" "], BAD_JSON + "2"),
        (["\u2003", "nonsense"], BAD_JSON + "1"),
        (["7", "[]", '"x"', " null ", "true"], "state must be valid JSON: expected an object"),
        (['{"a": NaN}'], "state must be valid JSON: NaN is not a JSON value"),
        (['{"a": -Infinity}'], "state must be valid JSON: -Infinity is not a JSON value"),
        (['{"a": 1e999}'], "state must be valid JSON: a number is out of range"),
        (['{"a": ' + "9" * 5000 + "}"], "state must be valid JSON: a number is too long"),
        ([{"a": 10**5000}], "state must be valid JSON: a number is too long"),
        ([{"a": [math.inf]}], "state holds a number that is not finite"),
        ([{"\ud800": 1}, {"a": ["\0"]}, '{"a": "\\u0000"}'], "state is not valid text"),
        (['{"a": "\\ud800"}', '{"\\udfff": 1}', '{"\0": 1}'], "state is not valid text"),
    ],
    ("checkpoint_resume", "agent_id"): [*NO_AGENT, (["null"], ("resume_checkpoint", "null"))],
    ("checkpoint_resume", "on_missing"): [
        ([ABSENT, None, "error", "empty"], ("resume_checkpoint", "a")),
        (
            [*BLANKS, "null", *NOT_STRINGS, 0, False, "sometimes", "Empty", {}],
            'on_missing must be "error" or "empty"',
        ),
    ],
    ("memory_reflect", "action"): [
        ([ABSENT, None, "", *NOT_STRINGS], "action is required"),
        *(([v], f'unknown action "{v}"') for v in [" ", "\u2003", "null", "Add", "add ", "erase"]),
    ],
    ("memory_reflect", "agent_id"): [
        ([ABSENT], "agent_id is required"),
        (NO_IDENTITY, "agent_id must be a non-empty string"),
        *(([v], update(namespace=v)) for v in ["null", " project ", "__shared__", "\u200b"]),
    ],
    ("memory_reflect", "agent"): [
        ([ABSENT, "b", "null"], update()),
        (NO_IDENTITY, "agent must be a non-empty string"),
    ],
    ("memory_reflect", "text"): [
        ([ABSENT, None, ""], "text (the corrected fact) is required for update"),
        (NOT_STRINGS, "text must be a string"),
        *(([v], update(text=v)) for v in [" ", "\u2003", "null"]),
    ],
    ("memory_reflect", "target"): [
        ([ABSENT, None, ""], "target (fact to supersede) is required for update"),
        (NOT_STRINGS, "target must be a string"),
        *(([v], update(target=v)) for v in [" ", "\u2003", "null"]),
    ],
    ("memory_reflect", "confidence"): [
        *label_rows("confidence", update()),
        *(([v], update(label=v)) for v in LABELS),
    ],
}


def reach(tool: str, arguments: dict[str, Any]) -> Outcome:
    """Call a tool; return the error text, or the one request that reached the engine."""
    memory = RecordingMemory()
    answer = call(tool, arguments, memory)
    if answer.is_error:
        assert answer.structured is None
        assert memory.calls == []
        return answer.text
    (reached,) = memory.calls
    return reached


def table_cases() -> Iterator[Any]:
    """Yield every cell of the table as a parameter set; ids hold no values, some are huge."""
    for (tool, name), rows in TABLE.items():
        cells = [(value, expected) for values, expected in rows for value in values]
        for place, (value, expected) in enumerate(cells):
            kind = "absent" if value is ABSENT else type(value).__name__
            yield pytest.param(tool, name, value, expected, id=f"{tool}-{name}-{place}-{kind}")


@pytest.mark.parametrize(("tool", "name", "value", "expected"), list(table_cases()))
def test_each_value_of_each_argument_has_its_error_or_its_request(
    tool: str, name: str, value: object, expected: Outcome
) -> None:
    """F9, C18, C22 to C33, contract 3.1."""
    arguments = {key: kept for key, kept in BASES[tool].items() if key != name}
    if value is not ABSENT:
        arguments[name] = value
    assert reach(tool, arguments) == expected


def test_the_table_holds_every_argument_and_every_kind_of_value() -> None:
    """F9: absent, null, empty, blank, "null" and wrong types, for each argument of each tool."""
    assert set(TABLE) == {
        (tool.name, name)
        for tool in load_bundle().tools
        for name in tool.input_schema["properties"]
    }
    for rows in TABLE.values():
        values = [value for some, _ in rows for value in some]
        assert any(value is ABSENT for value in values)
        for wanted in (None, *BLANKS, "null", True, 7, ["a"], {"a": 1}):
            # True equals 1, so types are compared too.
            assert any(type(v) is type(wanted) and v == wanted for v in values) or wanted == 7


def test_rules_name_the_parameters_of_the_schemas_in_their_order() -> None:
    """Contract 3.1: spellings go by the schema; a parameter without a rule would be dropped."""
    for tool in load_bundle().tools:
        assert list(RULES[tool.name].spellings) == list(tool.input_schema["properties"])


@pytest.mark.parametrize("tool", BASES)
def test_an_unknown_argument_changes_nothing(tool: str) -> None:
    """C24, F15: it is ignored on every tool, whatever it holds."""
    plain = reach(tool, BASES[tool])
    extra: dict[str, Any] = {
        "namespace": "other",
        "agentId": "\ud800",
        "project": None,
        "": {"a": []},
    }
    assert reach(tool, BASES[tool] | extra) == plain


@pytest.mark.parametrize("tool", BASES)
@pytest.mark.parametrize("value", ["\ud800", "a\0", "\udfffx"])
def test_text_that_is_no_text_is_refused_by_name_in_every_argument(tool: str, value: str) -> None:
    """Contract 3.1, last row."""
    for name in RULES[tool].spellings:
        if "confidence" in name:
            continue
        assert reach(tool, BASES[tool] | {name: value}) == f"{name} is not valid text"
        assert reach(tool, BASES[tool] | {name: ["x", value]}) == f"{name} is not valid text"


@pytest.mark.parametrize("tool", BASES)
def test_numbers_that_are_not_finite_are_refused_wherever_they_stand(tool: str) -> None:
    """Wire 4: JSON has no such numbers."""
    arguments = BASES[tool] | {"x": [{"y": math.nan}]}
    assert reach(tool, arguments) == "an argument holds a number that is not finite"


@pytest.mark.parametrize("arguments", [None, {}])
@pytest.mark.parametrize("tool", BASES)
def test_no_arguments_at_all_is_an_error_that_names_the_first_need(
    tool: str, arguments: dict[str, Any] | None
) -> None:
    """C23, C26, F9."""
    memory = RecordingMemory()
    answer = call(tool, arguments, memory)
    first = "action is required" if tool == "memory_reflect" else "agent_id is required"
    assert (answer.text, answer.is_error, memory.calls) == (first, True, [])


def test_a_weight_of_minus_zero_loses_its_sign() -> None:
    """Contract 3.1: 0 switches the weight off, and the answer repeats it as 0."""
    reached = reach("memory_search", BASES["memory_search"] | {"confidence_weight": -0.0})
    assert repr(reached) == repr(search(options=RecallOptions(confidence_weight=0.0)))


SUPPORT = {
    "memory_search": {"min_confidence", "confidence_weight"},
    "memory_search_batch": {"min_confidence", "confidence_weight"},
    "memory_add": {"confidence"},
    "memory_reflect": {"confidence"},
}


@pytest.mark.parametrize("tool", BASES)
@pytest.mark.parametrize("key", ["confidence", "min_confidence", "confidence_weight"])
@pytest.mark.parametrize("value", [None, 0.2, "verified", "bad", []])
def test_a_confidence_option_where_it_does_not_belong_is_named(
    tool: str, key: str, value: object
) -> None:
    """Contract 3.1, first row of the guard: it comes before the type of the value."""
    if key not in SUPPORT.get(tool, set[str]()):
        assert reach(tool, BASES[tool] | {key: value}) == f"{key} is not supported by {tool}"


@pytest.mark.parametrize("action", ["forget", "link", "pin", "unpin"])
@pytest.mark.parametrize("value", [None, "verified", "bad"])
def test_confidence_is_refused_on_actions_that_store_nothing(action: str, value: object) -> None:
    """C34."""
    arguments = BASES["memory_reflect"] | {"action": action, "confidence": value}
    assert reach("memory_reflect", arguments) == (
        "confidence is supported only by reflect add/update"
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "first"),
    [
        ("memory_add", {"confidence": "x"}, "confidence must be verified, inferred or unverified"),
        (
            "memory_search",
            {"min_confidence": 1, "confidence_weight": 9},
            "min_confidence must be a string",
        ),
        ("memory_search_batch", {"queries": ["q", 1]}, "queries must hold strings only"),
        ("memory_reflect", {"confidence": 1, "action": "zap"}, "confidence must be a string"),
        ("memory_reflect", {"confidence": "verified", "action": "zap"}, 'unknown action "zap"'),
        ("memory_reflect", {"confidence": "verified"}, "action is required"),
        ("memory_reflect", {"action": "zap", "agent_id": 1}, 'unknown action "zap"'),
        ("memory_reflect", {"action": "update", "agent": ""}, "agent must be a non-empty string"),
        ("memory_reflect", {"action": "add", "text": 1}, "text must be a string"),
        ("memory_alias", {"agent_id": "a", "equivalents": []}, "term is required"),
        ("checkpoint_save", {"state": "x"}, "agent_id is required"),
        ("checkpoint_resume", {"on_missing": "x"}, "agent_id is required"),
    ],
)
def test_of_two_broken_rules_the_earlier_one_is_told(
    tool: str, arguments: dict[str, Any], first: str
) -> None:
    """Contract 3.1, 3.8: guard, spellings, then the tool's checks in their order."""
    assert reach(tool, arguments) == first


@pytest.mark.parametrize("action", ["add", "update", "forget", "link", "pin", "unpin"])
@pytest.mark.parametrize("key", ["agent_id", "agent"])
@pytest.mark.parametrize("value", NO_IDENTITY, ids=ascii)
def test_a_bad_identity_is_refused_even_beside_a_good_one(
    action: str, key: str, value: object
) -> None:
    """C29."""
    other = "agent" if key == "agent_id" else "agent_id"
    arguments = {"action": action, "text": "t", "target": "o", key: value}
    assert reach("memory_reflect", arguments) == f"{key} must be a non-empty string"
    assert reach("memory_reflect", arguments | {other: "b"}) == f"{key} must be a non-empty string"


def test_the_older_spelling_of_the_identity_alone_is_enough_and_yields_to_the_newer() -> None:
    """C32."""
    arguments = {"action": "update", "text": "t", "target": "o", "agent": " b "}
    assert reach("memory_reflect", arguments) == update(namespace=" b ")
    assert reach("memory_reflect", arguments | {"agent_id": "a"}) == update()


@pytest.mark.parametrize(
    ("action", "given", "expected"),
    [
        ("add", {"text": "t"}, add("memory_reflect")),
        ("add", {"text": " "}, add("memory_reflect", text=" ")),
        ("add", {"target": "o"}, "text (the fact to add) is required for add"),
        ("update", {}, "target (fact to supersede) is required for update"),
        ("update", {"target": "o"}, "text (the corrected fact) is required for update"),
        ("forget", {}, "the fact to forget is required: pass it in target (or text)"),
        ("forget", {"text": "t"}, ("forget", "a", "t")),
        ("forget", {"target": " o"}, ("forget", "a", " o")),
        ("forget", {"text": "t", "target": "o"}, ("forget", "a", "o")),
        ("forget", {"text": "t", "target": ""}, ("forget", "a", "t")),
        ("link", {}, "target (node ID) is required for link"),
        ("link", {"text": "t", "target": " "}, "target (node ID) is required for link"),
        ("link", {"target": "o"}, "text (the source node ID) is required for link"),
        ("link", {"target": "o", "text": " \t"}, "text (the source node ID) is required for link"),
        ("link", {"target": "O ", "text": "t"}, ("link", "a", "t", "O ")),
        ("pin", {}, "the fact to pin is required: pass it in target (or text)"),
        ("pin", {"text": "t", "target": "o"}, ("set_pinned", "a", "o", True)),
        ("unpin", {"text": ""}, "the fact to unpin is required: pass it in target (or text)"),
        ("unpin", {"text": "t"}, ("set_pinned", "a", "t", False)),
    ],
)
def test_each_action_asks_for_what_it_needs(
    action: str, given: dict[str, Any], expected: Outcome
) -> None:
    """C26, C28, contract 6."""
    assert reach("memory_reflect", {"action": action, "agent_id": "a"} | given) == expected


@pytest.mark.parametrize("depth", [100, 101, 5000])
@pytest.mark.parametrize("as_string", [False, True])
def test_a_state_is_saved_only_as_deep_as_it_can_be_given_back(depth: int, as_string: bool) -> None:
    """Contract 7: what is saved comes back; transports stop at 200 levels."""
    text = '{"s":' * depth + "1" + "}" * depth
    state: Any = text
    if not as_string:
        state = 1
        for _ in range(depth):
            state = {"s": state}
    reached = reach("checkpoint_save", {"agent_id": "a", "state": state})
    if depth == 100:
        assert reached == save(state=json.loads(text))
    else:
        assert reached == "state must be valid JSON: nested deeper than 100 levels"


@pytest.mark.parametrize("number", ["1", "1.0", "0.1", str(2**53 + 1), "9" * 400, "-0.0", "1e22"])
@pytest.mark.parametrize("as_string", [False, True])
def test_numbers_of_a_state_reach_the_engine_as_they_were_sent(
    number: str, as_string: bool
) -> None:
    """Contract 7: integers stay integers, 1.0 stays 1.0."""
    text = '{"n": ' + number + "}"
    reached = reach(
        "checkpoint_save", {"agent_id": "a", "state": text if as_string else json.loads(text)}
    )
    assert repr(reached) == repr(save(state=json.loads(text)))
