"""What a caller reaches, and what they are told of the rest."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.errors import (
    ForbiddenError,
    GraymatterError,
    NotFoundError,
    ReadOnlyError,
    UnauthorizedError,
)
from graymatter_mcp.model.access import LOCAL_CALLER, Caller, Rights
from graymatter_mcp.model.accounts import Role, TokenScope
from graymatter_mcp.model.scopes import LOCAL_SCOPE, project_scope
from graymatter_mcp.store.base import Document, WriteBatch
from tests.engine.plane.office import Office, caller_of, scope_of

if TYPE_CHECKING:
    from collections.abc import Callable


def refusal(kind: type[GraymatterError], call: Callable[[], object]) -> str:
    """Return the text of the error that a call raises."""
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_without_any_account_all_is_the_local_users(office: Office) -> None:
    """Data plane 1.1: one user named local exists in a single-user store."""
    reach = office.accounts.reach
    assert reach.user(LOCAL_CALLER).username == "local"
    assert reach.user(LOCAL_CALLER).role is Role.ADMIN
    assert reach.write_scope(LOCAL_CALLER, None) == LOCAL_SCOPE
    assert reach.read_scopes(LOCAL_CALLER, None, None) == (LOCAL_SCOPE,)
    assert reach.all_scopes(LOCAL_CALLER) == (LOCAL_SCOPE,)
    assert office.store.documents() == []


def test_references_choose_what_is_read_and_written(office: Office) -> None:
    """Data plane 2.3, rule 3: project alone, includeProjects alone, both."""
    ana = office.user("ana")
    web, ops = office.project(ana, "web"), office.project(ana, "ops")
    in_web, in_ops = (project_scope("local", one.id) for one in (web, ops))
    reach = office.accounts.reach
    assert reach.write_scope(ana, "web") == reach.write_scope(ana, web.id) == in_web
    assert reach.read_scopes(ana, "web", None) == (in_web,)
    assert reach.read_scopes(ana, None, ["ops", "ops"]) == (scope_of(ana), in_ops)
    assert reach.read_scopes(ana, "web", ["ops"]) == (scope_of(ana), in_web, in_ops)
    assert reach.all_scopes(ana) == (scope_of(ana), in_web, in_ops)


def test_an_id_wins_over_a_name_and_the_oldest_of_a_name(office: Office) -> None:
    """Data plane 2.3: an id match wins; otherwise the name among the caller's, oldest first."""
    ana, ben = office.user("ana"), office.user("ben")
    foreign = office.project(ben, "web")
    shared = office.project(ben, "ops", ana)
    first, _ = office.project(ana, "web"), office.project(ana, "ops")
    named_like_an_id = office.project(ana, shared.id)
    reach = office.accounts.reach
    assert reach.project(ana, "web").id == first.id != foreign.id
    assert reach.project(ana, "ops").id == shared.id
    assert reach.project(ana, shared.id).id == shared.id != named_like_an_id.id


def test_what_is_unknown_and_what_is_not_theirs_have_their_texts(office: Office) -> None:
    """D15: an unknown reference is 404, a project of others 403 with name and id."""
    ana, ben = office.user("ana"), office.user("ben")
    theirs = office.project(ben, "Web")
    reach = office.accounts.reach
    unknown = "no such project 'nix' — call project_list to see ids"
    for ask in (
        lambda: reach.write_scope(ana, "nix"),
        lambda: reach.read_scopes(ana, "nix", None),
        lambda: reach.read_scopes(ana, None, ["nix"]),
    ):
        assert refusal(NotFoundError, ask) == unknown
    for ref in ("Web", theirs.id):
        text = refusal(ForbiddenError, lambda ref=ref: reach.write_scope(ana, ref))
        assert text == f"not a member of project '{ref}' (id {theirs.id})"
    assert refusal(NotFoundError, lambda: reach.project(ana, "web")).startswith("no such project")


def test_another_tenants_project_is_one_that_does_not_exist(office: Office) -> None:
    """Data plane 1.1: nothing crosses the wall between tenants."""
    ana = office.user("ana")
    eve = office.user("ana", Role.ADMIN, "acme")
    web = office.project(ana, "web")
    for ref in (web.id, "web"):
        text = refusal(NotFoundError, lambda ref=ref: office.accounts.reach.project(eve, ref))
        assert text == f"no such project '{ref}' — call project_list to see ids"
    projects = office.accounts.projects
    for ref in (web.id, "web", "nothing"):
        for act in (
            lambda ref=ref: projects.delete(eve, ref),
            lambda ref=ref: projects.members(eve, ref),
            lambda ref=ref: projects.add_member(eve, ref, "ana"),
            lambda ref=ref: projects.remove_member(eve, ref, ana.user_id),
        ):
            assert refusal(NotFoundError, act) == "unknown project"


def test_the_active_project_takes_what_names_none(office: Office) -> None:
    """D14: set, writes land in it and reads see both; cleared, it is user-global again."""
    ana = office.user("ana")
    web = office.project(ana, "web")
    scope, reach = project_scope("local", web.id), office.accounts.reach
    assert office.accounts.projects.activate(ana, "web") == web
    assert reach.write_scope(ana, None) == scope
    assert reach.read_scopes(ana, None, None) == (scope_of(ana), scope)
    assert office.reopened().reach.write_scope(ana, None) == scope
    office.accounts.projects.deactivate(ana)
    assert reach.write_scope(ana, None) == scope_of(ana)


def test_an_active_project_that_is_left_or_deleted_is_cleared(office: Office) -> None:
    """D14, data plane 2.3: it is treated as unset, and does not come back with the membership."""
    ana, ben = office.user("ana"), office.user("ben")
    web = office.project(ana, "web", ben)
    projects, reach = office.accounts.projects, office.accounts.reach
    for one in (ana, ben):
        projects.activate(one, web.id)
    projects.remove_member(ben, web.id, ben.user_id)
    projects.add_member(ana, web.id, "ben")
    assert projects.active(ben) is None
    assert reach.write_scope(ben, None) == scope_of(ben)
    assert projects.active(ana) is not None
    projects.delete(ana, web.id)
    assert projects.active(ana) is None
    assert office.reopened().projects.active(ana) is None
    assert not [one for one in office.store.documents() if one.kind == "active_project"]


def test_a_choice_of_a_project_that_is_not_theirs_counts_for_nothing(office: Office) -> None:
    """Data plane 2.3: whatever the record says, the membership decides."""
    ana, ben = office.user("ana"), office.user("ben")
    web = office.project(ana, "web")
    choice = Document(
        kind="active_project", key=ben.user_id, text=json.dumps({"project_id": web.id})
    )
    office.store.apply(WriteBatch(documents=(choice,)))
    reach = office.reopened().reach
    assert reach.active_project(ben) is None
    assert reach.write_scope(ben, None) == scope_of(ben)


def test_a_pinned_token_reaches_its_project_alone(office: Office) -> None:
    """D13: own project by id, by name or none; a foreign one is refused; nothing user-global."""
    ana = office.user("ana")
    web, ops = office.project(ana, "web"), office.project(ana, "ops")
    office.accounts.projects.activate(ana, ops.id)
    pinned = replace(ana, rights=Rights(project=web.id))
    scope, reach = project_scope("local", web.id), office.accounts.reach
    for ref in (web.id, "web", None):
        assert reach.write_scope(pinned, ref) == scope
        assert reach.read_scopes(pinned, ref, ["web"]) == (scope,)
    assert reach.all_scopes(pinned) == (scope,)
    assert reach.active_project(pinned) is None
    assert office.accounts.projects.list(pinned) == [web]
    for ref in ("ops", ops.id, "nix"):
        for ask in (
            lambda ref=ref: reach.write_scope(pinned, ref),
            lambda ref=ref: reach.read_scopes(pinned, "web", [ref]),
            lambda ref=ref: reach.read_scopes(pinned, ref, None),
        ):
            assert refusal(ForbiddenError, ask) == "token is confined to its project"


def test_a_pin_may_be_a_name_and_counts_before_its_namesakes(office: Office) -> None:
    """Data plane 2.3: tokens of `graymatter token` name a project as a person does."""
    ana = office.user("ana")
    older = office.project(ana, "web")
    office.project(LOCAL_CALLER, "web", ana)
    pin = next(p for p in office.accounts.projects.list(ana) if p.owner_id == "local")
    by_name = replace(LOCAL_CALLER, rights=Rights(project="web"))
    assert office.accounts.reach.pin(by_name) == pin
    newer = replace(ana, rights=Rights(project=pin.id))
    assert office.accounts.reach.project(newer, "web") == pin
    with pytest.raises(ForbiddenError, match="confined"):
        office.accounts.reach.project(newer, older.id)


def test_a_pin_counts_only_as_long_as_the_membership(office: Office) -> None:
    """D13: the owner removes the member, and the next request is refused."""
    ana, ben = office.user("ana"), office.user("ben")
    web = office.project(ana, "web", ben)
    issued = office.accounts.tokens.create(ben, project="web")
    pinned, reach = caller_of(issued.token), office.accounts.reach
    assert reach.write_scope(pinned, None) == project_scope("local", web.id)
    office.accounts.projects.remove_member(ana, web.id, ben.user_id)
    for ask in (
        lambda: reach.write_scope(pinned, None),
        lambda: reach.read_scopes(pinned, None, None),
        lambda: reach.all_scopes(pinned),
        lambda: reach.project(pinned, web.id),
        lambda: office.accounts.projects.list(pinned),
        lambda: office.accounts.feed.page(pinned, 0, None, 10),
    ):
        assert refusal(ForbiddenError, ask) == "not a member of the token's project"


def test_each_restriction_has_its_text(office: Office) -> None:
    """Data plane 2.1: read-only, restricted and admin only, in this order of cause."""
    ana, boss = office.user("ana"), office.user("boss", Role.ADMIN)
    web = office.project(boss, "web")
    reader = replace(boss, rights=Rights(may_write=False))
    pinned = replace(boss, rights=Rights(project=web.id))
    reach = office.accounts.reach
    assert refusal(ReadOnlyError, lambda: reach.check_may_write(reader)) == "read-only token"
    assert refusal(ReadOnlyError, lambda: reach.write_scope(reader, None)) == "read-only token"
    reach.check_may_write(pinned)
    for one in (reader, pinned):
        for check in (reach.check_unrestricted, reach.check_admin):
            text = refusal(ForbiddenError, lambda c=check, o=one: c(o))
            assert text == "restricted token"
    reach.check_unrestricted(ana)
    assert refusal(ForbiddenError, lambda: reach.check_admin(ana)) == "admin only"
    reach.check_admin(boss)
    reach.check_admin(LOCAL_CALLER)


@pytest.mark.parametrize("scope", [TokenScope.FULL, TokenScope.READ_ONLY])
def test_who_is_gone_is_nobody(office: Office, scope: TokenScope) -> None:
    """Data plane 2.1: from that instant."""
    ana = office.user("ana")
    caller = caller_of(office.accounts.tokens.create(ana, scope=scope).token)
    office.accounts.users.delete(LOCAL_CALLER, ana.user_id)
    reach = office.accounts.reach
    for gone in (caller, ana, Caller(user_id="01ARZ3NDEKTSV4RRFFQ69G5FAV"), Caller(tenant="acme")):
        for ask in (
            lambda gone=gone: reach.write_scope(gone, None),
            lambda gone=gone: reach.read_scopes(gone, None, None),
            lambda gone=gone: reach.all_scopes(gone),
            lambda gone=gone: reach.check_admin(gone),
        ):
            assert refusal(UnauthorizedError, ask) == "unauthorized"
