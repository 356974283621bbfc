"""Mutants that do something else than they were asked."""

from __future__ import annotations

import math
import unicodedata
from typing import TYPE_CHECKING, Any, Final

from contract_tests.mutants.mutant import Message, Mutant, arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SEARCH: Final = "memory_search"
_REFLECT: Final = "memory_reflect"


def _map(key: str, change: Callable[[Any], Any]) -> Callable[[Message], None]:
    def of(sent: Message) -> None:
        if key in sent:
            sent[key] = change(sent[key])

    return of


def _text(change: Callable[[str], str]) -> Callable[[Any], Any]:
    return lambda value: change(value) if isinstance(value, str) else value


def _drop(*keys: str) -> Callable[[Message], None]:
    def of(sent: Message) -> None:
        for key in keys:
            sent.pop(key, None)

    return of


def _drop_bad(key: str, *good: Any) -> Callable[[Message], None]:
    def of(sent: Message) -> None:
        if key in sent and not any(sent[key] is one or sent[key] == one for one in good):
            del sent[key]

    return of


def _clamp(sent: Message) -> None:
    weight = sent.get("confidence_weight")
    if isinstance(weight, (int, float)) and not isinstance(weight, bool):
        sent["confidence_weight"] = min(max(weight, 0), 0.5)


def _finite(sent: Message) -> None:
    weight = sent.get("confidence_weight")
    if isinstance(weight, float) and not math.isfinite(weight):
        del sent["confidence_weight"]


def _refuse_unknown(sent: Message) -> None:
    if "namespace" in sent:
        del sent["query"]


def _empty_by_default(sent: Message) -> None:
    sent.setdefault("on_missing", "empty")


def _moved(sent: Message) -> None:
    if "namespace" in sent:
        sent["agent_id"] = sent["namespace"]


def _agent_wins(sent: Message) -> None:
    if "agent" in sent:
        sent["agent_id"] = sent["agent"]


def _good_agent(sent: Message) -> None:
    if not isinstance(sent.get("agent", ""), str) or not sent.get("agent", "x").strip():
        del sent["agent"]


def _label_dropped(sent: Message) -> None:
    if sent.get("action") in ("pin", "unpin", "forget", "link"):
        sent.pop("confidence", None)


def _update_adds(sent: Message) -> None:
    if sent.get("action") == "update":
        sent["action"] = "add"
        sent["confidence"] = "inferred"


def _forget_pins(sent: Message) -> None:
    if sent.get("action") == "forget":
        sent["action"] = "pin"


def _text_wins(sent: Message) -> None:
    if sent.get("action") == "forget" and "text" in sent:
        sent.pop("target", None)


def _link_stores(sent: Message) -> None:
    if sent.get("action") == "link":
        sent["action"] = "add"


def _blank_named(sent: Message) -> None:
    if isinstance(sent.get("agent_id"), str) and not sent["agent_id"].strip():
        sent["agent_id"] = "nobody"


def _blank_term(sent: Message) -> None:
    if not str(sent.get("term", "")).strip():
        sent["term"] = "term"


def _other_words(sent: Message) -> None:
    if sent.get("term") == "ship" and sent.get("equivalents") == ["rollback"]:
        sent["equivalents"] = ["unrelated"]


def _plain_state(sent: Message) -> None:
    if not isinstance(sent.get("state"), (str, dict)):
        sent.pop("state", None)


def _without_key(request: Message) -> Message:
    params: Message = request["params"] if request.get("params") else {}
    meta: Message = {
        key: value for key, value in params.get("_meta", {}).items() if "key" not in key
    }
    return {**request, "params": {**params, "_meta": meta}} if "_meta" in params else request


MUTANTS: Final[Sequence[Mutant]] = [
    arguments("agent-trimmed", "identity:byte-exact", "*", _map("agent_id", _text(str.strip))),
    arguments("agent-folded", "identity:byte-exact", "*", _map("agent_id", _text(str.casefold))),
    arguments(
        "agent-normalised",
        "identity:byte-exact",
        "*",
        _map("agent_id", _text(lambda text: unicodedata.normalize("NFC", text))),
    ),
    arguments("scope-moved", "identity:scopes-apart", "memory_add", _moved),
    arguments("agent-wins", "identity:agent-id-wins", _REFLECT, _agent_wins),
    arguments("agent-unchecked", "identity:bad-is-refused", _REFLECT, _good_agent),
    arguments("blank-namespace", "identity:blank-namespace", _SEARCH, _blank_named),
    arguments(
        "label-unchecked",
        "confidence:bad-labels",
        "memory_add",
        _drop_bad("confidence", "verified", "inferred", "unverified"),
    ),
    arguments(
        "filter-unchecked",
        "confidence:bad-filters",
        _SEARCH,
        _drop_bad("min_confidence", "verified", "inferred", "unverified"),
    ),
    arguments("weight-clamped", "confidence:bad-filters", _SEARCH, _clamp),
    arguments("weight-infinite", "numbers:not-finite", _SEARCH, _finite),
    arguments("filter-ignored", "confidence:filter-first", _SEARCH, _drop("min_confidence")),
    arguments(
        "batch-unfiltered",
        "batch:options-for-all",
        "memory_search_batch",
        _drop("min_confidence"),
    ),
    arguments("label-ignored", "confidence:actions", _REFLECT, _label_dropped),
    arguments("option-misplaced", "confidence:misplaced", _SEARCH, _drop("confidence")),
    arguments("unknown-refused", "inputs:unknown-arguments", _SEARCH, _refuse_unknown),
    arguments(
        "empty-by-default", "resume:absent-is-an-error", "checkpoint_resume", _empty_by_default
    ),
    arguments(
        "on-missing-unchecked",
        "resume:on-missing-is-checked",
        "checkpoint_resume",
        lambda sent: sent.update(on_missing="empty"),
    ),
    arguments("top-k-ignored", "search:top-k-spellings", _SEARCH, _drop("top_k")),
    arguments("text-trimmed", "text:faithful", "memory_add", _map("text", _text(str.strip))),
    arguments(
        "text-repaired",
        "text:not-text",
        "memory_add",
        _map("text", _text(lambda text: text.replace("\x00", ""))),
    ),
    arguments("alias-unchecked", "alias:needs", "memory_alias", _blank_term),
    arguments("alias-elsewhere", "alias:widens", "memory_alias", _other_words),
    arguments("update-adds", "reflect:update-retires", _REFLECT, _update_adds),
    arguments("forget-pins", "reflect:retired-never-return", _REFLECT, _forget_pins),
    arguments("target-loose", "reflect:not-found", _REFLECT, _map("target", _text(str.strip))),
    arguments("text-wins", "reflect:target-wins", _REFLECT, _text_wins),
    arguments("link-stores", "reflect:link", _REFLECT, _link_stores),
    arguments("state-unchecked", "save:refuses-the-rest", "checkpoint_save", _plain_state),
    Mutant(name="key-ignored", breaks="writes:exactly-once", on_request=_without_key),
]
