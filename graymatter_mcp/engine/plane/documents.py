"""Accounts as the store keeps them: one JSON document a record."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.errors import CorruptRecordError
from graymatter_mcp.model.accounts import (
    Project,
    Quota,
    Role,
    Token,
    TokenScope,
    User,
    WebSession,
)
from graymatter_mcp.model.times import from_microseconds, to_microseconds
from graymatter_mcp.store.base import Document

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Kind(StrEnum):
    """What a document is."""

    USER = "user"
    PROJECT = "project"
    TOKEN = "token"  # noqa: S105 - a word, no secret
    TOKEN_USE = "token_use"  # noqa: S105 - a word, no secret
    ACTIVE_PROJECT = "active_project"
    QUOTA = "quota"
    SESSION = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When something last happened."""

    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The project that a user works in."""

    project_id: str


@dataclass(frozen=True, slots=True)
class Put:
    """A record to put in its place, or with None to take away."""

    kind: Kind
    key: str
    row: Any | None
    """Of the type in `TYPES`."""


TYPES: Final[Mapping[Kind, type]] = {
    Kind.USER: User,
    Kind.PROJECT: Project,
    Kind.TOKEN: Token,
    Kind.TOKEN_USE: Moment,
    Kind.ACTIVE_PROJECT: Choice,
    Kind.QUOTA: Quota,
    Kind.SESSION: WebSession,
}


def document_of(put: Put) -> Document:
    """Return the document of a record."""
    text = None
    if put.row is not None:
        values = {one.name: _plain(getattr(put.row, one.name)) for one in fields(put.row)}
        text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return Document(kind=put.kind, key=put.key, text=text)


def put_of(document: Document) -> Put | None:
    """Return the record of a document; None where it is no account.

    Raises:
        CorruptRecordError: It cannot be decoded.
    """
    try:
        kind = Kind(document.kind)
    except ValueError:
        return None
    try:
        values: dict[str, Any] = json.loads(document.text or "")
        return Put(kind, document.key, TYPES[kind](**{k: _read(k, v) for k, v in values.items()}))
    except (ValueError, TypeError, AttributeError) as exc:
        raise CorruptRecordError(f"a stored {kind} of the accounts is damaged") from exc


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return to_microseconds(value)
    return value.hex() if isinstance(value, bytes) else value


def _read(name: str, value: Any) -> Any:
    reader = _READERS.get(name)
    return value if reader is None or value is None else reader(value)


_READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "at": from_microseconds,
    "created_at": from_microseconds,
    "expires_at": from_microseconds,
    "renewed_at": from_microseconds,
    "role": Role,
    "scope": TokenScope,
    "member_ids": tuple,
    "sha256": bytes.fromhex,
    "proof": bytes.fromhex,
}
