"""Tokens that an authorization server issued: signed by it, for us, now, and for enough."""

from __future__ import annotations

import logging
import re
import time
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, cast

import jwt

from graymatter_mcp.surfaces.auth import (
    PLAIN_CHALLENGE,
    AuthenticationError,
    InsufficientScopeError,
    Principal,
    Scope,
)
from graymatter_mcp.surfaces.oauth_keys import ALGORITHMS

if TYPE_CHECKING:
    from graymatter_mcp.surfaces.oauth_config import OAuthConfig
    from graymatter_mcp.surfaces.oauth_keys import IssuerKeys

logger = logging.getLogger(__name__)

_SKEW_S: Final = 30
"""How far the issuer's clock may be ahead of ours."""
_TYPES: Final = frozenset({"jwt", "at+jwt", "application/at+jwt"})
_NAME: Final = re.compile(r"[!-~]{1,64}")


class IssuedTokens:
    """Checks signed tokens of one issuer."""

    def __init__(self, config: OAuthConfig, keys: IssuerKeys) -> None:
        """Prepare.

        Args:
            config: What a token must say.
            keys: What it must be signed with.
        """
        self._config = config
        self._keys = keys

    @property
    def issuer(self) -> str:
        """Whose tokens these are."""
        return self._config.issuer

    @property
    def tenant(self) -> str:
        """Where its subjects are users."""
        return self._config.tenant

    def challenge(self, error: str = "") -> str:
        """Return the value of `WWW-Authenticate`: where to get a token, and for what scope.

        Args:
            error: A code of RFC 6750, 3.1; empty where no token was shown.
        """
        parts = [PLAIN_CHALLENGE]
        if error:
            parts.append(f'error="{error}"')
        if self._config.scopes:
            parts.append(f'scope="{" ".join(self._config.scopes)}"')
        parts.append(f'resource_metadata="{self._config.metadata_url}"')
        return ", ".join(parts)

    async def principal(self, token: str) -> Principal:
        """Return whom the issuer vouches for.

        Raises:
            AuthenticationError: It is not signed by the issuer, not for us, or not for now.
            InsufficientScopeError: It was granted too little.
            AuthenticationUnavailableError: The issuer's keys cannot be had.
        """
        try:
            claims = await self._verified(token)
            subject = _subject(claims)
            granted = _granted(claims)
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as exc:
            # Its text quotes the token; its kind says enough to whoever configured the issuer.
            logger.info("a signed token was refused: %s", type(exc).__name__)
            raise AuthenticationError(self.challenge("invalid_token")) from None
        if not granted.issuperset(self._config.required_scopes):
            raise InsufficientScopeError(self.challenge("insufficient_scope"))
        may_write = not self._config.write_scope or self._config.write_scope in granted
        return Principal(
            label=_name(claims.get("client_id") or claims.get("azp")),
            scope=Scope.FULL if may_write else Scope.READ_ONLY,
            subject=f"jwt:{subject}",
            # Nobody in the data plane until a user is found for the subject.
            user_id="",
        )

    async def _verified(self, token: str) -> dict[str, Any]:
        header = jwt.get_unverified_header(token)
        algorithm = header.get("alg")
        if algorithm not in ALGORITHMS:
            raise jwt.InvalidAlgorithmError
        if str(header.get("typ", "jwt")).lower() not in _TYPES:
            raise jwt.InvalidTokenError
        # Before the keys: what another issuer signed is no reason to ask ours.
        unproven: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
        if unproven.get("iss") != self._config.issuer:
            raise jwt.InvalidIssuerError
        key = await self._keys.key(header.get("kid"), algorithm)
        if key is None:
            raise jwt.InvalidKeyError
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            audience=self._config.audiences,
            issuer=self._config.issuer,
            leeway=_SKEW_S,
            options={"require": ["iss", "aud", "exp"]},
        )
        # The skew is for what has not begun; what has ended has ended.
        if int(claims["exp"]) <= time.time():
            raise jwt.ExpiredSignatureError
        return claims


def _subject(claims: dict[str, Any]) -> str:
    subject = claims.get("sub") or claims.get("client_id") or claims.get("azp")
    if not isinstance(subject, str):
        raise jwt.InvalidTokenError
    return _name(subject)


def _name(value: object) -> str:
    """Return a name that stays on its line of a log: itself, or its digest."""
    if not isinstance(value, str):
        return ""
    if _NAME.fullmatch(value):
        return value
    return f"sha256:{sha256(value.encode(errors='surrogatepass')).hexdigest()[:32]}"


def _granted(claims: dict[str, Any]) -> frozenset[str]:
    """Return the scopes, in the spelling of RFC 9068 or in that of some large issuers."""
    value = claims.get("scope", claims.get("scp", ""))
    if isinstance(value, str):
        return frozenset(value.split())
    if not isinstance(value, list):
        raise TypeError("scopes are words")
    return frozenset(str(word) for word in cast("list[object]", value))
