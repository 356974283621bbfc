"""Tokens: shown once, refused from the instant they end."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256

import pytest

from graymatter_mcp.errors import (
    ForbiddenError,
    InvalidArgumentError,
    NotFoundError,
)
from graymatter_mcp.model.access import LOCAL_CALLER, Caller, Rights
from graymatter_mcp.model.accounts import Role, TokenScope
from tests.engine.plane.office import Office, caller_of
from tests.engine.plane.test_reach import refusal


def test_a_token_is_random_and_kept_as_a_digest(office: Office) -> None:
    """Data plane 8: gm_ and 32 random bytes, shown once."""
    ana = office.user("ana")
    made = [office.accounts.tokens.create(ana, label="ci") for _ in range(2)]
    for one in made:
        assert re.fullmatch(r"gm_[A-Za-z0-9_-]{43}", one.secret)
        kept = "".join(document.text or "" for document in office.store.documents())
        assert one.secret not in kept
        assert one.secret not in repr(one)
        assert sha256(one.secret.encode()).hexdigest() in kept
        assert sha256(one.secret.encode()).hexdigest() not in repr(one)
    assert made[0].secret != made[1].secret
    assert office.bearer(made[0].secret) == replace(ana, token_id=made[0].token.id)
    assert office.bearer(made[0].secret.lower()) is None
    assert [one.token for one in office.accounts.tokens.list(ana)] == [m.token for m in made]


def test_rights_pin_and_expiry_are_kept_over_a_restart(office: Office) -> None:
    """Data plane 8: scope, project and expiry in days."""
    ana = office.user("ana")
    web = office.project(ana, "web")
    made = office.accounts.tokens.create(
        ana, label="ci", scope=TokenScope.READ_ONLY, project="web", expires_in_days=2
    )
    assert made.token.expires_at == office.now.now + timedelta(days=2)
    office.accounts = office.reopened()
    bearer = office.bearer(made.secret)
    assert bearer is not None
    assert bearer.rights == Rights(may_write=False, project=web.id)
    assert bearer.is_restricted


def test_an_ended_token_is_refused_on_the_next_request(office: Office) -> None:
    """D11: revoked, expired, and of a user who is gone."""
    ana = office.user("ana")
    tokens = office.accounts.tokens
    revoked, expired = tokens.create(ana), tokens.create(ana, expires_in_days=1)
    orphan = tokens.create(office.user("ben"))
    tokens.revoke(ana, revoked.token.id)
    assert office.bearer(revoked.secret) is None
    assert tokens.of_id(revoked.token.id) is None
    assert expired.token.expires_at is not None
    office.now.now = expired.token.expires_at - timedelta(microseconds=1)
    assert office.bearer(expired.secret) is not None
    office.now.now = expired.token.expires_at
    assert office.bearer(expired.secret) is None
    assert tokens.of_id(expired.token.id) is None
    office.accounts.users.delete(LOCAL_CALLER, orphan.token.user_id)
    assert office.bearer(orphan.secret) is None
    office.accounts = office.reopened()
    for one in (revoked, expired, orphan):
        assert office.bearer(one.secret) is None


def test_users_revoke_their_own_and_admins_their_tenants(office: Office) -> None:
    """Data plane 8: 404 token not found for all else."""
    ana, ben = office.user("ana"), office.user("ben")
    boss = office.user("boss", Role.ADMIN, "acme")
    tokens = office.accounts.tokens
    made = tokens.create(ana)
    for ask in (
        lambda: tokens.revoke(ben, made.token.id),
        lambda: tokens.revoke(ana, "nix"),
        lambda: tokens.revoke_any(boss, made.token.id),
        lambda: tokens.revoke_any(LOCAL_CALLER, "nix"),
    ):
        assert refusal(NotFoundError, ask) == "token not found"
    assert refusal(ForbiddenError, lambda: tokens.revoke_any(ben, made.token.id)) == "admin only"
    assert office.bearer(made.secret) is not None
    assert [one.token.id for one in tokens.list_all(LOCAL_CALLER)] == [made.token.id]
    assert tokens.list_all(boss) == []
    tokens.revoke_any(LOCAL_CALLER, made.token.id)
    assert office.bearer(made.secret) is None
    assert tokens.list(ana) == []


def test_users_get_their_first_token_from_an_admin(office: Office) -> None:
    """Data plane 8: of the tenant, or from whoever runs the server."""
    ana, boss = office.user("ana"), office.user("boss", Role.ADMIN, "acme")
    tokens = office.accounts.tokens
    first = tokens.create_for(LOCAL_CALLER, boss.user_id)
    bearer = office.bearer(first.secret)
    assert bearer == replace(boss, token_id=first.token.id)
    office.project(ana, "web")
    pinned = tokens.create_for(LOCAL_CALLER, ana.user_id, project="web")
    assert pinned.token.user_id == ana.user_id
    local_admin = caller_of(tokens.create(office.user("root", Role.ADMIN)).token)
    with pytest.raises(NotFoundError, match="unknown user"):
        tokens.create_for(local_admin, boss.user_id)
    with pytest.raises(ForbiddenError, match="admin only"):
        tokens.create_for(ana, ana.user_id)


def test_a_pin_must_be_a_project_of_its_user(office: Office) -> None:
    """Data plane 2.3: nobody pins a token to what they do not reach."""
    ana, ben = office.user("ana"), office.user("ben")
    web = office.project(ana, "web")
    tokens = office.accounts.tokens
    with pytest.raises(ForbiddenError, match="not a member of project 'web'"):
        tokens.create(ben, project="web")
    with pytest.raises(ForbiddenError, match="not a member of project"):
        tokens.create_for(LOCAL_CALLER, ben.user_id, project=web.id)
    with pytest.raises(NotFoundError, match="no such project 'nix'"):
        tokens.create(ana, project="nix")
    with pytest.raises(InvalidArgumentError, match="label must be one line"):
        tokens.create(ana, label="a\nb")


def test_a_restricted_token_mints_and_revokes_nothing(office: Office) -> None:
    """D12: minting is 403 restricted token."""
    ana, boss = office.user("ana"), office.user("boss", Role.ADMIN)
    web = office.project(boss, "web")
    tokens = office.accounts.tokens
    made = tokens.create(boss)
    for rights in (Rights(may_write=False), Rights(project=web.id)):
        one = replace(boss, rights=rights)
        for ask in (
            lambda one=one: tokens.create(one),
            lambda one=one: tokens.create_for(one, ana.user_id),
            lambda one=one: tokens.revoke(one, made.token.id),
            lambda one=one: tokens.revoke_any(one, made.token.id),
            lambda one=one: tokens.list_all(one),
        ):
            assert refusal(ForbiddenError, ask) == "restricted token"


def test_a_pinned_token_lists_those_of_its_project(office: Office) -> None:
    """Data plane 2.1: reads go to that project only."""
    ana = office.user("ana")
    office.project(ana, "web")
    office.project(ana, "ops")
    pinned, *_ = (office.accounts.tokens.create(ana, project=ref) for ref in ("web", "ops", None))
    listed = office.accounts.tokens.list(caller_of(pinned.token))
    assert [one.token for one in listed] == [pinned.token]


def test_rotation_keeps_the_rights_and_ends_the_old_one(office: Office) -> None:
    """D17: scope, pin and expiry kept; a restricted token may rotate itself."""
    ana = office.user("ana")
    office.project(ana, "web")
    tokens = office.accounts.tokens
    old = tokens.create(
        ana, label="ci", scope=TokenScope.READ_ONLY, project="web", expires_in_days=5
    )
    office.now.forward(days=1)
    caller = caller_of(old.token)
    new = tokens.rotate(caller)
    assert office.bearer(old.secret) is None
    assert new.token == replace(
        old.token, id=new.token.id, created_at=new.token.created_at, sha256=new.token.sha256
    )
    assert new.token.id != old.token.id
    assert office.bearer(new.secret) == replace(caller, token_id=new.token.id)
    assert len(office.reopened().tokens.list(ana)) == 1
    foreign = Caller(token_id=new.token.id)
    for one in (LOCAL_CALLER, caller, foreign):
        assert refusal(ForbiddenError, lambda one=one: tokens.rotate(one)) == (
            "this token is not kept here: renew it where it was made"
        )


def test_last_use_is_kept_when_there_is_time(office: Office) -> None:
    """Data plane 8: lastUsedAt, best effort."""
    ana = office.user("ana")
    tokens = office.accounts.tokens
    made, idle = tokens.create(ana), tokens.create(ana)
    tokens.note_use(made.token.id)
    tokens.note_use("nix")
    used_at = office.now.now
    expected = [(made.token, used_at), (idle.token, None)]
    assert [(u.token, u.last_used_at) for u in tokens.list(ana)] == expected
    office.now.forward(seconds=1)
    office.accounts.upkeep()
    again = office.reopened().tokens.list(ana)
    assert [(u.token, u.last_used_at) for u in again] == expected
    tokens.revoke(ana, made.token.id)
    assert not [one for one in office.store.documents() if one.kind == "token_use"]
