"""Bearers of accounts: whose they are, and from when they are nobody's."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from graymatter_mcp.errors import ForbiddenError, ReadOnlyError
from graymatter_mcp.model.access import LOCAL_CALLER, Rights
from graymatter_mcp.model.accounts import Role, TokenScope
from graymatter_mcp.surfaces.auth import (
    AuthenticationError,
    AuthenticationUnavailableError,
    Principal,
    Scope,
)
from graymatter_mcp.surfaces.credentials import BearerAuthenticator
from graymatter_mcp.surfaces.http.messages import HttpRequest
from graymatter_mcp.surfaces.live_tokens import LiveTokens
from graymatter_mcp.surfaces.tokens import TokenFile, digest
from tests.engine.plane.office import Office, caller_of
from tests.surfaces.rest.conftest import SERVER

if TYPE_CHECKING:
    from pathlib import Path

    from graymatter_mcp.model.access import Caller

pytestmark = pytest.mark.anyio


async def who(bearers: BearerAuthenticator, token: str) -> Principal | None:
    """Return who a token is; None where it is nobody."""
    try:
        return await bearers.authenticate(f"Bearer {token}")
    except AuthenticationError:
        return None


async def calls(bearers: BearerAuthenticator, token: str) -> Caller:
    """Return the caller of a request with a token."""
    request = HttpRequest(
        method="GET",
        path="/",
        headers={},
        repeated=frozenset(),
        body=b"",
        principal=await bearers.authenticate(f"bearer {token}"),
        request_id="r1",
    )
    return request.caller


async def test_a_token_of_an_account_is_its_user(
    office: Office, bearers: BearerAuthenticator
) -> None:
    """Data plane 1.1: tenant and user come from the token only."""
    ana = office.user("ana", Role.USER, "acme")
    web = office.project(ana, "web")
    issued = office.accounts.tokens.create(
        ana, label="ci", scope=TokenScope.READ_ONLY, project="web"
    )
    assert await who(bearers, issued.secret) == Principal(
        label="ci",
        scope=Scope.READ_ONLY,
        project=web.id,
        subject=f"token:{issued.token.id}",
        tenant="acme",
        user_id=ana.user_id,
        token_id=issued.token.id,
        reaches_core=False,
    )
    rights = Rights(may_write=False, project=web.id, reaches_core=False)
    expected = replace(caller_of(issued.token), rights=rights, request_id="r1")
    assert await calls(bearers, issued.secret) == expected
    with pytest.raises(LookupError):
        _ = HttpRequest(
            method="GET",
            path="/",
            headers={},
            repeated=frozenset(),
            body=b"",
            principal=None,
            request_id="r1",
        ).caller


async def test_a_token_ends_with_the_next_request(
    office: Office, bearers: BearerAuthenticator
) -> None:
    """D11: revoked, expired, rotated, or its user gone: 401, one text for all."""
    ana, ben = office.user("ana"), office.user("ben")
    tokens = office.accounts.tokens
    revoked, rotated, orphan = tokens.create(ana), tokens.create(ana), tokens.create(ben)
    expired = tokens.create(ana, expires_in_days=1)
    issued = [revoked, rotated, orphan, expired]
    assert all([await who(bearers, one.secret) for one in issued])
    tokens.revoke(ana, revoked.token.id)
    fresh = tokens.rotate(caller_of(rotated.token))
    office.accounts.users.delete(LOCAL_CALLER, ben.user_id)
    office.now.forward(days=1)
    assert [await who(bearers, one.secret) for one in issued] == [None] * 4
    assert await who(bearers, fresh.secret)
    assert await who(bearers, "gm_" + "A" * 43) is None


async def test_tokens_of_the_file_are_the_local_users(
    office: Office, bearers: BearerAuthenticator, tmp_path: Path
) -> None:
    """Data plane 8: the server token is admin of tenant local; the file's are no server token."""
    assert await calls(bearers, SERVER) == replace(LOCAL_CALLER, request_id="r1")
    made = TokenFile(tmp_path).create(name="ci", project="web")
    kept = bearers.credential(f"token:{made.stored.id}")
    assert kept is not None
    assert kept.sha256 == digest(made.secret)
    caller = await calls(bearers, made.secret)
    rights = Rights(project="web")
    named = replace(LOCAL_CALLER, rights=rights, token_id=made.stored.id, request_id="r1")
    assert caller == named
    with pytest.raises(ForbiddenError, match="not a member of the token's project"):
        office.accounts.reach.write_scope(caller, None)
    web = office.project(LOCAL_CALLER, "web")
    assert office.accounts.reach.pin(caller) == web
    free = await calls(bearers, TokenFile(tmp_path).create().secret)
    assert office.accounts.users.create(free, "ana", tenant="acme").tenant == "local"


async def test_a_use_is_noted(office: Office, bearers: BearerAuthenticator) -> None:
    """Data plane 8: lastUsedAt."""
    ana = office.user("ana")
    issued = office.accounts.tokens.create(ana)
    assert [one.last_used_at for one in office.accounts.tokens.list(ana)] == [None]
    await who(bearers, issued.secret)
    used = [one.last_used_at for one in office.accounts.tokens.list(ana)]
    assert used == [office.now.now]


class Issuer:
    """Vouches for whoever it is told to; the real one is tried in test_oauth."""

    issuer = "https://id.example"
    tenant = "acme"

    def challenge(self, error: str = "") -> str:
        """Return a challenge."""
        return f"Bearer {error}"

    async def principal(self, token: str) -> Principal:
        """Take the name out of the middle."""
        return Principal(
            label="", scope=Scope.FULL, subject=f"jwt:{token.split('.')[1]}", user_id=""
        )


async def test_a_subject_of_an_issuer_is_a_user_of_its_tenant(
    office: Office, tmp_path: Path
) -> None:
    """Data plane 8: made on first sight; before accounts are known it is nobody there."""
    bearers = BearerAuthenticator(SERVER, LiveTokens(tmp_path), Issuer())
    nobody = await calls(bearers, "a.ana.c")
    assert (nobody.tenant, nobody.user_id) == ("local", "")
    bearers.use(office.accounts)
    first, again, other = [await calls(bearers, t) for t in ("a.ana.c", "b.ana.d", "a.ben.c")]
    assert first == again != other
    assert office.accounts.reach.user(first).username == "ana"
    assert (first.tenant, office.accounts.reach.user(first).role) == ("acme", Role.USER)
    assert bearers.credential("jwt:ana") is None


async def test_a_subject_that_cannot_be_kept_is_let_in_later(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Data plane 8: nobody is let in as somebody else, and nothing of the failure gets out."""
    bearers = BearerAuthenticator(SERVER, LiveTokens(tmp_path), Issuer())
    bearers.use(office.accounts)

    def refuse(_: Any) -> None:
        raise ReadOnlyError

    monkeypatch.setattr(office.store, "apply", refuse)
    with pytest.raises(AuthenticationUnavailableError, match="tokens cannot be checked now"):
        await bearers.authenticate("Bearer a.ana.c")


async def test_an_empty_server_token_refuses_accounts_too(office: Office, tmp_path: Path) -> None:
    """ADR 0020: it closes the door rather than opening part of it."""
    bearers = BearerAuthenticator("", LiveTokens(tmp_path))
    bearers.use(office.accounts)
    issued = office.accounts.tokens.create(office.user("ana"))
    assert await who(bearers, issued.secret) is None
    assert bearers.credential(f"token:{issued.token.id}") is None
