"""The access to a server as its settings want it: one call for whoever builds the HTTP app."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graymatter_mcp.surfaces.bearer import PROBES
from graymatter_mcp.surfaces.credentials import BearerAuthenticator, OpenDoor
from graymatter_mcp.surfaces.live_tokens import LiveTokens
from graymatter_mcp.surfaces.oauth_config import oauth_config
from graymatter_mcp.surfaces.server_token import server_token

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.routing import Route

    from graymatter_mcp.settings import Settings
    from graymatter_mcp.surfaces.auth import Authenticator
    from graymatter_mcp.surfaces.credentials import Issued
    from graymatter_mcp.surfaces.oauth_config import OAuthConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What the app mounts."""

    authenticator: Authenticator
    routes: tuple[Route, ...] = ()
    """Metadata for clients without a token; empty where no issuer is configured."""
    open_paths: frozenset[str] = PROBES
    """Paths that need no token, those of `routes` included."""
    notices: tuple[str, ...] = ()
    """Lines for stderr at the start; none holds a token."""
    handed_out: LiveTokens | None = None

    def close(self) -> None:
        """Let the token file go."""
        if self.handed_out is not None:
            self.handed_out.close()


def open_access(
    directory: Path, settings: Settings, *, token: str | None = None, no_auth: bool = False
) -> Access:
    """Return the access to a server on this directory.

    Args:
        directory: The data directory, held by this process.
        settings: Of this process.
        token: Value of ``--token``; None when it was not given.
        no_auth: ``--no-auth``, which the caller has refused off loopback.

    Raises:
        InvalidArgumentError: A token or a setting is unusable; the message names it.
        StoreUnavailableError: The server token can be neither read nor made.
    """
    config = oauth_config(settings)
    if no_auth:
        return Access(authenticator=OpenDoor(), notices=("no token is asked for: --no-auth is on",))
    variable = settings.http_token
    server = server_token(
        directory, token, None if variable is None else variable.get_secret_value()
    )
    notices: list[str] = []
    if server.minted_at is not None:
        notices.append(f"a token was made for this server: {server.minted_at}")
    if not server.secret:
        notices.append(f"{server.origin} is empty: every request is refused")
    handed_out = LiveTokens(directory)
    metadata: frozenset[str] = frozenset() if config is None else config.metadata_paths
    return Access(
        authenticator=BearerAuthenticator(server.secret, handed_out, _issued(config)),
        routes=_routes(config),
        open_paths=PROBES | metadata,
        notices=tuple(notices),
        handed_out=handed_out,
    )


def _issued(config: OAuthConfig | None) -> Issued | None:
    if config is None:
        return None
    # Imported on use: it brings cryptography and an HTTP client.
    from graymatter_mcp.surfaces.oauth import IssuedTokens
    from graymatter_mcp.surfaces.oauth_keys import IssuerKeys

    return IssuedTokens(config, IssuerKeys(config.jwks_url))


def _routes(config: OAuthConfig | None) -> tuple[Route, ...]:
    if config is None:
        return ()
    from graymatter_mcp.surfaces.oauth_metadata import metadata_routes

    return metadata_routes(config)
