"""Bearer tokens that people hand out: made here, kept as digests, taken back here."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NewType, cast

from ulid import ULID

from graymatter_mcp.errors import InvalidArgumentError, StoreUnavailableError, TokenNotFoundError
from graymatter_mcp.surfaces.auth import Scope
from graymatter_mcp.surfaces.private_files import locked, write_private

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

TOKENS_FILE: Final = "graymatter.tokens.json"
LOCK_FILE: Final = "graymatter.tokens.lock"
PREFIX: Final = "gm_"

TokenId = NewType("TokenId", str)
"""A ULID; names a token without giving anything of it away."""

_SECRET_BYTES: Final = 32
_VERSION: Final = 1
_MAX_NAME: Final = 64
_MAX_PROJECT: Final = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredToken:
    """What is kept of a token: all but the token."""

    id: TokenId
    name: str
    scope: Scope
    project: str | None
    created_at: datetime
    expires_at: datetime | None
    sha256: bytes = field(repr=False)

    def is_expired(self, now: datetime) -> bool:
        """Whether it is refused at this instant."""
        return self.expires_at is not None and self.expires_at <= now


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedToken:
    """A token at the one moment when its secret is known."""

    stored: StoredToken
    secret: str = field(repr=False)


def digest(secret: str) -> bytes:
    """Return the SHA-256 of a token.

    Plain is enough: a token is 256 random bits, which nobody guesses however fast the hash is.
    """
    return hashlib.sha256(secret.encode()).digest()


class TokenFile:
    """The tokens of one data directory; any number of processes may change them at once."""

    def __init__(self, directory: Path) -> None:
        """Name the files; nothing is opened.

        Args:
            directory: The data directory, which exists.
        """
        self._path = directory / TOKENS_FILE
        self._lock = directory / LOCK_FILE

    def list(self) -> tuple[StoredToken, ...]:
        """Return every token, oldest first, expired ones too.

        Raises:
            StoreUnavailableError: The file cannot be read.
        """
        return read_tokens(self._path)

    def create(
        self,
        *,
        name: str = "",
        scope: Scope = Scope.FULL,
        project: str | None = None,
        expires_at: datetime | None = None,
    ) -> IssuedToken:
        """Make a token.

        Args:
            name: What a person calls it; 64 characters at most.
            scope: What its bearer may do.
            project: Id or name of the one project that its bearer may use.
            expires_at: In the future; None is never.

        Raises:
            InvalidArgumentError: A value breaks a rule; nothing was made.
            StoreUnavailableError: The file cannot be changed.
        """
        _check_line("name", name, _MAX_NAME)
        if project is not None:
            _check_line("project", project, _MAX_PROJECT)
            if not project:
                raise InvalidArgumentError("project must not be empty")
        issued = _issue(name, scope, project, expires_at)
        if issued.stored.is_expired(issued.stored.created_at):
            raise InvalidArgumentError("expires must be in the future")
        self._change(lambda tokens: [*tokens, issued.stored])
        return issued

    def revoke(self, token_id: str) -> None:
        """Forget a token; its bearer is refused from now on.

        Raises:
            TokenNotFoundError: There is none with this id.
            StoreUnavailableError: The file cannot be changed.
        """
        self._change(lambda tokens: _without(tokens, _find(tokens, token_id)))

    def rotate(self, token_id: str) -> IssuedToken:
        """Put a new token with the same rights and expiry in the place of one.

        Raises:
            TokenNotFoundError: There is none with this id.
            InvalidArgumentError: It has expired.
            StoreUnavailableError: The file cannot be changed.
        """
        made: list[IssuedToken] = []

        def exchange(tokens: tuple[StoredToken, ...]) -> list[StoredToken]:
            old = _find(tokens, token_id)
            issued = _issue(old.name, old.scope, old.project, old.expires_at)
            if old.is_expired(issued.stored.created_at):
                raise InvalidArgumentError("the token has expired: create a new one")
            made.append(issued)
            return [*_without(tokens, old), issued.stored]

        self._change(exchange)
        return made[0]

    def _change(self, change: Callable[[tuple[StoredToken, ...]], Iterable[StoredToken]]) -> None:
        with locked(self._lock):
            changed = [_entry(token) for token in change(read_tokens(self._path))]
            document = {"version": _VERSION, "tokens": changed}
            write_private(self._path, json.dumps(document, indent=1).encode())


def read_tokens(path: Path) -> tuple[StoredToken, ...]:
    """Return what a token file holds; none where there is no file.

    Raises:
        StoreUnavailableError: It cannot be read, or a newer version wrote it.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return ()
    except OSError as exc:
        raise _unreadable() from exc
    return parse_tokens(raw)


def parse_tokens(raw: bytes) -> tuple[StoredToken, ...]:
    """Return what the content of a token file says.

    Raises:
        StoreUnavailableError: It is damaged, or a newer version wrote it.
    """
    try:
        document = json.loads(raw)
        if document["version"] > _VERSION:
            raise StoreUnavailableError(
                f"{TOKENS_FILE} was written by a newer graymatter: update this one"
            )
        return tuple(_stored(entry) for entry in document["tokens"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as exc:
        raise _unreadable() from exc


def _unreadable() -> StoreUnavailableError:
    return StoreUnavailableError(
        f"{TOKENS_FILE} cannot be read: restore it, or delete it and create the tokens again"
    )


def _issue(
    name: str, scope: Scope, project: str | None, expires_at: datetime | None
) -> IssuedToken:
    secret = PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
    stored = StoredToken(
        id=TokenId(str(ULID())),
        name=name,
        scope=scope,
        project=project,
        created_at=datetime.now(UTC),
        expires_at=expires_at,
        sha256=digest(secret),
    )
    return IssuedToken(stored=stored, secret=secret)


def _find(tokens: Iterable[StoredToken], token_id: str) -> StoredToken:
    for token in tokens:
        if token.id == token_id:
            return token
    raise TokenNotFoundError


def _without(tokens: Iterable[StoredToken], gone: StoredToken) -> list[StoredToken]:
    return [token for token in tokens if token is not gone]


def _check_line(what: str, text: str, longest: int) -> None:
    # A name is printed in lists and logs, so it must stay on its line.
    if len(text) > longest or not text.isprintable():
        raise InvalidArgumentError(
            f"{what} must be one line of at most {longest} printable characters"
        )


def _entry(token: StoredToken) -> dict[str, Any]:
    return {
        "id": token.id,
        "name": token.name,
        "scope": token.scope,
        "project": token.project,
        "created_at": token.created_at.isoformat(),
        "expires_at": None if token.expires_at is None else token.expires_at.isoformat(),
        "sha256": token.sha256.hex(),
    }


def _stored(entry: dict[str, Any]) -> StoredToken:
    expires_at = entry["expires_at"]
    token = StoredToken(
        id=TokenId(_text(entry["id"])),
        name=_text(entry["name"]),
        scope=Scope(entry["scope"]),
        project=None if entry["project"] is None else _text(entry["project"]),
        created_at=_moment(entry["created_at"]),
        expires_at=None if expires_at is None else _moment(expires_at),
        sha256=bytes.fromhex(entry["sha256"]),
    )
    if len(token.sha256) != hashlib.sha256().digest_size:
        raise ValueError("not a SHA-256")
    return token


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _moment(value: object) -> datetime:
    moment = datetime.fromisoformat(cast("str", value))  # anything else raises TypeError
    if moment.tzinfo is None:
        raise ValueError("a time without its zone")
    return moment
