"""The data plane: the shape of requests and answers, and of errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "plane:remember-recent": Promise(
        "D1", "What remember stores is listed by recent with its content and a score of 1."
    ),
    "plane:content-bounds": Promise(
        "D2", "A content holds 1 to 262144 characters; the answer to another names field and code."
    ),
    "plane:long-text": Promise(
        "plane:5.7", "A text of more than 4096 characters gets its vectors behind the answer."
    ),
    "plane:all-issues": Promise(
        "D3", "A refused body is told everything that is wrong with it, sorted by path."
    ),
    "plane:recent-fields": Promise(
        "D4", "Each field of recent is checked; a null is absent, a decimal string is a number."
    ),
    "plane:envelopes": Promise(
        "D5", "A body that is no JSON object, too large or of another type has one fixed answer."
    ),
    "plane:owner-sign": Promise(
        "plane:1.1", "No name of a shelf leads to the facts of another owner."
    ),
    "plane:routing-first": Promise(
        "D6", "An unknown route is 404 and a wrong method 405 with Allow, whatever the body is."
    ),
    "plane:internal-error": Promise(
        "D7", "A fault is 500 with one text; its log has the request id and no content."
    ),
    "plane:store-away": Promise(
        "plane:2.6", "A store that is away is 503 `store unavailable`, and nothing is stored."
    ),
    "plane:headers": Promise(
        "D8", "Every answer carries the headers of safety, its media type and a request id."
    ),
    "plane:idempotency": Promise(
        "D9", "A write under one key takes effect once, and is answered alike each time."
    ),
    "plane:openapi": Promise(
        "plane:8", "`GET /openapi.json` describes every route to whoever shows a bearer."
    ),
    "plane:any-request": Promise(
        "plane:2.6", "No request makes a fault, and every answer fits the schema of its route."
    ),
    "plane:unknown-keys": Promise(
        "D10", "An unknown key is ignored, but refused where it would lose data or a check."
    ),
    "plane:parity": Promise(
        "issue:5", "REST, the tools and `--json` of one operation on one store tell the same."
    ),
}
