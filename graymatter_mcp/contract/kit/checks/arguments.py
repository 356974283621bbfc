"""What each tool makes of its arguments, before any effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.contract.kit.case import expect, expect_equal
from graymatter_mcp.contract.kit.check import Topic

if TYPE_CHECKING:
    from graymatter_mcp.contract.kit.case import Case

topic = Topic()

_SEARCH: Final[dict[str, Any]] = {"query": "anything"}
_BATCH: Final[dict[str, Any]] = {"queries": ["anything"]}
_BAD_LABELS: Final[tuple[Any, ...]] = (None, "", " verified", "Verified", 1, True, [], {})
_BAD_WEIGHTS: Final[tuple[Any, ...]] = (None, "0.1", True, -0.01, 0.51)
_BAD_NAMES: Final[tuple[Any, ...]] = (None, 7, True, {}, [], "", "   ", "\u2003")
_BAD_QUERIES: Final[tuple[Any, ...]] = ([], [" "], "text", None, {})
_BAD_MODES: Final[tuple[Any, ...]] = ("", "Empty", "sometimes", 0, False, {})


@topic.reads("search:needs")
def search_needs(case: Case) -> None:
    """A search needs `agent_id` and `query`."""
    agent = case.agent()
    for arguments in ({"query": "x"}, {"agent_id": agent}, {"agent_id": agent, "query": ""}):
        text = case.refused("memory_search", **arguments)
        wanted = "agent_id" if "agent_id" not in arguments else "query"
        expect(wanted in text, f"the error of a search does not name {wanted}")


@topic.reads("batch:needs")
def batch_needs(case: Case) -> None:
    """A batch needs a query that is not blank."""
    agent = case.agent()
    for queries in _BAD_QUERIES:
        case.refused("memory_search_batch", agent_id=agent, queries=queries)
    case.refused("memory_search_batch", agent_id=agent, queries=["x", 7])


@topic.reads("identity:blank-namespace")
def blank_namespaces(case: Case) -> None:
    """A namespace holds a character that is not white space, on every tool that reads."""
    for name in _BAD_NAMES:
        case.refused("memory_search", agent_id=name, query="x")
        case.refused("memory_search_batch", agent_id=name, queries=["x"])
        case.refused("checkpoint_resume", agent_id=name)


@topic.reads("confidence:bad-filters")
def bad_filters(case: Case) -> None:
    """A bad filter or weight is refused by both searches."""
    agent = case.agent()
    for tool, rest in (("memory_search", _SEARCH), ("memory_search_batch", _BATCH)):
        for label in _BAD_LABELS:
            case.refused(tool, agent_id=agent, **rest, min_confidence=label)
        for weight in _BAD_WEIGHTS:
            case.refused(tool, agent_id=agent, **rest, confidence_weight=weight)


@topic.reads("confidence:misplaced")
def misplaced(case: Case) -> None:
    """A confidence option on a tool without it is refused."""
    agent = case.agent()
    case.refused("memory_search", agent_id=agent, query="x", confidence="verified")
    case.refused("memory_search_batch", agent_id=agent, queries=["x"], confidence="verified")
    case.refused("checkpoint_resume", agent_id=agent, min_confidence="verified")
    case.refused("checkpoint_resume", agent_id=agent, confidence_weight=0)


@topic.reads("inputs:unknown-arguments")
def unknown_arguments(case: Case) -> None:
    """An unknown argument changes nothing."""
    agent = case.agent()
    plain = case.ok("memory_search", agent_id=agent, query="x")
    odd = case.ok("memory_search", agent_id=agent, query="x", namespace="other", project=7)
    expect_equal(odd, plain, "the answer to a search with unknown arguments")


@topic.reads("search:empty-is-success")
def empty_is_success(case: Case) -> None:
    """A search that finds nothing is a success with an empty list."""
    agent = case.agent()
    reply = case.reply("memory_search", {"agent_id": agent, "query": "x"})
    wanted: dict[str, Any] = {"agent_id": agent, "query": "x", "count": 0, "facts": []}
    expect(not reply.is_error, "a search that finds nothing is an error")
    payload: dict[str, Any] = reply.structured
    found = {key: value for key, value in payload.items() if key != "retrieval"}
    expect_equal(found, wanted, "the payload of a search that finds nothing")
    expect_equal(
        reply.text.partition("\n")[0],
        f'No memories found for agent "{agent}" matching "x".',
        "the text of a search that finds nothing",
    )


@topic.reads("batch:empty-is-success")
def empty_batch(case: Case) -> None:
    """A batch that finds nothing is a success."""
    agent = case.agent()
    payload = case.ok("memory_search_batch", agent_id=agent, queries=["x", " ", "y", "x"])
    queries = [one["query"] for one in payload["per_query"]]
    expect_equal(queries, ["x", "y", "x"], "the queries of a batch: blank ones skipped, order kept")
    facts = [one["facts"] for one in payload["per_query"]]
    wanted: Any = (0, [], [[], [], []])
    expect_equal((payload["count"], payload["merged"], facts), wanted, "an empty batch")


@topic.reads("confidence:metadata-on-request")
def metadata_on_request(case: Case) -> None:
    """`retrieval` is there when confidence was asked for, on empty results too."""
    agent = case.agent()
    for tool, rest in (("memory_search", _SEARCH), ("memory_search_batch", _BATCH)):
        for options, kg in (
            ({"confidence_weight": 0}, "hints_without_confidence_receipts"),
            ({"confidence_weight": 0.5}, "hints_without_confidence_receipts"),
            (
                {"min_confidence": "verified", "confidence_weight": 0.25},
                "suppressed_min_confidence",
            ),
        ):
            payload = case.ok(tool, agent_id=agent, **rest, **options)
            wanted = {"policy": "confidence-v1", "kg": kg, **options}
            expect_equal(payload.get("retrieval"), wanted, f"the retrieval of {tool}")
        plain = case.ok(tool, agent_id=agent, **rest)
        weight = plain.get("retrieval", {}).get("confidence_weight", 0.1)
        expect(weight != 0, f"{tool} shows a retrieval although confidence played no part")


@topic.reads("resume:absent-is-an-error")
def absence_is_an_error(case: Case) -> None:
    """Without a checkpoint, resume is a text-only error by default."""
    agent = case.agent()
    wanted = f'no checkpoint found for agent "{agent}": no checkpoints for agent "{agent}"'
    for options in ({}, {"on_missing": "error"}, {"on_missing": None}):
        found = case.refused("checkpoint_resume", agent_id=agent, **options)
        expect_equal(found, wanted, "the text of a resume without a checkpoint")


@topic.reads("resume:empty-on-request")
def empty_on_request(case: Case) -> None:
    """With `empty` it is a success that says `found: false`."""
    agent = case.agent()
    payload = case.ok("checkpoint_resume", agent_id=agent, on_missing="empty")
    expect_equal(payload, {"found": False, "agent_id": agent}, "a resume that may be empty")


@topic.reads("resume:on-missing-is-checked")
def on_missing_is_checked(case: Case) -> None:
    """Any other `on_missing` is refused."""
    agent = case.agent()
    for value in _BAD_MODES:
        case.refused("checkpoint_resume", agent_id=agent, on_missing=value)


@topic.reads("numbers:not-finite", streams_only=True)
def not_finite(case: Case) -> None:
    """A number that is not finite is refused."""
    agent = case.agent()
    for weight in (float("nan"), float("inf")):
        answer = case.session.call(
            "memory_search", {"agent_id": agent, "query": "x", "confidence_weight": weight}
        )
        is_refused = "error" in answer or answer["result"].get("isError") is True
        expect(is_refused, "a weight that is not finite is taken")


@topic.writes("add:needs")
def add_needs(case: Case) -> None:
    """An add needs `agent_id` and `text`; nothing is stored without."""
    agent = case.agent()
    expect("agent_id" in case.refused("memory_add", text="x"), "the error names agent_id")
    for text in (None, "", 7, ["x"]):
        found = case.refused("memory_add", agent_id=agent, text=text)
        expect("text" in found, "the error of an add does not name text")
    expect_equal(case.facts(agent), [], "what a refused add left behind")


@topic.writes("confidence:bad-labels")
def bad_labels(case: Case) -> None:
    """A bad label is refused and has no effect."""
    agent = case.agent()
    for label in _BAD_LABELS:
        case.refused("memory_add", agent_id=agent, text="x", confidence=label)
        case.refused("memory_reflect", action="add", agent_id=agent, text="x", confidence=label)
    expect_equal(case.facts(agent), [], "what a write with a bad label left behind")


@topic.writes("identity:bad-is-refused")
def bad_identities(case: Case) -> None:
    """A bad identity is refused for every action, even beside a good one."""
    agent = case.agent()
    for action in ("add", "update", "forget", "link", "pin", "unpin"):
        for bad in _BAD_NAMES:
            rest = {"action": action, "text": "x", "target": "x"}
            case.refused("memory_reflect", agent_id=bad, **rest)
            case.refused("memory_reflect", agent_id=agent, agent=bad, **rest)
        case.refused("memory_reflect", action=action, text="x", target="x")
    expect_equal(case.facts(agent), [], "what a reflect with a bad identity left behind")


@topic.writes("confidence:actions")
def labelled_actions(case: Case) -> None:
    """A label on pin, unpin, forget or link is refused."""
    agent = case.agent()
    case.add(agent, "A fact")
    for action in ("pin", "unpin", "forget", "link"):
        arguments = {"action": action, "target": "A fact", "text": "A fact"}
        case.refused("memory_reflect", agent_id=agent, **arguments, confidence="verified")
    expect_equal(case.facts(agent), ["A fact"], "the facts after refused actions")


@topic.writes("reflect:needs")
def reflect_needs(case: Case) -> None:
    """Reflect names what is missing for the action at hand."""
    agent = case.agent()
    case.refused("memory_reflect", agent_id=agent)
    case.refused("memory_reflect", agent_id=agent, action="erase")
    for action, rest, wanted in (
        ("add", {}, "text"),
        ("update", {"text": "x"}, "target"),
        ("update", {"target": "x"}, "text"),
        ("forget", {}, "target"),
        ("link", {"text": "x"}, "target"),
        ("link", {"target": "x"}, "text"),
        ("pin", {}, "target"),
        ("unpin", {}, "target"),
    ):
        text = case.refused("memory_reflect", agent_id=agent, action=action, **rest)
        expect(wanted in text, f"the error of {action} does not name {wanted}")


@topic.writes("text:not-text")
def not_text(case: Case) -> None:
    """A lone surrogate or U+0000 is refused."""
    agent = case.agent()
    for text in ("a\x00b", "a\ud800b"):
        case.refused("memory_add", agent_id=agent, text=text)
    expect_equal(case.facts(agent), [], "what text that is none left behind")


@topic.writes("alias:needs")
def alias_needs(case: Case) -> None:
    """An alias needs a term and an equivalent."""
    agent = case.agent()
    case.refused("memory_alias", agent_id=agent, term=" ", equivalents=["x"])
    for equivalents in ([], [" "], None, "x"):
        case.refused("memory_alias", agent_id=agent, term="t", equivalents=equivalents)
