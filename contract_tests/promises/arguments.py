"""Checkpoints, and what each tool makes of its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "resume:absent-is-an-error": Promise(
        "C16", "Without a checkpoint, resume is a text-only error by default."
    ),
    "resume:empty-on-request": Promise(
        "C17", "With `empty` it is a success that says `found: false`."
    ),
    "resume:on-missing-is-checked": Promise(
        "C18", "Any other `on_missing` is refused; null equals omission."
    ),
    "resume:same-in-every-mode": Promise(
        "C19", "A checkpoint gives the same payload in every mode."
    ),
    "resume:failures-are-errors": Promise(
        "C20", "A closed store and a damaged record are errors in both modes."
    ),
    "resume:never-an-unasked-empty": Promise(
        "C21",
        "Who does not ask for typed absence gets an error, never an empty success.",
        "the owner's half comes with the owner socket",
    ),
    "save:refuses-the-rest": Promise(
        "C22", "A state that is no object is refused and nothing is saved."
    ),
    "save:takes-an-object": Promise("C22", "A state is an object or a string that holds one."),
    "checkpoints:newest-wins": Promise(
        "section 7", "The newest of several is resumed; none is overwritten."
    ),
    "checkpoints:numbers-survive": Promise(
        "section 7", "Numbers in a state come back as they went in."
    ),
    "checkpoints:text-tells-the-payload": Promise("3.6", "The text of a resume tells its payload."),
    "checkpoints:message-count": Promise(
        "3.6", "Messages are counted, absent when there are none."
    ),
    "checkpoints:needs": Promise("3.5", "Checkpoints need an agent."),
    "add:needs": Promise(
        "C23", "An add needs `agent_id` and `text`; a missing one is a text-only error."
    ),
    "add:blank-text-is-text": Promise("3.4", "Blank text is stored as sent."),
    "search:needs": Promise("C24", "A search needs `agent_id` and `query`."),
    "search:top-k-spellings": Promise("C24", "`top_k` is read as a number, or left out."),
    "inputs:unknown-arguments": Promise("C24", "An unknown argument changes nothing, on any tool."),
    "search:explain-spellings": Promise("3.1", "`explain` is read as a boolean, or left out."),
    "search:blank-query": Promise("3.2", "A query without words gives the newest facts."),
    "search:empty-is-success": Promise(
        "C25", "A search that finds nothing is a success with an empty list."
    ),
    "reflect:needs": Promise("C26", "Reflect names what is missing for the action at hand."),
    "reflect:link": Promise(
        "C27", "A link makes an edge on our store, and is refused where there is no graph."
    ),
    "reflect:target-wins": Promise("C28", "Forget takes text or target, and target wins."),
    "identity:bad-is-refused": Promise(
        "C29", "A bad identity is refused for every action before anything is touched."
    ),
    "identity:tool-error": Promise(
        "C30",
        "A bad identity is a tool error, not a protocol error.",
        "HTTP comes with its transport",
    ),
    "identity:byte-exact": Promise("C31", "Good identities are kept byte for byte."),
    "identity:agent-id-wins": Promise("C32", "`agent_id` wins over `agent`."),
    "identity:agent-alone": Promise(
        "C32", "`agent` alone drives every action; the result names the namespace."
    ),
    "confidence:bad-labels": Promise("C33", "A bad label is refused and has no effect."),
    "confidence:bad-filters": Promise("C33", "A bad filter or weight is refused by both searches."),
    "confidence:actions": Promise("C34", "A label on pin, unpin, forget or link is refused."),
    "confidence:misplaced": Promise("3.1", "A confidence option on a tool without it is refused."),
    "batch:needs": Promise("3.3", "A batch needs a query that is not blank."),
    "batch:blank-queries": Promise("3.3", "Blank queries are skipped, others kept as sent."),
    "alias:needs": Promise("3.4", "An alias needs a term and an equivalent."),
    "inputs:deep-nesting": Promise("issue:2", "Arguments nested very deep are answered."),
    "text:faithful": Promise("issue:2", "Odd text is stored byte for byte."),
    "text:huge": Promise("issue:2", "A text of 20 MB is stored whole."),
    "text:not-text": Promise("3.1", "A lone surrogate or U+0000 is refused by name."),
    "text:bad-bytes": Promise("wire:6", "Bytes that are no UTF-8 do not end the connection."),
    "numbers:not-finite": Promise("wire:4", "A number that is not finite is refused."),
}
