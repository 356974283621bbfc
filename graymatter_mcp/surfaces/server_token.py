"""The one token that a server always has: given, found, or made at the first start."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from graymatter_mcp.errors import InvalidArgumentError, StoreUnavailableError
from graymatter_mcp.surfaces.private_files import locked, write_private
from graymatter_mcp.surfaces.tokens import LOCK_FILE

if TYPE_CHECKING:
    from pathlib import Path

KEPT_IN: Final = "graymatter.http-token"
VARIABLE: Final = "GRAYMATTER_HTTP_TOKEN"
_BYTES: Final = 32
_LONGEST: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerToken:
    """The secret, and where it came from."""

    secret: str = field(repr=False)
    """Empty where an empty one was configured: then nobody gets in."""
    origin: str
    """For messages: ``--token``, the variable, or the file's name."""
    minted_at: Path | None = None
    """The file, if this start made it."""


def server_token(directory: Path, flag: str | None, variable: str | None) -> ServerToken:
    """Return the token of a server on this directory: the first that exists.

    Args:
        directory: The data directory, which exists and is held.
        flag: Value of ``--token``, empty included; None when it was not given.
        variable: Value of the variable, likewise; it is never written to a file.

    Raises:
        InvalidArgumentError: It holds what no client can send.
        StoreUnavailableError: Its file can be neither read nor made.
    """
    for origin, given in (("--token", flag), (VARIABLE, variable)):
        if given is not None:
            return ServerToken(secret=_checked(given, origin), origin=origin)
    path = directory / KEPT_IN
    found = _read(path)
    if found is None:
        return _minted(path)
    return ServerToken(secret=_checked(found, KEPT_IN), origin=KEPT_IN)


def _minted(path: Path) -> ServerToken:
    try:
        with locked(path.with_name(LOCK_FILE)):
            secret = _read(path)
            if secret is not None:
                # Somebody was quicker.
                return ServerToken(secret=secret, origin=KEPT_IN)
            secret = secrets.token_urlsafe(_BYTES)
            write_private(path, f"{secret}\n".encode())
    except StoreUnavailableError as exc:
        raise StoreUnavailableError(
            f"no token can be kept in the data directory: give one with --token or {VARIABLE}"
        ) from exc
    return ServerToken(secret=secret, origin=KEPT_IN, minted_at=path)


def _read(path: Path) -> str | None:
    """Return the content of the file; None where there is none."""
    try:
        with path.open("rb") as file:
            return file.read(_LONGEST).decode("ascii", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise StoreUnavailableError(f"{KEPT_IN} cannot be read") from exc


def _checked(given: str, origin: str) -> str:
    secret = given.strip()
    if not all("!" <= character <= "~" for character in secret):
        raise InvalidArgumentError(
            f"{origin}: a token must be visible ASCII without spaces, or no client can send it"
        )
    return secret
