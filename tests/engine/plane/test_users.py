"""Users, tenants and those for whom an issuer vouches."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from ulid import ULID

from graymatter_mcp.errors import (
    ConflictError,
    ForbiddenError,
    InvalidArgumentError,
    NotFoundError,
)
from graymatter_mcp.model.access import LOCAL_CALLER, Caller
from graymatter_mcp.model.accounts import Quota, RemovedUser, Role, User
from graymatter_mcp.model.scopes import LOCAL_SCOPE, project_scope
from tests.engine.plane.office import Office, scope_of
from tests.engine.plane.test_reach import refusal

if TYPE_CHECKING:
    from graymatter_mcp.engine.plane.accounts import Accounts


def names(accounts: Accounts, caller: Caller) -> list[tuple[str, str]]:
    """Return the users that an admin sees."""
    return [(one.username, one.role) for one in accounts.users.list(caller)]


def test_an_admin_makes_users_of_one_name_each(office: Office) -> None:
    """Data plane 8: 409 username is taken; kept over a restart."""
    boss = office.user("boss", Role.ADMIN)
    office.now.forward(seconds=1)
    made = office.accounts.users.create(boss, "ana")
    assert (made.tenant, made.role) == ("local", Role.USER)
    text = refusal(ConflictError, lambda: office.accounts.users.create(boss, "ana"))
    assert text == "username is taken"
    expected = [("local", "admin"), ("boss", "admin"), ("ana", "user")]
    assert names(office.accounts, boss) == expected
    assert office.reopened().users.list(boss) == office.accounts.users.list(boss)
    ana = Caller(user_id=made.id)
    for ask in (
        lambda: office.accounts.users.list(ana),
        lambda: office.accounts.users.create(ana, "x"),
        lambda: office.accounts.users.delete(ana, boss.user_id),
        lambda: office.accounts.users.set_quota(ana, made.id, Quota(max_entries=9)),
        lambda: office.accounts.admin_audit(ana, 0, 10),
    ):
        assert refusal(ForbiddenError, ask) == "admin only"


def test_only_whoever_runs_the_server_names_a_tenant(office: Office) -> None:
    """Data plane 8: tenant from the server token only, else the caller's."""
    boss = office.user("boss", Role.ADMIN, "acme")
    assert boss.tenant == "acme"
    assert office.accounts.users.create(boss, "ana", tenant="other").tenant == "acme"
    by_token = Caller(token_id=str(ULID()))
    assert office.accounts.users.create(by_token, "ben", tenant="other").tenant == "local"
    for tenant in ("", "a/b", "a\x1fb", "x" * 65):
        with pytest.raises(InvalidArgumentError, match="tenant must be"):
            office.accounts.users.create(LOCAL_CALLER, "eve", tenant=tenant)


def test_tenants_do_not_see_each_other(office: Office) -> None:
    """Data plane 1.1: another tenant's id behaves like one that does not exist."""
    ana = office.user("ana")
    boss = office.user("boss", Role.ADMIN, "acme")
    assert office.accounts.users.create(boss, "ana").tenant == "acme"
    assert names(office.accounts, boss) == [("boss", "admin"), ("ana", "user")]
    for user_id in (ana.user_id, "local", "nix"):
        for ask in (
            lambda user_id=user_id: office.accounts.users.delete(boss, user_id),
            lambda user_id=user_id: office.accounts.users.set_quota(boss, user_id, Quota()),
            lambda user_id=user_id: office.accounts.tokens.create_for(boss, user_id),
        ):
            assert refusal(NotFoundError, ask) == "unknown user"
    web = office.project(boss, "web")
    with pytest.raises(NotFoundError, match="unknown user"):
        office.accounts.projects.add_member(boss, web.id, "local")


def test_a_user_goes_with_all_that_is_theirs(office: Office) -> None:
    """Data plane 8: tokens and user-global facts go; project facts of others stay."""
    ana, ben = office.user("ana"), office.user("ben")
    theirs, own = office.project(ben, "web", ana), office.project(ana, "notes")
    shared, alone = (project_scope("local", one.id) for one in (theirs, own))
    for scope in (scope_of(ana), scope_of(ben), shared, alone, LOCAL_SCOPE):
        office.write(scope, "fact")
    issued = [office.accounts.tokens.create(ana, project=ref) for ref in (None, "web", "notes")]
    office.accounts.projects.activate(ana, theirs.id)
    removed = office.accounts.users.delete(LOCAL_CALLER, ana.user_id)
    assert removed == RemovedUser(tokens_revoked=3, entries_removed=2)
    assert [office.bearer(one.secret) for one in issued] == [None] * 3
    assert office.texts(scope_of(ana)) == office.texts(alone) == []
    for scope in (scope_of(ben), shared, LOCAL_SCOPE):
        assert office.texts(scope) == ["fact"]
    reopened = office.reopened()
    assert [one.username for one in reopened.projects.members(ben, "web")] == ["ben"]
    again = reopened.users.create(LOCAL_CALLER, "ana")
    assert reopened.projects.list(Caller(user_id=again.id)) == []
    kinds = {one.kind for one in office.store.documents() if ana.user_id in one.key}
    assert kinds == set()


def test_some_users_cannot_be_deleted(office: Office) -> None:
    """Data plane 8: the last admin, the owner of shared projects, and who runs the server."""
    ana, ben = office.user("ana"), office.user("ben")
    office.project(ana, "web", ben)
    users = office.accounts.users
    text = refusal(ConflictError, lambda: users.delete(LOCAL_CALLER, ana.user_id))
    assert text == "user owns projects"
    boss = office.user("boss", Role.ADMIN, "acme")
    last = refusal(InvalidArgumentError, lambda: users.delete(boss, boss.user_id))
    assert last == "LAST_ADMIN_PROTECTED"
    second = users.create(boss, "second", Role.ADMIN)
    users.delete(boss, second.id)
    other = office.user("other", Role.ADMIN)
    with pytest.raises(InvalidArgumentError, match="the user local cannot be deleted"):
        users.delete(other, "local")


def test_an_issuers_subject_is_a_user_from_first_sight_on(office: Office) -> None:
    """Data plane 8: made on first sight, role user; a name alone is no identity."""
    ana = office.user("ana")
    users = office.accounts.users
    first = users.of_subject("local", "https://id.example ana", "ana")
    assert first.id != ana.user_id
    assert (first.role, first.tenant) == (Role.USER, "local")
    assert first.username.startswith("ana-")
    assert users.of_subject("local", "https://id.example ana", "ana") == first
    assert office.reopened().users.of_subject("local", "https://id.example ana", "x") == first
    other = users.of_subject("local", "https://other.example ana", "ana")
    elsewhere = users.of_subject("acme", "https://id.example ana", "ana")
    assert len({first.id, other.id, elsewhere.id, ana.user_id}) == 4
    assert (elsewhere.username, elsewhere.tenant) == ("ana", "acme")
    assert users.of_subject("local", "https://id.example local", "local").id != "local"


def test_a_subject_seen_by_many_at_once_is_one_user(office: Office) -> None:
    """Data plane 8: made once."""
    seen: list[User] = []
    start = threading.Barrier(8)

    def look() -> None:
        start.wait()
        seen.append(office.accounts.users.of_subject("local", "issuer eve", "eve"))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len({user.id for user in seen}) == 1


def test_checkpoints_and_entities_die_with_their_user(office: Office) -> None:
    """Data plane 8: those of the user's own shelves and projects."""
    ana, ben = office.user("ana"), office.user("ben")
    own = office.project(ana, "web")
    doomed = [office.leave_more(scope) for scope in (scope_of(ana), project_scope("local", own.id))]
    kept = office.leave_more(scope_of(ben))
    office.accounts.users.delete(LOCAL_CALLER, ana.user_id)
    assert [office.store.checkpoints(one) for one in doomed] == [[], []]
    assert len(office.store.checkpoints(kept)) == 1
    assert office.store.stats().nodes == 1
