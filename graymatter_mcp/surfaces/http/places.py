"""Which names the server answers to, and which web pages may speak to it.

A page in a browser on this machine can reach a port of this machine under any name that its owner
lets resolve to it: so the name is checked, always, and so is the page's origin.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from graymatter_mcp.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LOOPBACK_HOSTS: Final = ("localhost", "127.0.0.1", "[::1]")
_ANY_PORT: Final = ":*"
_MAX_PORT: Final = 65535


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host.lower() == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def is_wildcard(self) -> bool:
        """Whether it stands for every address of this machine."""
        try:
            return ipaddress.ip_address(self.host).is_unspecified
        except ValueError:
            return False

    def __str__(self) -> str:
        """Write it as it is given."""
        return f"{bracketed(self.host)}:{self.port}"


def read_address(text: str) -> Address:
    """Read HOST:PORT, with an IPv6 host in brackets.

    Raises:
        InvalidArgumentError: There is no host, or no port from 0 to 65535.
    """
    host, colon, port = text.rpartition(":")
    if not colon or not host:
        raise InvalidArgumentError("the address must be HOST:PORT, such as 127.0.0.1:8137")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise InvalidArgumentError("an IPv6 host must stand in brackets, such as [::1]:8137")
    if not host or any(sign.isspace() or sign in "/@[]" for sign in host):
        raise InvalidArgumentError("the address must be HOST:PORT, such as 127.0.0.1:8137")
    if not (port.isascii() and port.isdigit()) or int(port[:6]) > _MAX_PORT:
        raise InvalidArgumentError("the port must be a number from 0 to 65535")
    return Address(host, int(port))


def bracketed(host: str) -> str:
    """Write a host as it stands in a URL."""
    return f"[{host}]" if ":" in host else host


class Places:
    """Allowed `Host` and `Origin` values; there is no way to allow all of either."""

    def __init__(self, hosts: Sequence[str], origins: Sequence[str], address: Address) -> None:
        """Allow the loopback names, the address itself, and what is named.

        Args:
            hosts: Names, with a port, with ``:*``, or alone: then with or without any port.
            origins: ``scheme://host``, with a port, with ``:*``, or alone: the default port.
            address: Where the server listens.

        Raises:
            InvalidArgumentError: A value is no host or no origin; ``*`` is neither.
        """
        named = [_checked_host(host) for host in hosts]
        self.has_named_hosts = bool(named)
        """Whether other names than those of loopback and of the address are answered."""
        if not address.is_wildcard:
            named.append(bracketed(address.host.lower()))
        self._hosts = frozenset(_spellings([*LOOPBACK_HOSTS, *named]))
        pages = [f"{scheme}://{host}" for scheme in ("http", "https") for host in LOOPBACK_HOSTS]
        listed = [_checked_origin(origin) for origin in origins]
        self._listed = frozenset(listed)
        self._origins = frozenset([*_spellings(pages), *listed])

    def knows_host(self, host: str | None) -> bool:
        """Whether a `Host` header names us."""
        return host is not None and _is_among(host.lower(), self._hosts)

    def knows_origin(self, origin: str | None) -> bool:
        """Whether a page of this origin may speak to us; programs send none."""
        return origin is None or _is_among(origin.lower(), self._origins)

    def lists_origin(self, origin: str | None) -> bool:
        """Whether a page of this origin was named, and so may read what it is answered."""
        return origin is not None and _is_among(origin.lower(), self._listed)


def _is_among(value: str, allowed: frozenset[str]) -> bool:
    if value in allowed:
        return True
    name, colon, port = value.rpartition(":")
    return bool(colon) and port.isascii() and port.isdigit() and name + _ANY_PORT in allowed


def _spellings(names: Iterable[str]) -> list[str]:
    """Add the form with any port to names without one."""
    found: list[str] = []
    for name in names:
        found.append(name)
        if not _has_port(name):
            found.append(name + _ANY_PORT)
    return found


def _has_port(name: str) -> bool:
    _, colon, port = name.rpartition(":")
    return bool(colon) and (port == "*" or port.isdigit())


def _checked_host(host: str) -> str:
    name = host.strip().lower()
    bare = name.rpartition(":")[0] if _has_port(name) else name
    if not bare or any(sign.isspace() or sign in "*/@?#" for sign in bare):
        raise InvalidArgumentError(
            "an allowed host must be a name, such as memory.example.org, and no pattern"
        )
    return name


def _checked_origin(origin: str) -> str:
    value = origin.strip().lower()
    scheme, separator, host = value.partition("://")
    if not separator or not scheme.isalnum() or not host or host.startswith(":"):
        raise InvalidArgumentError(
            "an allowed origin must be SCHEME://HOST, such as https://app.example.org"
        )
    _checked_host(host)
    return value
