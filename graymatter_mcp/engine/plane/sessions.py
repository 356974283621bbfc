"""Sessions of the web page: a cookie in the place of a token, and dead with it."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from graymatter_mcp.engine.plane.documents import Kind, Put
from graymatter_mcp.model.accounts import OpenedSession, WebSession

if TYPE_CHECKING:
    from graymatter_mcp.engine.plane.audit import Audit
    from graymatter_mcp.engine.plane.ledger import Ledger
    from graymatter_mcp.model.access import Caller

LIFETIME: Final = timedelta(days=7)
RENEWED_AFTER: Final = timedelta(days=1)
_COOKIE_BYTES: Final = 32


class Sessions:
    """The open sessions of a store."""

    def __init__(self, ledger: Ledger, audit: Audit) -> None:
        self._ledger = ledger
        self._audit = audit

    def open(self, caller: Caller, subject: str, digest: bytes) -> OpenedSession:
        """Let a browser in.

        Args:
            caller: Who showed a token that is good.
            subject: Names that token among those that the server knows.
            digest: Its SHA-256.
        """
        cookie = secrets.token_urlsafe(_COOKIE_BYTES)
        now = self._ledger.clock.now()
        session = WebSession(
            user_id=caller.user_id,
            subject=subject,
            proof=_proof(cookie, digest),
            renewed_at=now,
            expires_at=now + LIFETIME,
        )
        with self._ledger.turn():
            past = [k for k, one in self._ledger.book.sessions.items() if one.expires_at <= now]
            puts = [Put(Kind.SESSION, key, None) for key in past]
            puts.append(Put(Kind.SESSION, _key(cookie), session))
            self._ledger.commit(puts, self._audit.event(caller, "session_open"), at=now)
        return OpenedSession(session=session, cookie=cookie)

    def find(self, cookie: str) -> WebSession | None:
        """Return the session of a cookie, unless it is unknown, ended or expired.

        Looks into memory only. Whoever asks must still hold it against its token: see `is_of`.
        """
        session = self._ledger.book.sessions.get(_key(cookie))
        if session is None or session.expires_at <= self._ledger.clock.now():
            return None
        return session

    def is_due(self, cookie: str) -> bool:
        """Whether a session is to be renewed; looks into memory only."""
        session = self.find(cookie)
        return (
            session is not None and session.renewed_at + RENEWED_AFTER <= self._ledger.clock.now()
        )

    def renew(self, cookie: str) -> WebSession | None:
        """Let a session that is in use last, once a day; None where it is not due."""
        with self._ledger.turn():
            session, now = self.find(cookie), self._ledger.clock.now()
            if session is None or not self.is_due(cookie):
                return None
            renewed = replace(session, renewed_at=now, expires_at=now + LIFETIME)
            self._ledger.commit([Put(Kind.SESSION, _key(cookie), renewed)], None)
        return renewed

    def close(self, caller: Caller, cookie: str) -> None:
        """End a session of the caller's; what is none stays none."""
        with self._ledger.turn():
            session = self.find(cookie)
            if session is not None and session.user_id == caller.user_id:
                put = Put(Kind.SESSION, _key(cookie), None)
                self._ledger.commit([put], self._audit.event(caller, "session_close"))


def is_of(session: WebSession, cookie: str, digest: bytes) -> bool:
    """Whether a session was opened with the token of this SHA-256."""
    return hmac.compare_digest(session.proof, _proof(cookie, digest))


def _key(cookie: str) -> str:
    return hashlib.sha256(cookie.encode(errors="surrogatepass")).hexdigest()


def _proof(cookie: str, digest: bytes) -> bytes:
    # A server token may be short: its bare digest could be guessed from a copy of the store.
    return hmac.digest(cookie.encode(errors="surrogatepass"), digest, "sha256")
