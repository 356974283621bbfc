"""Curation: what each action of reflect changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graymatter_mcp.contract.kit.case import expect, expect_equal
from graymatter_mcp.contract.kit.check import Topic

if TYPE_CHECKING:
    from graymatter_mcp.contract.kit.case import Case

topic = Topic()


def _provenance(case: Case, agent: str, text: str) -> dict[str, Any]:
    found = {one["text"]: one["provenance"] for one in case.receipts(agent)}
    expect(text in found, "a fact that was written is not found")
    return found[text]


def _everywhere(case: Case, agent: str, query: str) -> set[str]:
    """Return what a plain, an explained and a batched search find."""
    batch = case.ok("memory_search_batch", agent_id=agent, queries=[query], top_k=1000)
    explained = {one["text"] for one in case.receipts(agent, query)}
    return {*case.facts(agent, query), *explained, *batch["merged"]}


@topic.writes("reflect:outcomes")
def outcomes(case: Case) -> None:
    """Each action tells its outcome under the resolved namespace."""
    agent = case.agent()
    added = case.reflect("add", agent, text="One")
    expect_equal(added, {"action": "add", "agent": agent, "ok": True}, "the payload of add")
    labelled = case.reflect("add", agent, text="Two", confidence="verified")
    expect_equal(labelled.get("confidence"), "verified", "the label of a labelled add")
    expect(labelled.get("fact_id"), "a labelled add returns no id")
    updated = case.reflect("update", agent, target="One", text="One, newer")
    expect_equal(updated.get("confidence"), "inferred", "the label of an update")
    expect(updated.get("fact_id"), "an update returns no id")
    for action in ("pin", "unpin", "forget"):
        done = case.reflect(action, agent, target="Two")
        wanted = {"action": action, "agent": agent, "ok": True}
        expect_equal(done, wanted, f"the payload of {action}")


@topic.writes("reflect:update-retires")
def update_retires(case: Case) -> None:
    """An update replaces: the new text is found, the old one nowhere, and the line is kept."""
    agent = case.agent()
    (old,) = case.add(agent, "Port 8080 is open", confidence="verified")
    case.reflect("update", agent, target="Port 8080 is open", text="Port 9090 is open")
    expect_equal(_everywhere(case, agent, "port open"), {"Port 9090 is open"}, "what is found")
    new = _provenance(case, agent, "Port 9090 is open")
    expect_equal(new.get("supersedes"), [old["fact_id"]], "what the new fact supersedes")


@topic.writes("reflect:lineage")
def lineage(case: Case) -> None:
    """Lineage is transitive, nearest first."""
    agent = case.agent()
    (first,) = case.add(agent, "Version 1", confidence="verified")
    second = case.reflect("update", agent, target="Version 1", text="Version 2")
    case.reflect("update", agent, target="Version 2", text="Version 3")
    newest = _provenance(case, agent, "Version 3")
    wanted = [second["fact_id"], first["fact_id"]]
    expect_equal(newest.get("supersedes"), wanted, "the lineage of the third version")


@topic.writes("reflect:retired-never-return")
def retired_never_return(case: Case) -> None:
    """A forgotten text is in no search, plain, explained or batched."""
    agent = case.agent()
    case.add(agent, "Kept for long", "Gone for good")
    case.reflect("forget", agent, target="Gone for good")
    expect_equal(_everywhere(case, agent, "gone for good"), {"Kept for long"}, "what is found")


@topic.writes("reflect:not-found")
def not_found(case: Case) -> None:
    """A target is found by its exact text only, and only while it lives."""
    agent = case.agent()
    case.add(agent, "An exact text")
    for target in ("an exact text", "An exact", " An exact text"):
        for action in ("forget", "pin", "unpin"):
            case.refused("memory_reflect", action=action, agent_id=agent, target=target)
        case.refused("memory_reflect", action="update", agent_id=agent, target=target, text="x")
    case.reflect("forget", agent, target="An exact text")
    arguments = {"action": "forget", "agent_id": agent, "target": "An exact text"}
    case.refused("memory_reflect", **arguments)


@topic.writes("reflect:target-wins")
def target_wins(case: Case) -> None:
    """Forget takes text or target, and target wins."""
    agent = case.agent()
    case.add(agent, "First", "Second", "Third")
    case.reflect("forget", agent, text="First")
    case.reflect("forget", agent, target="Second", text="Third")
    expect_equal(case.facts(agent), ["Third"], "what is left")


@topic.writes("reflect:update-to-same-text")
def update_to_same_text(case: Case) -> None:
    """An update to the same text leaves one new live fact."""
    agent = case.agent()
    case.add(agent, "The same", "The same")
    updated = case.reflect("update", agent, target="The same", text="The same")
    receipts = case.receipts(agent)
    expect_equal([one["text"] for one in receipts], ["The same"], "what is left")
    provenance = receipts[0]["provenance"]
    expect_equal(provenance["fact_id"], updated["fact_id"], "the fact that is left")
    expect_equal(len(provenance.get("supersedes") or []), 2, "how many it supersedes")


@topic.writes("reflect:update-never-raises")
def update_never_raises(case: Case) -> None:
    """An update without a label never raises confidence; the replacement is unpinned."""
    agent = case.agent()
    for before, sent, after in (
        ("verified", None, "inferred"),
        ("unverified", None, "unverified"),
        ("inferred", None, "inferred"),
        ("unverified", "verified", "verified"),
    ):
        text = f"Was {before}, sent {sent}"
        case.add(agent, text, confidence=before)
        case.reflect("pin", agent, target=text)
        label = {} if sent is None else {"confidence": sent}
        updated = case.reflect("update", agent, target=text, text=f"{text}, new", **label)
        expect_equal(updated.get("confidence"), after, f"the label of an update of {before}")
        found = _provenance(case, agent, f"{text}, new")
        expect("pinned" not in found, "the replacement of a pinned fact is pinned")


@topic.writes("reflect:pins")
def pins(case: Case) -> None:
    """A pin shows and goes; twice is as once."""
    agent = case.agent()
    case.add(agent, "Forever")
    for action, wanted in (("pin", True), ("pin", True), ("unpin", None), ("unpin", None)):
        case.reflect(action, agent, target="Forever")
        expect_equal(_provenance(case, agent, "Forever").get("pinned"), wanted, f"after {action}")


@topic.writes("reflect:link")
def link(case: Case) -> None:
    """A link makes an edge and stores no fact."""
    agent = case.agent()
    done = case.reflect("link", agent, target="Vault", text="Security crew")
    expect_equal(done, {"action": "link", "agent": agent, "ok": True}, "the payload of link")
    expect_equal(case.facts(agent), [], "the facts after a link")


@topic.writes("identity:agent-id-wins")
def agent_id_wins(case: Case) -> None:
    """`agent_id` wins over `agent`, which alone drives every action."""
    agent, other = case.agent(), case.agent()
    case.written[agent].add("Mine")
    done = case.ok("memory_reflect", action="add", agent_id=agent, agent=other, text="Mine")
    expect_equal(done["agent"], agent, "the namespace of the answer")
    found = (case.facts(agent), case.facts(other))
    wanted: tuple[list[str], list[str]] = (["Mine"], [])
    expect_equal(found, wanted, "the two namespaces")
    case.written[other].add("Theirs")
    done = case.ok("memory_reflect", action="add", agent=other, text="Theirs")
    expect_equal((done["agent"], case.facts(other)), (other, ["Theirs"]), "agent alone")
