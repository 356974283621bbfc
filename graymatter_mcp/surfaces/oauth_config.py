"""What makes this server an OAuth 2.1 resource server, as it is configured."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from graymatter_mcp.errors import InvalidArgumentError
from graymatter_mcp.model.scopes import LOCAL

if TYPE_CHECKING:
    from graymatter_mcp.settings import Settings

MCP_PATH: Final = "/mcp"
WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"

_SCOPE: Final = re.compile(r"[!#-\[\]-~]+")
"""RFC 6749, 3.3: no quote and no backslash, so it stands between quotes as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthConfig:
    """One issuer, and what it must have granted."""

    issuer: str
    """Compared byte by byte with `iss`."""
    audiences: tuple[str, ...]
    """One of them must be in `aud`."""
    jwks_url: str
    required_scopes: tuple[str, ...]
    """All of them must be granted to be let in."""
    write_scope: str
    """Granted, it gives the scope `full`, else `read_only`; empty where all may write."""
    public_url: str
    """Where clients reach the server, a proxy's prefix included; no slash at its end."""
    tenant: str = LOCAL
    """In which a subject of the issuer is a user, from first sight on."""

    @property
    def resource(self) -> str:
        """The identifier of this resource (RFC 9728), which is its URL."""
        return self.public_url + MCP_PATH

    @property
    def metadata_url(self) -> str:
        """Where the metadata is (RFC 9728, 3.1): between host and path of the resource."""
        parts = urlsplit(self.resource)
        return f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}{parts.path}"

    @property
    def metadata_paths(self) -> frozenset[str]:
        """Paths that serve the metadata: as clients ask, and without the prefix of a proxy."""
        return frozenset({urlsplit(self.metadata_url).path, WELL_KNOWN + MCP_PATH})

    @property
    def scopes(self) -> tuple[str, ...]:
        """What a client should ask the issuer for."""
        extra = (self.write_scope,) if self.write_scope else ()
        return tuple(dict.fromkeys((*self.required_scopes, *extra)))


def oauth_config(settings: Settings) -> OAuthConfig | None:
    """Return the configuration; None where no issuer is named.

    Raises:
        InvalidArgumentError: A variable is bad or missing; the message names it.
    """
    public_url = _url("PUBLIC_URL", settings.public_url).rstrip("/")
    if not settings.oauth_issuer:
        stray = ("oauth_audience", "oauth_jwks_url", "oauth_scopes")
        if any(getattr(settings, name) for name in stray):
            raise _wrong("OAUTH_ISSUER", "must be set where other GRAYMATTER_OAUTH_* are")
        return None
    for name, value in (("OAUTH_JWKS_URL", settings.oauth_jwks_url), ("PUBLIC_URL", public_url)):
        if not value:
            raise _wrong(name, "must be set where GRAYMATTER_OAUTH_ISSUER is")
    _refuse_plain_http("PUBLIC_URL", public_url)
    config = OAuthConfig(
        issuer=_refuse_plain_http("OAUTH_ISSUER", _url("OAUTH_ISSUER", settings.oauth_issuer)),
        audiences=tuple(settings.oauth_audience.split()) or (public_url + MCP_PATH,),
        jwks_url=_refuse_plain_http(
            "OAUTH_JWKS_URL", _url("OAUTH_JWKS_URL", settings.oauth_jwks_url, query=True)
        ),
        required_scopes=_scopes("OAUTH_SCOPES", settings.oauth_scopes),
        write_scope=" ".join(_scopes("OAUTH_WRITE_SCOPE", settings.oauth_write_scope)),
        public_url=public_url,
    )
    if " " in config.write_scope:
        raise _wrong("OAUTH_WRITE_SCOPE", "must be one scope, or empty")
    return config


def public_hosts(settings: Settings) -> list[str]:
    """Return the name under which clients reach the server; none where no URL is set.

    Raises:
        InvalidArgumentError: It is no URL.
    """
    host = urlsplit(_url("PUBLIC_URL", settings.public_url)).hostname
    return [] if host is None else [f"[{host}]" if ":" in host else host]


def _wrong(name: str, problem: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"GRAYMATTER_{name}: {problem}")


def _url(name: str, text: str, *, query: bool = False) -> str:
    try:
        parts = urlsplit(text)
        is_good = not text or (
            parts.scheme in {"http", "https"}
            and bool(parts.hostname)
            and parts.port != 0
            and "@" not in parts.netloc
            and not parts.fragment
            and (query or "?" not in text)
            and all("!" <= character <= "~" and character not in '"\\' for character in text)
        )
    except ValueError:
        is_good = False
    if not is_good:
        raise _wrong(name, "must be a URL such as https://memory.example.org/prefix")
    return text


def _refuse_plain_http(name: str, url: str) -> str:
    """Ask for TLS but on loopback: tokens and keys that come in the clear prove nothing."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not _is_loopback(parts.hostname or ""):
        raise _wrong(name, "must be https, except on loopback")
    return url


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _scopes(name: str, text: str) -> tuple[str, ...]:
    scopes = tuple(dict.fromkeys(text.split()))
    if not all(_SCOPE.fullmatch(scope) for scope in scopes):
        raise _wrong(name, "must be scopes of visible ASCII, without quotes and backslashes")
    return scopes
