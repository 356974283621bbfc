"""Remote callers over HTTP: who gets in, what is refused, what stays up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "http:sweep": Promise(
        "C73",
        "Every route answers each kind of credential as specified; none is left out.",
    ),
    "http:challenge": Promise(
        "10.3", "A 401 has the one body and the headers of 10.3, and says nothing of why."
    ),
    "http:metadata": Promise(
        "F14",
        "With an issuer set, a 401 leads to the metadata and the metadata to the issuer; without"
        " one, no login is started.",
    ),
    "http:loopback-only-open": Promise(
        "C73", "Without a bearer only loopback is served; an address without a host is refused."
    ),
    "http:places": Promise("F16", "A foreign Host or Origin is refused, on every route."),
    "http:read-only": Promise(
        "F17", "A read_only token changes nothing, sees all tools and may search."
    ),
    "http:pinned": Promise("F17", "A token pinned to a project reaches nothing outside it."),
    "http:log": Promise("F17", "The log says who did what, and holds no token and no fact."),
    "http:keys-apart": Promise(
        "10.6", "Two callers with one idempotency key are never given each other's answer."
    ),
    "http:sessions": Promise(
        "F13", "No session is needed, and a stale or unknown one harms nothing, across restarts."
    ),
    "http:codes": Promise(
        "wire:4", "Each protocol error has its code and its HTTP status, in both eras."
    ),
    "http:no-echo": Promise(
        "issue:4", "What is refused is not quoted back: no batch, no parser's words."
    ),
    "http:body-limit": Promise("10.3", "A body over the limit is answered 413 and not read."),
    "http:head-limit": Promise("issue:4", "A head over the limit is answered 431."),
    "http:rate-limit": Promise(
        "data-plane:2.2", "The rate of each token is bounded, told, and refused with 429."
    ),
    "http:slow-clients": Promise(
        "issue:4", "A client that does not send its request in time is cut off."
    ),
    "http:flood": Promise("issue:4", "Silent connections by the thousand keep nobody else out."),
    "http:probes": Promise(
        "C72",
        "`/live` says that the process lives, `/ready` and `/healthz` that the store answers.",
        "the store that is lost while it serves is tried inside only",
    ),
    "http:metrics": Promise("11.4", "`/metrics` counts requests and facts, in a bounded text."),
    "http:tls": Promise("issue:4", "With a certificate the server speaks TLS only."),
    "http:drain": Promise(
        "issue:4", "SIGTERM ends a server after its answers are given, with status 0."
    ),
    "http:owner": Promise(
        "10.4", "An owner started on demand hands over; a second server is refused by pid."
    ),
    "http:fuzz": Promise(
        "issue:4", "Whatever is sent, there is no 500 and nothing of the inside in an answer."
    ),
    "interop:conformance": Promise(
        "issue:4", "The official conformance suite finds no failure, in both eras."
    ),
    "interop:inspector": Promise("issue:4", "The official inspector is content in strict mode."),
    "interop:mcpcheck": Promise("issue:4", "`mcpcheck` passes all of its checks, strictly."),
    "interop:authlab": Promise(
        "issue:4",
        "`mcp-authlab`, signed in at an issuer that we trust, finds no failure.",
    ),
    "interop:schemathesis": Promise(
        "issue:5",
        "Of 10,000 requests made from `/openapi.json` none gets a 500 or what it does not tell.",
    ),
    "interop:doctor": Promise("issue:4", "The fuzz of mcp-doctor finds nothing."),
}
