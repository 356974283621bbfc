"""Who may come to a server, as its settings want it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graymatter_mcp.surfaces.credentials import BearerAuthenticator
from graymatter_mcp.surfaces.live_tokens import LiveTokens
from graymatter_mcp.surfaces.server_token import server_token

if TYPE_CHECKING:
    from pathlib import Path

    from graymatter_mcp.settings import Settings
    from graymatter_mcp.surfaces.credentials import Issued, OpenDoor
    from graymatter_mcp.surfaces.oauth_config import OAuthConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The check of bearers, and what to say of it at the start."""

    authenticator: BearerAuthenticator | OpenDoor
    notices: tuple[str, ...] = ()
    """Lines for stderr; none holds a token."""


def open_access(
    directory: Path, settings: Settings, token: str | None, issuer: OAuthConfig | None
) -> Access:
    """Return the access to a server on this directory.

    Args:
        directory: The data directory, held by this process.
        settings: Of this process.
        token: Value of ``--token``; None when it was not given.
        issuer: Whose signed tokens are good too.

    Raises:
        InvalidArgumentError: A token is unusable; the message says where it stands.
        StoreUnavailableError: The server token can be neither read nor made.
    """
    kept = settings.http_token
    server = server_token(directory, token, None if kept is None else kept.get_secret_value())
    notices: list[str] = []
    if server.minted_at is not None:
        notices.append(f"a server token was made: it is in {server.minted_at}")
    if not server.secret:
        notices.append(f"warning: {server.origin} is empty: every request is refused")
    return Access(
        authenticator=BearerAuthenticator(server.secret, LiveTokens(directory), _issued(issuer)),
        notices=tuple(notices),
    )


def _issued(issuer: OAuthConfig | None) -> Issued | None:
    if issuer is None:
        return None
    # Imported on use: it brings cryptography and an HTTP client.
    from graymatter_mcp.surfaces.oauth import IssuedTokens
    from graymatter_mcp.surfaces.oauth_keys import IssuerKeys

    return IssuedTokens(issuer, IssuerKeys(issuer.jwks_url))
