"""The issuer's public keys: fetched when they are needed, kept a while, never waited for long."""

from __future__ import annotations

import json
import logging
import ssl
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import anyio
import httpx2
import jwt

from graymatter_mcp.surfaces.auth import AuthenticationUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

logger = logging.getLogger(__name__)

FRESH_S: Final = 300.0
"""How long keys are used without asking: a key that the issuer took back is good for as long."""
STALE_S: Final = 3600.0
"""How long they are used while the issuer cannot be reached."""
RETRY_S: Final = 5.0
"""The issuer is asked no more often, whatever tokens come."""
DEADLINE_S: Final = 5.0
_LONGEST: Final = 262_144
_MIN_RSA_BITS: Final = 2048
_NO_DOCUMENT: Final = (OSError, ValueError, TypeError, LookupError, RecursionError)
"""What time-outs and documents of another shape raise."""
_RSA: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_CURVES: Final = {
    "P-256": ("ES256",),
    "P-384": ("ES384",),
    "P-521": ("ES512",),
    "Ed25519": ("EdDSA",),
}
ALGORITHMS: Final = frozenset((*_RSA, *(name for names in _CURVES.values() for name in names)))
"""Asymmetric only: with a secret shared, who can check a token can make one."""


@dataclass(frozen=True, slots=True)
class _Key:
    kid: str | None
    algorithms: tuple[str, ...]
    public: Any


class IssuerKeys:
    """Answers with a key of the issuer, however often, at a bounded price to both."""

    def __init__(self, url: str, now: Callable[[], float] = time.monotonic) -> None:
        """Prepare; nothing is fetched before the first token.

        Args:
            url: Of the JWKS document.
            now: Replaced only by tests.
        """
        self._url = url
        self._now = now
        self._lock = anyio.Lock()
        self._keys: tuple[_Key, ...] = ()
        self._fetched_at = -STALE_S
        self._next_at = float("-inf")
        # Made once: reading the certificates of the system takes long.
        self._tls = ssl.create_default_context()

    async def key(self, kid: str | None, algorithm: str) -> Any | None:
        """Return a public key; None where the issuer has none that fits.

        Args:
            kid: As the token names it; None finds a key only where no other fits.
            algorithm: One of `ALGORITHMS`.

        Raises:
            AuthenticationUnavailableError: No key is known, and the issuer gives none.
        """
        found = self._pick(kid, algorithm)
        if found is None:
            # A key that was just added, or no key at all.
            await self._refresh()
            found = self._pick(kid, algorithm)
        elif self._age() >= FRESH_S and not self._lock.locked():
            # One caller pays for the look; the others go on with what is there.
            await self._refresh()
            found = self._pick(kid, algorithm)
        if found is None and self._age() >= STALE_S:
            raise AuthenticationUnavailableError
        return found

    def _age(self) -> float:
        return self._now() - self._fetched_at

    def _pick(self, kid: str | None, algorithm: str) -> Any | None:
        if self._age() >= STALE_S:
            return None
        fitting = [key for key in self._keys if algorithm in key.algorithms]
        if kid is not None:
            fitting = [key for key in fitting if key.kid == kid]
        return fitting[0].public if len(fitting) == 1 else None

    async def _refresh(self) -> None:
        async with self._lock:
            if self._now() < self._next_at:
                return
            self._next_at = self._now() + RETRY_S
            try:
                with anyio.fail_after(DEADLINE_S):
                    keys = await self._fetch()
            except (httpx2.HTTPError, *_NO_DOCUMENT) as exc:
                logger.warning("the issuer's keys cannot be fetched: %s", type(exc).__name__)
            else:
                self._keys, self._fetched_at = keys, self._now()

    async def _fetch(self) -> tuple[_Key, ...]:
        async with (
            httpx2.AsyncClient(verify=self._tls, timeout=DEADLINE_S) as client,
            client.stream("GET", self._url, headers={"Accept": "application/json"}) as answer,
        ):
            if answer.status_code != HTTPStatus.OK:
                raise ValueError("not a document")
            content = bytearray()
            async for part in answer.aiter_bytes():
                content += part
                if len(content) > _LONGEST:
                    raise ValueError("too long")
        return tuple(_usable(json.loads(bytes(content))["keys"]))


def _usable(entries: Iterable[Any]) -> Iterable[_Key]:
    """Yield the keys that may have signed a token; what is for another use is left out."""
    for entry in entries:
        algorithms = _algorithms(entry)
        if not algorithms or entry.get("use", "sig") != "sig":
            continue
        if "verify" not in entry.get("key_ops", ("verify",)):
            continue
        try:
            public = jwt.PyJWK(entry, algorithms[0]).key
        except jwt.PyJWTError:
            continue
        if algorithms[0] in _RSA and public.key_size < _MIN_RSA_BITS:
            continue
        yield _Key(entry.get("kid"), algorithms, public)


def _algorithms(entry: dict[str, Any]) -> tuple[str, ...]:
    """Return what the key signs with: all that its type can, or the one that it names."""
    kind = entry["kty"]
    fitting = _RSA if kind == "RSA" else ()
    if kind in {"EC", "OKP"}:
        fitting = _CURVES.get(entry.get("crv", ""), ())
    named = entry.get("alg")
    return fitting if named is None else tuple(one for one in fitting if one == named)
