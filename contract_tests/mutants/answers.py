"""Mutants that answer wrongly."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Final

from contract_tests.mutants.mutant import (
    Message,
    Mutant,
    failure,
    payload,
    receipts,
    result,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SEARCH: Final = "memory_search"
_BATCH: Final = "memory_search_batch"
_REFLECT: Final = "memory_reflect"
_RESUME: Final = "checkpoint_resume"


def _set(key: str, value: Any) -> Callable[[Message, Message], None]:
    def change(found: Message, sent: Message) -> None:
        del sent
        found[key] = value

    return change


def _drop(key: str) -> Callable[[Message, Message], None]:
    def change(found: Message, sent: Message) -> None:
        del sent
        found.pop(key, None)

    return change


def _reverse(key: str) -> Callable[[Message, Message], None]:
    def change(found: Message, sent: Message) -> None:
        del sent
        if found.get(key):
            found[key].reverse()

    return change


def _text(new: str) -> Callable[[Message, Message], None]:
    def change(found: Message, sent: Message) -> None:
        del sent
        found["content"][0]["text"] = new

    return change


def _error_text(new: str) -> Callable[[Message], None]:
    def change(found: Message) -> None:
        found["content"][0]["text"] = new

    return change


def _two_items(found: Message, sent: Message) -> None:
    del sent
    found["content"] *= 2


def _with_structure(found: Message) -> None:
    found["structuredContent"] = {"error": "no"}


def _as_success(found: Message) -> None:
    found["isError"] = False


def _as_error(found: Message, sent: Message) -> None:
    del sent
    if found.get("structuredContent", {}).get("count") == 0:
        del found["structuredContent"]
        found["isError"] = True


def _as_protocol_error(request: Message, answer: Message) -> Message:
    if request["method"] == "tools/call" and answer.get("result", {}).get("isError"):
        del answer["result"]
        answer["error"] = {"code": -32603, "message": "Internal error"}
    return answer


def _count(found: Message, sent: Message) -> None:
    del sent
    found["count"] += 1


def _retrieval(found: Message, sent: Message) -> None:
    del sent
    kg = "hints_without_confidence_receipts"
    found.setdefault("retrieval", {"confidence_weight": 0, "policy": "confidence-v1", "kg": kg})


def _not_a_prefix(found: Message, sent: Message) -> None:
    if sent.get("top_k") == 4:
        found["facts"].reverse()


def _one_more(found: Message, sent: Message) -> None:
    if sent.get("top_k") == 3 and found["facts"]:
        found["facts"].append("One more")
        found["count"] += 1


def _repeat(found: Message, sent: Message) -> None:
    del sent
    if found["facts"]:
        found["facts"].append(found["facts"][0])
        found["count"] += 1


def _alias_shown(found: Message, sent: Message) -> None:
    if sent["query"] == " ":
        found["facts"].append("alias: ship = rollback")


def _vague_feedback(found: Message, sent: Message) -> None:
    del sent
    if "feedback" in found:
        found["feedback"] = found["feedback"].replace("memory_alias", "an alias")


def _rotate(found: Message, sent: Message) -> None:
    del sent
    found["facts"] = found["facts"][1:] + found["facts"][:1]


_looks: Final = count()


def _late(found: Message, sent: Message) -> None:
    del sent
    if next(_looks) == 1:
        found["facts"] = []
        found["count"] = 0


def _of_each(change: Callable[[Message], None]) -> Callable[[list[Message], Message], None]:
    def of_all(found: list[Message], sent: Message) -> None:
        del sent
        for receipt in found:
            change(receipt)

    return of_all


def _other_k(receipt: Message) -> None:
    ranks = receipt["ranks"]
    ranks["fused_score"] = ranks["fused_score"] * 60 / 61


def _said_k(receipt: Message) -> None:
    receipt["ranks"]["k"] = 61


def _no_recency(receipt: Message) -> None:
    receipt["ranks"]["recency_rank"] = 0


def _shifted(receipt: Message) -> None:
    if receipt["ranks"]["keyword_rank"]:
        receipt["ranks"]["keyword_rank"] += 1


def _swap_last(found: list[Message], sent: Message) -> None:
    del sent
    found[-2:] = found[-2:][::-1]


_times: Final = count()


def _sometimes(found: list[Message], sent: Message) -> None:
    if sent["query"] != "settled" and next(_times) % 2:
        found.reverse()


def _filter_late(found: list[Message], sent: Message) -> None:
    if "min_confidence" in sent:
        for receipt in found:
            receipt["ranks"]["recency_rank"] += 1


def _unweighed(receipt: Message) -> None:
    if "ranking" in receipt:
        receipt["ranking"]["final_score"] = receipt["ranking"]["base_score"]


def _other_factor(receipt: Message) -> None:
    if "ranking" in receipt:
        receipt["ranking"]["factor"] = 1.0


def _whole_seconds(receipt: Message) -> None:
    written = receipt["provenance"]["written_at"]
    receipt["provenance"]["written_at"] = written.partition(".")[0] + "Z"


def _unpinned(receipt: Message) -> None:
    receipt["provenance"].setdefault("pinned", False)


def _pin_hidden(receipt: Message) -> None:
    receipt["provenance"].pop("pinned", None)


def _line_reversed(receipt: Message) -> None:
    if receipt["provenance"].get("supersedes"):
        receipt["provenance"]["supersedes"].reverse()


def _line_lost(receipt: Message) -> None:
    receipt["provenance"].pop("supersedes", None)


def _alphabetical(found: Message, sent: Message) -> None:
    del sent
    found["merged"] = sorted(found["merged"])


def _blank_kept(found: Message, sent: Message) -> None:
    if " " in sent["queries"]:
        found["per_query"].append({"query": " ", "facts": []})


def _id_unasked(found: Message, sent: Message) -> None:
    if "confidence" not in sent:
        found["fact_id"] = "01J00000000000000000000000"


_first_id: dict[str, str] = {}


def _deduplicated(found: Message, sent: Message) -> None:
    if "fact_id" in found:
        found["fact_id"] = _first_id.setdefault(sent["text"], found["fact_id"])


def _other_key(found: Message, sent: Message) -> None:
    del sent
    found["agent_id"] = found.pop("agent")


def _raised(found: Message, sent: Message) -> None:
    if sent["action"] == "update":
        found["confidence"] = "verified"


def _rounded(found: Message, sent: Message) -> None:
    del sent
    if "big" in found.get("state", {}):
        found["state"]["big"] = 9007199254740992


def _older(found: Message, sent: Message) -> None:
    del sent
    if "step" in found.get("state", {}):
        found["state"]["step"] = 0


def _state_shown(found: Message, sent: Message) -> None:
    del sent
    if "id" in found:
        found.setdefault("state", {})


def _found_anyway(found: Message, sent: Message) -> None:
    del sent
    if "found" in found:
        found["found"] = True


MUTANTS: Final[Sequence[Mutant]] = [
    result("structure-dropped", "search:empty-is-success", _SEARCH, _drop("structuredContent")),
    payload("key-added", "search:payload", _SEARCH, _set("took_ms", 3)),
    payload("null-added", "search:payload", _SEARCH, _set("feedback", None)),
    result("two-items", "search:payload", _SEARCH, _two_items),
    result("no-items", "search:payload", _SEARCH, _set("content", [])),
    payload("count-wrong", "search:payload", _SEARCH, _count),
    payload("query-trimmed", "search:payload", _SEARCH, _set("query", "Frankfurt")),
    failure("error-with-structure", "search:needs", _with_structure),
    failure("error-with-trace", "search:needs", _error_text("Traceback (most recent call last)")),
    failure("error-with-path", "batch:needs", _error_text("cannot open /usr/lib/store")),
    failure("error-as-success", "add:needs", _as_success),
    failure("error-unspecific", "reflect:needs", _error_text("it failed")),
    failure("absence-reworded", "resume:absent-is-an-error", _error_text("nothing here")),
    Mutant(name="error-as-protocol-error", breaks="search:needs", on_answer=_as_protocol_error),
    result("empty-as-error", "search:empty-is-success", _SEARCH, _as_error),
    result("empty-reworded", "search:empty-is-success", _SEARCH, _text("Nothing.")),
    payload("retrieval-always", "confidence:metadata-on-request", _BATCH, _retrieval),
    payload("retrieval-never", "confidence:metadata-on-request", _SEARCH, _drop("retrieval")),
    payload("absence-found", "resume:empty-on-request", _RESUME, _found_anyway),
    payload("facts-reversed", "search:blank-query", _SEARCH, _reverse("facts")),
    result("text-of-another", "search:text-tells-the-payload", _SEARCH, _text("Found 9.")),
    payload("explained-reversed", "search:explain-same-order", _SEARCH, _reverse("explained")),
    payload("one-more", "search:top-k-spellings", _SEARCH, _one_more),
    payload("no-prefix", "search:smaller-is-a-prefix", _SEARCH, _not_a_prefix),
    payload("fact-repeated", "search:repeated-texts", _SEARCH, _repeat),
    payload("feedback-dropped", "search:weak-match", _SEARCH, _drop("feedback")),
    payload("feedback-vague", "search:weak-match", _SEARCH, _vague_feedback),
    payload("alias-shown", "alias:widens", _SEARCH, _alias_shown),
    payload("alias-lost", "alias:payload", "memory_alias", _set("equivalents", None)),
    payload("identifier-second", "search:identifiers-first", _SEARCH, _rotate),
    payload("found-late", "found:at-once", _SEARCH, _late),
    receipts("other-k", "order:reproducible-scores", _of_each(_other_k)),
    receipts("other-k-said", "order:reproducible-scores", _of_each(_said_k)),
    receipts("recency-unranked", "order:recency-ranks", _of_each(_no_recency)),
    receipts("ranks-from-two", "order:recency-ranks", _of_each(_shifted)),
    receipts("order-broken", "order:total", _swap_last),
    receipts("order-unstable", "order:repeatable", _sometimes),
    receipts("filter-late", "order:worked-examples", _filter_late),
    receipts("confidence-unweighed", "confidence:factors", _of_each(_unweighed)),
    receipts("factor-wrong", "confidence:factors", _of_each(_other_factor)),
    receipts("time-coarse", "order:receipt-forms", _of_each(_whole_seconds)),
    receipts("pin-always-shown", "order:receipt-forms", _of_each(_unpinned)),
    receipts("pin-hidden", "reflect:pins", _of_each(_pin_hidden)),
    receipts("lineage-reversed", "reflect:lineage", _of_each(_line_reversed)),
    receipts("lineage-lost", "reflect:update-to-same-text", _of_each(_line_lost)),
    payload("batch-reversed", "batch:each-as-alone", _BATCH, _reverse("per_query")),
    payload("merged-by-alphabet", "batch:merge", _BATCH, _alphabetical),
    payload("blank-kept", "batch:empty-is-success", _BATCH, _blank_kept),
    payload("id-unasked", "confidence:write-payload", "memory_add", _id_unasked),
    payload("label-lost", "confidence:write-payload", "memory_add", _drop("confidence")),
    result("add-reworded", "add:text-tells-the-payload", "memory_add", _text("Done.")),
    payload("deduplicated", "writes:same-text-twice", "memory_add", _deduplicated),
    payload("other-key", "reflect:outcomes", _REFLECT, _other_key),
    payload("label-raised", "reflect:update-never-raises", _REFLECT, _raised),
    payload("state-rounded", "checkpoints:numbers-survive", _RESUME, _rounded),
    payload("older-resumed", "checkpoints:newest-wins", _RESUME, _older),
    payload("state-always-shown", "save:takes-an-object", _RESUME, _state_shown),
    result("resume-reworded", "checkpoints:text-tells-the-payload", _RESUME, _text("Restored.")),
]
