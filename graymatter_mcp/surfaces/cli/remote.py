"""`graymatter mcp serve --http HOST:PORT`: an owner in the foreground with a door to the network.

Checked in this order: address, bearer or none, directory, token, store; only then it listens.
"""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from graymatter_mcp.errors import InvalidArgumentError
from graymatter_mcp.surfaces.access import Access, open_access
from graymatter_mcp.surfaces.cli.daemon import take_over
from graymatter_mcp.surfaces.credentials import BearerAuthenticator, OpenDoor
from graymatter_mcp.surfaces.http.limits import HttpLimits
from graymatter_mcp.surfaces.http.places import Places, read_address
from graymatter_mcp.surfaces.http.proxies import Proxies
from graymatter_mcp.surfaces.oauth_config import oauth_config, public_hosts

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from graymatter_mcp.contract.load import Bundle
    from graymatter_mcp.engine.faces import TwoFacedMemory
    from graymatter_mcp.settings import Settings
    from graymatter_mcp.surfaces.cli.app import Invocation
    from graymatter_mcp.surfaces.http.listener import Listener
    from graymatter_mcp.surfaces.mcp.server import GraymatterServer


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteOptions:
    """What the command line says about the door."""

    address: str
    token: str | None
    is_open: bool
    """Whether everybody may come in without a bearer."""
    may_create: bool
    toolsets: tuple[str, ...] = ("core",)
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    certificate: Path | None = None
    key: Path | None = None


def serve_remote(invocation: Invocation, options: RemoteOptions) -> None:
    """Own the directory and serve remote callers until stopped."""
    door = _Door(invocation.settings, options)
    config = invocation.config(is_service=True)
    _log_to_stderr(is_quiet=invocation.is_quiet)
    ownership = take_over(config.data_dir, may_create=options.may_create)
    try:
        door.grant_access(config.data_dir)
    except BaseException:
        ownership.release()
        raise
    from graymatter_mcp.surfaces.cli.owner import run_owner

    run_owner(
        config,
        invocation.settings,
        ownership,
        is_foreground=True,
        on_ready=door.announce,
        open_remote=door.open,
        toolsets=options.toolsets,
    )


class _Door:
    """What is known of the door before there is a memory behind it."""

    def __init__(self, settings: Settings, options: RemoteOptions) -> None:
        """Check everything that can be checked before the directory is touched.

        Raises:
            InvalidArgumentError: An option or setting is wrong.
        """
        self._settings = settings
        self._options = options
        self._address = read_address(options.address)
        if options.is_open and not self._address.is_loopback:
            raise InvalidArgumentError(
                "--no-auth is for loopback only: leave it out, or listen on 127.0.0.1"
            )
        if options.is_open and options.token is not None:
            raise InvalidArgumentError("--token and --no-auth exclude each other")
        self._places = Places(
            [*_listed(settings.http_hosts), *public_hosts(settings), *options.hosts],
            [*_listed(settings.http_origins), *options.origins],
            self._address,
        )
        self._proxies = Proxies(_listed(settings.http_trusted_proxies))
        self._limits = limits_of(settings)
        self._tls = _tls(options)
        self._issuer = None if options.is_open else oauth_config(settings)
        self._access = Access(authenticator=OpenDoor())
        self._listener: Listener | None = None

    def grant_access(self, directory: Path) -> None:
        """Find the server token, or make it; its place is said once, and it itself never.

        Args:
            directory: The data directory, held.
        """
        if self._options.is_open:
            return
        self._access = open_access(directory, self._settings, self._options.token, self._issuer)
        for notice in self._access.notices:
            _say(notice)

    def open(
        self, memory: TwoFacedMemory, bundle: Bundle, build: Callable[[], GraymatterServer]
    ) -> Listener:
        """Listen."""
        # Imported on use: what comes before must answer a bad option at once.
        from graymatter_mcp.surfaces.http.app import HttpApp
        from graymatter_mcp.surfaces.http.listener import Listener, bind
        from graymatter_mcp.surfaces.http.metadata import metadata_routes
        from graymatter_mcp.surfaces.http.sessions import CookieSessions
        from graymatter_mcp.surfaces.mcp.http import McpEndpoint
        from graymatter_mcp.surfaces.mcp.server import served_by
        from graymatter_mcp.surfaces.rest.legacy import legacy_routes
        from graymatter_mcp.surfaces.rest.refusals import RefusalsAtTheGate
        from graymatter_mcp.surfaces.rest.routes import rest_routes
        from graymatter_mcp.surfaces.rest.session import session_routes

        if isinstance(self._access.authenticator, BearerAuthenticator):
            self._access.authenticator.use(memory.plane.accounts)
        endpoint = McpEndpoint(build(), frozenset(tool.name for tool in bundle.tools))
        is_https = self._tls is not None or self._settings.public_url.startswith("https://")
        sessions = CookieSessions(self._access.authenticator, memory.plane, is_https=is_https)
        app = HttpApp(
            memory,
            endpoint,
            self._access.authenticator,
            self._places,
            self._proxies,
            self._limits,
            more=[
                *metadata_routes(self._issuer),
                *rest_routes(memory.plane, served=served_by(bundle)),
                *session_routes(memory.plane, sessions),
                *legacy_routes(memory),
            ],
            sessions=sessions,
            witness=RefusalsAtTheGate(memory.plane),
        )
        self._listener = Listener(bind(self._address), app.gate, self._limits, self._tls)
        return self._listener

    def announce(self) -> None:
        """Say where it listens, and what to mind."""
        assert self._listener is not None, "the owner opens the door before it is ready"
        _say(f"graymatter MCP server listening on {self._listener.address}")
        if self._options.is_open:
            _say("warning: --no-auth: every program on this machine can read and write this memory")
        if self._address.is_loopback:
            return
        _say(
            "warning: other machines can reach this address; a bearer token is all that stops them"
        )
        if self._tls is None:
            _say("warning: without TLS the token can be read on the way: put a TLS proxy before it")
        if self._address.is_wildcard and not self._places.has_named_hosts:
            _say(
                "warning: only the Host names of loopback are answered; name yours with"
                " --allow-host or GRAYMATTER_HTTP_HOSTS"
            )


def limits_of(settings: Settings) -> HttpLimits:
    """Return the bounds that the settings name."""
    return replace(
        HttpLimits(),
        body_bytes=settings.http_max_body,
        head_bytes=settings.http_max_head,
        connections=settings.http_max_connections,
        calls=settings.http_max_calls,
        per_minute=settings.rate_limit,
        client_timeout_s=settings.http_client_timeout.total_seconds(),
        call_timeout_s=settings.http_call_timeout.total_seconds(),
    )


def _tls(options: RemoteOptions) -> ssl.SSLContext | None:
    if options.certificate is None:
        if options.key is not None:
            raise InvalidArgumentError("--tls-key needs --tls-cert")
        return None
    from graymatter_mcp.surfaces.http.listener import tls_context

    return tls_context(options.certificate, options.key)


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _log_to_stderr(*, is_quiet: bool) -> None:
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.WARNING if is_quiet else logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
