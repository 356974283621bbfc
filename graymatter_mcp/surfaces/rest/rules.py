"""Rules of fields that a schema cannot say: the same for REST and for the twins.

A field has one meaning wherever it stands, so its rule goes by its name.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, cast

from graymatter_mcp.contract.issues import Issue, coerced, in_order, issues
from graymatter_mcp.errors import InvalidArgumentError
from graymatter_mcp.model.scopes import MARK
from graymatter_mcp.surfaces.rest.text import is_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

Fields = dict[str, Any]
"""Arguments by the names of REST, absent ones left out."""

METADATA_BYTES: Final = 8192
METADATA_KEY: Final = 64

_NAMESPACE: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._:-]*|__shared__")
_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})"
)
_FINER: Final = re.compile(r"\.[0-9]{4}")
_REST_OF_A_MILLISECOND: Final = timedelta(microseconds=999)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_NAMESPACE_WORDS: Final = (
    "namespace must start alphanumeric and contain only letters, digits, dot, colon, underscore,"
    " or dash"
)
_PROJECT_WORDS: Final = "project ref contains control characters"
_ALWAYS_WEIGHED: Final = ("keyword", "vector", "graph", "entity")
"""Signals whose weight is above 0 unless the request says otherwise."""
_SUITES: Final = ("core", "retrieval")
_NO_CHANGE: Final = frozenset({"id", "project"})


def check_fields(name: str, body: object, now: datetime) -> tuple[Any, tuple[Issue, ...]]:
    """Return the arguments of an operation as they are meant, and all that is wrong with them.

    Args:
        name: Of the operation: `rest/<route>` or `tools/<tool>`.
        body: Parsed JSON; not changed.
        now: With its offset.

    Raises:
        BrokenContractError: There is no such operation.
    """
    arguments = coerced(name, body)
    found = set(issues(name, arguments))
    if isinstance(arguments, dict):
        known = {one.path for one in found}
        fields = cast("Fields", arguments)
        found.update(one for one in _broken(name, fields, now) if not _is_said(one.path, known))
    return cast("Any", arguments), in_order(found)


def check_arguments(name: str, arguments: object, now: datetime) -> Fields:
    """Return the arguments of a twin as they are meant.

    Args:
        name: As for `check_fields`.
        arguments: As they came.
        now: With its offset.

    Raises:
        InvalidArgumentError: Names the first issue.
        BrokenContractError: There is no such operation.
    """
    meant, found = check_fields(name, arguments, now)
    if found:
        first = found[0]
        raise InvalidArgumentError(f"invalid argument '{first.path}': {first.message}")
    return cast("Fields", meant)


def read_time(text: str) -> datetime | None:
    """Read a timestamp of a request, in UTC; None when it is none."""
    if not _TIME.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def read_as_of(text: str, now: datetime) -> datetime | None:
    """Read the instant that a request asks about, in UTC; None when it is none.

    Answers tell times to the millisecond, cut: what was stored within one belongs to it. Without
    finer digits the instant is the end of its millisecond, but never ahead for that.
    """
    at = read_time(text)
    if at is None or at > now or _FINER.search(text):
        return at
    return min(at + _REST_OF_A_MILLISECOND, now)


def _is_said(path: str, known: set[str]) -> bool:
    """Whether the schema found something at this place, above it or below it."""
    # The whole body is no such place: an unknown key says nothing about the others.
    return any(path == one or f"{path}.".startswith(f"{one}.") for one in known if one) or any(
        one.startswith(f"{path}.") for one in known if path
    )


def _broken(name: str, fields: Fields, now: datetime) -> Iterator[Issue]:
    for field, value in fields.items():
        if not is_text(value):
            yield Issue(path=field, message="is not valid text", code="invalid_format")
        elif field in _RULES:
            yield from _RULES[field](field, value, now)
    operation = name.rpartition("/")[2]
    if operation in _WHOLE:
        yield from _WHOLE[operation](fields)


def _visible(path: str, value: object, _now: datetime) -> Iterator[Issue]:
    if isinstance(value, str) and not value.strip():
        yield _custom(path, "must hold a character that is not white space")


def _printable(words: str) -> Rule:
    def rule(path: str, value: object, _now: datetime) -> Iterator[Issue]:
        if isinstance(value, str) and _CONTROL.search(value):
            yield _custom(path, words)

    return rule


_UNPRINTABLE: Final = _printable("contains control characters")


def _line(path: str, value: object, _now: datetime | None = None) -> Iterator[Issue]:
    if isinstance(value, str) and not (value.strip() and value.isprintable()):
        yield _custom(path, "must be one line of printable characters")


def _namespace(path: str, value: object, _now: datetime) -> Iterator[Issue]:
    if isinstance(value, str) and not _NAMESPACE.fullmatch(value):
        yield Issue(path=path, message=_NAMESPACE_WORDS, code="invalid_format")


def _shelf(path: str, value: object, _now: datetime) -> Iterator[Issue]:
    if isinstance(value, str) and value.startswith(MARK):
        yield Issue(path=path, message="must not begin with U+001F", code="invalid_format")


def _handle(path: str, value: object, now: datetime) -> Iterator[Issue]:
    if isinstance(value, str) and value.strip():
        yield from _UNPRINTABLE(path, value, now)
    else:
        yield from _visible(path, value, now)


def _time(path: str, value: object, _now: datetime) -> Iterator[Issue]:
    if isinstance(value, str) and read_time(value) is None:
        words = f"{path} must be ISO-8601 (e.g. 2026-05-02T17:00:00Z)"
        yield Issue(path=path, message=words, code="invalid_format")


def _past(path: str, value: object, now: datetime) -> Iterator[Issue]:
    yield from _time(path, value, now)
    when = read_time(value) if isinstance(value, str) else None
    if when is not None and when > now:
        yield _custom(path, "must not lie in the future")


def _future(path: str, value: object, now: datetime) -> Iterator[Issue]:
    yield from _time(path, value, now)
    when = read_time(value) if isinstance(value, str) else None
    if when is not None and when <= now:
        yield _custom(path, "must lie in the future")


def _metadata(path: str, value: object, _now: datetime) -> Iterator[Issue]:
    if not isinstance(value, dict):
        return
    metadata = cast("Fields", value)
    if any(len(key) > METADATA_KEY for key in metadata):
        yield _custom(path, "metadata key too long (64-char max)")
    try:
        compact = json.dumps(
            metadata, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        ).encode()
    except RecursionError:
        yield _custom(path, "metadata nests too deeply")
    except ValueError:
        yield _custom(path, "metadata holds a number that is not finite")
    else:
        if len(compact) > METADATA_BYTES:
            yield _custom(path, "metadata too large (8KB max)")


def _weights(path: str, value: object, _now: datetime) -> Iterator[Issue]:
    if not isinstance(value, dict):
        return
    weights = cast("Fields", value)
    if all(weights.get(signal) == 0 for signal in _ALWAYS_WEIGHED) and not weights.get("recency"):
        yield _custom(path, "must not all be 0")


def _suite(path: str, value: object, _now: datetime) -> Iterator[Issue]:
    if isinstance(value, str) and value and value not in _SUITES:
        words = f"must be one of: {', '.join(_SUITES)}"
        yield Issue(path=path, message=words, code="invalid_value")


def _each(rule: Rule) -> Rule:
    def rules(path: str, value: object, now: datetime) -> Iterator[Issue]:
        items = cast("list[object]", value) if isinstance(value, list) else []
        for place, item in enumerate(items):
            yield from rule(f"{path}.{place}", item, now)

    return rules


def _exactly_one(fields: Fields) -> Iterator[Issue]:
    if ("id" in fields) is ("sourceRef" in fields):
        yield _custom("", "exactly one of id and sourceRef is required")


def _something(fields: Fields) -> Iterator[Issue]:
    if not fields.keys() - _NO_CHANGE:
        yield _custom("", "nothing to update")


def _custom(path: str, message: str) -> Issue:
    return Issue(path=path, message=message, code="custom")


if TYPE_CHECKING:
    Rule = Callable[[str, object, datetime], Iterable[Issue]]

_RULES: Final[Mapping[str, Rule]] = {
    "query": _visible,
    "message": _visible,
    "namespace": _shelf,
    "includeNamespaces": _each(_namespace),
    "project": _printable(_PROJECT_WORDS),
    "includeProjects": _each(_printable(_PROJECT_WORDS)),
    "name": _line,
    "label": _line,
    "metadata": _metadata,
    "since": _time,
    "asOf": _past,
    "expiresAt": _future,
    "createdAt": _time,
    "updatedAt": _time,
    "suite": _suite,
    "sourceRef": _handle,
    "sourceRefs": _each(_handle),
    "weights": _weights,
}
_WHOLE: Final[Mapping[str, Callable[[Fields], Iterator[Issue]]]] = {
    "forget": _exactly_one,
    "memory_forget": _exactly_one,
    "update": _something,
    "memory_update": _something,
    # Elsewhere a name that nobody can have is a user who does not exist.
    "user-create": lambda fields: _line("username", fields.get("username")),
}
