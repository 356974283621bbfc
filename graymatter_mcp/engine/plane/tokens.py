"""Tokens of accounts: shown once, kept as digests, refused from the instant they are revoked."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from graymatter_mcp.engine.plane.documents import Kind, Moment, Put
from graymatter_mcp.engine.plane.lines import check_line
from graymatter_mcp.engine.plane.reach import is_server
from graymatter_mcp.errors import ForbiddenError, NotFoundError
from graymatter_mcp.model.access import Caller
from graymatter_mcp.model.accounts import IssuedToken, Token, TokenScope, UsedToken

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from graymatter_mcp.engine.plane.audit import Audit
    from graymatter_mcp.engine.plane.ledger import Ledger
    from graymatter_mcp.engine.plane.reach import Reach
    from graymatter_mcp.model.accounts import User

PREFIX: Final = "gm_"
MAX_LABEL: Final = 64
_SECRET_BYTES: Final = 32
_NOBODY: Final = bytes(32)


class Tokens:
    """The tokens of a store."""

    def __init__(self, ledger: Ledger, reach: Reach, audit: Audit) -> None:
        self._ledger = ledger
        self._reach = reach
        self._audit = audit
        self._used: dict[str, datetime] = {}
        self._use_lock = threading.Lock()

    def of_digest(self, digest: bytes) -> Token | None:
        """Return the token with this SHA-256, unless it is unknown, revoked or expired.

        Looks into memory only: cheap enough for the event loop.
        """
        # Found by its digest, of which a caller chooses nothing, and then compared as a secret is.
        found = self._ledger.book.tokens.found(digest)
        kept = found[0].sha256 if found else _NOBODY
        if not hmac.compare_digest(kept, digest) or not found:
            return None
        return self._living(found[0])

    def of_id(self, token_id: str) -> Token | None:
        """Return the token of an id, unless it is unknown, revoked or expired."""
        token = self._ledger.book.tokens.get(token_id)
        return None if token is None else self._living(token)

    def note_use(self, token_id: str) -> None:
        """Remember that a token was shown; kept by `save_uses`."""
        if self._ledger.book.tokens.get(token_id) is not None:
            with self._use_lock:
                self._used[token_id] = self._ledger.clock.now()

    def save_uses(self) -> None:
        """Keep when tokens were last shown; what a crash takes of it is lost."""
        with self._ledger.turn():
            with self._use_lock:
                used, self._used = self._used, {}
            tokens = self._ledger.book.tokens
            puts = [
                Put(Kind.TOKEN_USE, token_id, Moment(at=at))
                for token_id, at in used.items()
                if tokens.get(token_id) is not None
            ]
            if puts:
                self._ledger.commit(puts, None)

    def list(self, caller: Caller) -> list[UsedToken]:
        """Return the caller's tokens, oldest first, expired ones too.

        A pinned token sees those of its project.

        Raises:
            ForbiddenError: See `Reach.pin`.
        """
        pin = self._reach.pin(caller)
        tokens = self._ledger.book.tokens.found(("user", caller.user_id))
        return self._shown(one for one in tokens if pin is None or one.project_id == pin.id)

    def list_all(self, caller: Caller) -> list[UsedToken]:
        """Return the tokens of the caller's tenant, oldest first.

        Raises:
            ForbiddenError: The caller is no admin.
        """
        self._reach.check_admin(caller)
        tokens = [one for one in self._ledger.book.tokens if one.tenant == caller.tenant]
        return self._shown(sorted(tokens, key=lambda token: token.id))

    def create(
        self,
        caller: Caller,
        *,
        label: str = "",
        scope: TokenScope = TokenScope.FULL,
        project: str | None = None,
        expires_in_days: int | None = None,
    ) -> IssuedToken:
        """Make a token of the caller's.

        Args:
            caller: Whose it is.
            label: What a person calls it.
            scope: What its bearer may do.
            project: Reference of the one project that its bearer may use.
            expires_in_days: None is never.

        Raises:
            ForbiddenError: The caller's own token is restricted, or the project is not theirs.
            NotFoundError: There is no such project.
            InvalidArgumentError: The label breaks a rule.
        """
        self._reach.check_unrestricted(caller)
        with self._ledger.turn():
            user = self._reach.user(caller)
            return self._make(caller, user, label, scope, project, expires_in_days)

    def create_for(
        self,
        caller: Caller,
        user_id: str,
        *,
        label: str = "",
        scope: TokenScope = TokenScope.FULL,
        project: str | None = None,
        expires_in_days: int | None = None,
    ) -> IssuedToken:
        """Make a token of another user's; see `create`.

        Whoever runs the server makes the first tokens of every tenant.

        Raises:
            ForbiddenError: The caller is no admin.
            NotFoundError: There is no such user.
        """
        self._reach.check_admin(caller)
        with self._ledger.turn():
            user = self._ledger.book.users.get(user_id)
            if user is None or not (user.tenant == caller.tenant or is_server(caller)):
                raise NotFoundError("unknown user")
            return self._make(caller, user, label, scope, project, expires_in_days)

    def revoke(self, caller: Caller, token_id: str) -> None:
        """Take back a token of the caller's.

        Raises:
            ForbiddenError: The caller's own token is restricted.
            NotFoundError: They have no such token.
        """
        self._reach.check_unrestricted(caller)
        with self._ledger.turn():
            token = self._ledger.book.tokens.get(token_id)
            if token is None or token.user_id != caller.user_id:
                raise NotFoundError("token not found")
            self._revoke(caller, token)

    def revoke_any(self, caller: Caller, token_id: str) -> None:
        """Take back a token of the caller's tenant.

        Raises:
            ForbiddenError: The caller is no admin.
            NotFoundError: There is no such token.
        """
        self._reach.check_admin(caller)
        with self._ledger.turn():
            token = self._ledger.book.tokens.get(token_id)
            if token is None or token.tenant != caller.tenant:
                raise NotFoundError("token not found")
            self._revoke(caller, token)

    def rotate(self, caller: Caller) -> IssuedToken:
        """Put a new token with the same rights and expiry in the place of the one that asks.

        Raises:
            ForbiddenError: It is not kept here.
        """
        with self._ledger.turn():
            old = self.of_id(caller.token_id)
            if old is None or old.user_id != caller.user_id:
                raise ForbiddenError("this token is not kept here: renew it where it was made")
            issued = self._issue(old)
            puts = [
                *_gone(old),
                Put(Kind.TOKEN, issued.token.id, issued.token),
            ]
            event = self._audit.event(caller, "token_rotate", issued.token.id, old.project_id)
            self._ledger.commit(puts, event, at=issued.token.created_at)
        return issued

    def _living(self, token: Token) -> Token | None:
        if token.is_expired(self._ledger.clock.now()):
            return None
        return token if self._ledger.book.users.get(token.user_id) is not None else None

    def _shown(self, tokens: Iterable[Token]) -> list[UsedToken]:
        uses = self._ledger.book.uses
        return [
            UsedToken(
                token=one,
                last_used_at=self._used.get(one.id) or ((use := uses.get(one.id)) and use.at),
            )
            for one in tokens
        ]

    def _make(
        self,
        caller: Caller,
        user: User,
        label: str,
        scope: TokenScope,
        project: str | None,
        expires_in_days: int | None,
    ) -> IssuedToken:
        if label:
            check_line("label", label, MAX_LABEL)
        pin = None
        if project is not None:
            holder = Caller(tenant=user.tenant, user_id=user.id)
            pin = self._reach.project(holder, project).id
        now = self._ledger.clock.now()
        draft = Token(
            id="",
            tenant=user.tenant,
            user_id=user.id,
            label=label,
            scope=scope,
            project_id=pin,
            created_at=now,
            expires_at=None if expires_in_days is None else now + timedelta(days=expires_in_days),
            sha256=_NOBODY,
        )
        issued = self._issue(draft)
        event = self._audit.event(caller, "token_create", issued.token.id, pin)
        put = Put(Kind.TOKEN, issued.token.id, issued.token)
        self._ledger.commit([put], event, at=issued.token.created_at)
        return issued

    def _issue(self, like: Token) -> IssuedToken:
        secret = PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        at, new_id = self._ledger.clock.stamp()
        sha256 = hashlib.sha256(secret.encode()).digest()
        return IssuedToken(
            token=replace(like, id=new_id, created_at=at, sha256=sha256), secret=secret
        )

    def _revoke(self, caller: Caller, token: Token) -> None:
        event = self._audit.event(caller, "token_delete", token.id, token.project_id)
        self._ledger.commit(_gone(token), event)


def _gone(token: Token) -> list[Put]:
    return [Put(Kind.TOKEN, token.id, None), Put(Kind.TOKEN_USE, token.id, None)]
