"""Whose word on a client's address counts."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from graymatter_mcp.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence


class Proxies:
    """Peers that are trusted to name the client in `X-Forwarded-For`; by default nobody."""

    def __init__(self, networks: Sequence[str]) -> None:
        """Prepare.

        Args:
            networks: Addresses or networks such as ``10.0.0.0/8``.

        Raises:
            InvalidArgumentError: One is neither.
        """
        try:
            self._networks = tuple(ipaddress.ip_network(one.strip()) for one in networks)
        except ValueError:
            raise InvalidArgumentError(
                "a trusted proxy must be an address or a network, such as 10.0.0.0/8"
            ) from None

    def client_of(self, peer: str, forwarded: str | None) -> str:
        """Return the address of the client: the last that no trusted peer vouches for."""
        client = peer
        hops = [] if forwarded is None else forwarded.split(",")
        while hops and self._is_trusted(client):
            said = hops.pop().strip()
            if not _is_address(said):
                break
            client = said
        return client

    def _is_trusted(self, address: str) -> bool:
        if not self._networks or not _is_address(address):
            return False
        parsed = ipaddress.ip_address(address)
        return any(parsed in network for network in self._networks)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
