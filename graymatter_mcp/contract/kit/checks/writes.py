"""Writing: what an acknowledged write means."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from graymatter_mcp.contract.kit.case import expect, expect_equal
from graymatter_mcp.contract.kit.check import Topic
from graymatter_mcp.contract.wire.session import reply_of

if TYPE_CHECKING:
    from graymatter_mcp.contract.kit.case import Case

topic = Topic()

_ODD = (
    " spaces around ",
    "line\nbreak\ttab",
    "emoji 🧠 and 漢字 and e\u0301",
    "quotes \" and ' and \\",
    "\u2028\u0085\u200b",
)


@topic.writes("confidence:write-payload")
def write_payload(case: Case) -> None:
    """A labelled write returns its id and label; an unlabelled one neither."""
    agent = case.agent()
    (plain,) = case.add(agent, "Plain")
    expect_equal(plain, {"agent_id": agent, "stored": True}, "the payload of a plain add")
    for label in ("verified", "inferred", "unverified"):
        (labelled,) = case.add(agent, f"A {label} fact", confidence=label)
        fact_id = labelled.get("fact_id")
        expect(isinstance(fact_id, str) and fact_id, "a labelled add returns no id")
        expect_equal(labelled.get("confidence"), label, "the label of a labelled add")
        ids = {one["text"]: one["provenance"]["fact_id"] for one in case.receipts(agent)}
        expect_equal(ids[f"A {label} fact"], fact_id, "the id that a search shows")


@topic.writes("add:text-tells-the-payload")
def add_text(case: Case) -> None:
    """The text of an add tells its payload."""
    agent = case.agent()
    case.written[agent] = {"One", "Two"}
    reply = case.reply("memory_add", {"agent_id": agent, "text": "One"})
    expect_equal(reply.text, f'Memory stored for agent "{agent}".', "the text of an add")
    arguments = {"agent_id": agent, "text": "Two", "confidence": "verified"}
    reply = case.reply("memory_add", arguments)
    fact_id = reply.structured["fact_id"]
    wanted = f'Memory stored for agent "{agent}". Confidence verified; fact_id {fact_id}.'
    expect_equal(reply.text, wanted, "the text of a labelled add")


@topic.writes("text:faithful")
def faithful(case: Case) -> None:
    """Odd text is stored byte for byte."""
    agent = case.agent()
    case.add(agent, *_ODD)
    expect_equal(sorted(case.facts(agent)), sorted(_ODD), "odd texts")


@topic.writes("writes:same-text-twice")
def same_text_twice(case: Case) -> None:
    """The same text twice is two facts."""
    agent = case.agent()
    one, other = case.add(agent, "Twice", "Twice", confidence="verified")
    expect(one["fact_id"] != other["fact_id"], "the same text twice is one fact")


@topic.writes("writes:exactly-once")
def exactly_once(case: Case) -> None:
    """A call that is delivered twice under one key takes effect once and gives one answer."""
    agent = case.agent()
    arguments = {"agent_id": agent, "text": "Once", "confidence": "verified"}
    case.written[agent] = {"Once"}
    meta = {"graymatter/idempotency_key": secrets.token_hex(16)}
    first, again = (case.session.call("memory_add", arguments, dict(meta)) for _ in range(2))
    one, other = (case.checked("memory_add", reply_of(answer)) for answer in (first, again))
    expect_equal(other.structured, one.structured, "the answer to the second delivery")


@topic.writes("identity:byte-exact")
def byte_exact(case: Case) -> None:
    """Namespaces are kept byte for byte."""
    agent = case.agent()
    names = [agent, f" {agent}", f"{agent} ", agent.upper(), f"{agent}\u00e9", f"{agent}e\u0301"]
    for name in names:
        case.add(name, f"Of {name!r}")
    for name in names:
        expect_equal(case.facts(name), [f"Of {name!r}"], "the facts of a namespace")
        answer = case.ok("memory_search", agent_id=name, query="of")
        expect_equal(answer["agent_id"], name, "the namespace in an answer")


@topic.writes("identity:scopes-apart")
def unknown_arguments_never_move_a_write(case: Case) -> None:
    """An argument that a tool does not know never changes the scope."""
    agent, other = case.agent(), case.agent()
    case.written[agent].add("Here")
    case.ok("memory_add", agent_id=agent, text="Here", namespace=other, agentId=other)
    found = (case.facts(agent), case.facts(other))
    wanted: tuple[list[str], list[str]] = (["Here"], [])
    expect_equal(found, wanted, "the two namespaces")
