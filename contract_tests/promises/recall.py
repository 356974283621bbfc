"""Recall: what comes, in which order, and what is said beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "search:explain-same-order": Promise(
        "C43", "Explain gives the same facts in the same order as plain recall."
    ),
    "order:reproducible-scores": Promise(
        "C44", "A fused score reproduces from the ranks to 1e-12."
    ),
    "order:worked-examples": Promise(
        "C44",
        "Examples 2 to 4 hold as written.",
        "examples 1, 5 and 6 need ranks that no client can bring about: tests/ranking",
    ),
    "vectors:scores": Promise("C44", "With the real model too."),
    "order:keyword-only-ranks": Promise(
        "C45", "Keyword-only, every vector rank is 0; every recency rank is 1 or more."
    ),
    "search:explain-is-bounded": Promise(
        "C46",
        "Explain answers with as many receipts as were asked for.",
        "its cost is measured in bench/",
    ),
    "order:repeatable": Promise(
        "C47", "The same recall on an unchanged store is equal byte for byte."
    ),
    "order:blind-to-insertion": Promise("C47", "The order of insertion changes nothing."),
    "search:unseen-agent": Promise("C48", "An agent never seen gives an empty success."),
    "scopes:retired-nowhere": Promise(
        "C49", "A retired fact comes back in no scope, and still decays and is pruned."
    ),
    "facts:defaults-are-absent": Promise(
        "C50",
        "A record without the newer fields is live, unpinned, legacy-inferred content.",
        "reading old records comes with import",
    ),
    "search:raw-top-k": Promise("C51", "A raw recall of 0 is empty; the option-aware one uses 8."),
    "order:mirror-or-none": Promise(
        "C52", "A fresh start answers as the running store did, stemming on and off."
    ),
    "confidence:factors": Promise("C53", "Factors follow the label in effect."),
    "confidence:configured-weight": Promise(
        "C54", "A configured weight shows; an explicit 0 overrides it and keeps the filter."
    ),
    "batch:options-for-all": Promise("C55", "Options of a batch apply to every query."),
    "batch:each-as-alone": Promise("C55", "Each query of a batch ranks as it would alone."),
    "batch:merge": Promise("C55", "The merge drops duplicates and follows example 8."),
    "batch:failures-stay-apart": Promise("C55", "A query that fails leaves the others."),
    "scopes:recall-all": Promise("C56", "Agent and shared rankings are fused as in example 7."),
    "search:identifiers-first": Promise(
        "C57", "An identifier typed exactly finds its fact first among 1,000 others."
    ),
    "settings:by-field": Promise("C58", "Each setting that touches recall works alone, by field."),
    "settings:by-variable": Promise(
        "C58", "Each setting that touches recall works alone, by variable."
    ),
    "settings:bad-values": Promise("11.5", "A bad value is an error that names the variable."),
    "order:total": Promise("5.6", "Equal scores come oldest first, then by id."),
    "order:floor": Promise("5.7", "The floor ends the list below a share of the best score."),
    "order:confidence": Promise("5.5", "Equal labels never change the order."),
    "order:recency-only": Promise("5.4", "A list that is switched off keeps its rank."),
    "search:compounds": Promise(
        "ADR 0061",
        "A word that no fact holds finds the compounds that begin or end with it, and a compound"
        " the facts that hold its parts; the match is weak all the same.",
    ),
    "search:repeated-texts": Promise("5.7", "A text comes once."),
    "search:smaller-is-a-prefix": Promise("5.3", "A smaller `top_k` gives a prefix."),
    "search:budget": Promise("2.5", "An answer beyond the budget says what it left out."),
    "search:weak-match": Promise(
        "5.10", "A weak match names the words of the store, as in example 9."
    ),
    "search:text-tells-the-payload": Promise("3.2", "The text of a search tells its payload."),
    "batch:empty-is-success": Promise("3.3", "A batch that finds nothing is a success."),
    "batch:text-tells-the-payload": Promise("3.3", "The text of a batch tells its payload."),
    "facts:access-is-counted": Promise("3.2", "Each returned fact is counted as read."),
    "confidence:filter-first": Promise(
        "4.4", "A filter keeps what is declared at least this strongly."
    ),
    "confidence:metadata-on-request": Promise(
        "3.2", "`retrieval` is there exactly when confidence played a part."
    ),
    "vectors:meaning": Promise("5.3", "A fact is found by meaning."),
    "vectors:own-model": Promise(
        "issue:6", "With a multilingual model by setting a fact is found in another language."
    ),
    "vectors:filter-first": Promise("5.1", "A filter takes facts out of the vector list too."),
    "vectors:degraded-is-said": Promise("2.5", "An answer without vectors says so."),
    "alias:payload": Promise("3.4", "An alias returns the pair as sent."),
    "alias:widens": Promise("8.4", "An alias widens queries, back only between single words."),
    "alias:never-a-result": Promise("8.4", "An alias is never a result."),
    "alias:curated": Promise("8.4", "An alias is forgotten and revised by its text."),
    "alias:pairs-are-kept": Promise("8.4", "Signs inside a term do no harm."),
    "alias:listed": Promise("8.4", "An alias is listed."),
    "alias:learnt-from-use": Promise("8.4", "Aliases are learnt from use only when asked for."),
}
