"""Projects: shared, left, and deleted with what they hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.errors import (
    ConflictError,
    ForbiddenError,
    InvalidArgumentError,
    NotFoundError,
    StoreUnavailableError,
)
from graymatter_mcp.model.access import Rights
from graymatter_mcp.model.accounts import Member, ProjectRole
from graymatter_mcp.model.scopes import project_scope
from graymatter_mcp.store.base import FactPatch, WriteBatch
from tests.engine.plane.office import Office, scope_of
from tests.engine.plane.test_reach import refusal

if TYPE_CHECKING:
    from graymatter_mcp.model.access import Caller


def test_an_owner_has_one_project_of_a_name(office: Office) -> None:
    """Data plane 8: 409, for the owner alone."""
    ana, ben = office.user("ana"), office.user("ben")
    web = office.accounts.projects.create(ana, "web")
    text = refusal(ConflictError, lambda: office.accounts.projects.create(ana, "web"))
    assert text == "you already own a project with that name"
    other = office.accounts.projects.create(ben, "web")
    assert (web.owner_id, other.owner_id) == (ana.user_id, ben.user_id)
    assert office.accounts.projects.list(ana) == [web]
    assert office.reopened().projects.list(ana) == [web]
    for name in ("", " ", "a\nb", "x" * 129):
        with pytest.raises(InvalidArgumentError, match="name must be one line"):
            office.accounts.projects.create(ana, name)


def test_members_come_and_go(office: Office) -> None:
    """Data plane 8: the owner shares by exact name; owner or member ends it."""
    ana, ben, eve = office.user("ana"), office.user("ben"), office.user("eve")
    projects = office.accounts.projects
    web = office.project(ana, "web")
    added = projects.add_member(ana, web.id, "ben")
    assert added == Member(user_id=ben.user_id, username="ben", role=ProjectRole.MEMBER)
    owner = Member(user_id=ana.user_id, username="ana", role=ProjectRole.OWNER)
    assert projects.members(ben, "web") == [owner, added]
    assert office.reopened().projects.members(ben, web.id) == [owner, added]
    only = "only the owner can share a project"
    assert refusal(ForbiddenError, lambda: projects.add_member(ben, web.id, "eve")) == only
    for name in ("nix", "Ben", "be"):
        text = refusal(NotFoundError, lambda name=name: projects.add_member(ana, web.id, name))
        assert text == "unknown user"
    again = refusal(ConflictError, lambda: projects.add_member(ana, web.id, "ben"))
    assert again == "user is already a member"
    for outsider in (eve, ben):
        with pytest.raises(ForbiddenError, match="only the owner can remove a member"):
            projects.remove_member(outsider, web.id, ana.user_id)
    leaving = refusal(
        InvalidArgumentError, lambda: projects.remove_member(ana, web.id, ana.user_id)
    )
    assert leaving == "the owner cannot leave the project"
    with pytest.raises(NotFoundError, match="unknown user"):
        projects.remove_member(ana, web.id, eve.user_id)
    projects.unshare(ana, "web", "ben")
    assert projects.list(ben) == []
    not_in = refusal(ForbiddenError, lambda: projects.members(ben, web.id))
    assert not_in == f"not a member of project '{web.id}' (id {web.id})"


def test_members_reach_the_projects_facts_and_others_do_not(office: Office) -> None:
    """D16: a non-member sees none; user-global facts never mix."""
    ana, ben, eve = office.user("ana"), office.user("ben"), office.user("eve")
    scope = project_scope("local", office.project(ana, "web", ben).id)
    reach = office.accounts.reach
    for one in (ana, ben):
        assert scope in reach.all_scopes(one)
        assert reach.write_scope(one, "web") == scope
        others = {scope_of(other) for other in (ana, ben, eve) if other is not one}
        assert not others & set(reach.all_scopes(one))
    assert reach.all_scopes(eve) == (scope_of(eve),)


def test_a_project_dies_with_its_facts_and_its_tokens(office: Office) -> None:
    """Data plane 8: facts, edges and pins die in the transaction; the rest lives on."""
    ana, ben = office.user("ana"), office.user("ben")
    web, ops = office.project(ana, "web", ben), office.project(ana, "ops")
    inside, beside = project_scope("local", web.id), project_scope("local", ops.id)
    pruned = office.write(inside, "pruned", "other")
    office.write(inside, "one")
    office.write(inside, "two", "other")
    office.write(beside, "beside")
    office.write(scope_of(ana), "mine")
    shelf = next(s for s in office.store.namespaces() if office.store.get(s, [pruned]))
    gone = FactPatch(namespace=shelf, fact_id=pruned, pruned_at=office.clock.now())
    office.store.apply(WriteBatch(at=office.clock.now(), patches=(gone,)))
    pinned = office.accounts.tokens.create(ben, project=web.id)
    free = office.accounts.tokens.create(ben)
    projects = office.accounts.projects
    text = refusal(ForbiddenError, lambda: projects.delete(ben, web.id))
    assert text == "only the owner can delete a project"
    assert projects.delete(ana, "web") == 2
    assert (office.texts(inside), office.texts(beside)) == ([], ["beside"])
    assert office.texts(scope_of(ana)) == ["mine"]
    assert office.store.pruned(office.clock.now().replace(year=2100)) == []
    assert office.bearer(pinned.secret) is None
    assert office.bearer(free.secret) is not None
    assert projects.list(ben) == []
    assert office.reopened().projects.list(ana) == [ops]
    assert refusal(NotFoundError, lambda: projects.delete(ana, web.id)) == "unknown project"


def test_checkpoints_and_entities_die_with_their_project(office: Office) -> None:
    """Data plane 8: also on a shelf without a fact; other shelves keep theirs."""
    ana = office.user("ana")
    web, shop = office.project(ana, "web"), office.project(ana, "shop")
    doomed = office.leave_more(project_scope("local", web.id), "site")
    kept = office.leave_more(project_scope("local", shop.id), "site")
    assert office.accounts.projects.delete(ana, web.id) == 0
    assert office.store.checkpoints(doomed) == []
    assert len(office.store.checkpoints(kept)) == 1
    assert office.store.stats().nodes == 1


def test_a_failed_deletion_changes_nothing(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data plane 8: the project and its facts go together, or not at all."""
    ana = office.user("ana")
    web = office.project(ana, "web")
    scope = project_scope("local", web.id)
    office.write(scope, "kept")

    def refuse(_: WriteBatch) -> None:
        raise StoreUnavailableError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(office.store, "apply", refuse)
        with pytest.raises(StoreUnavailableError):
            office.accounts.projects.delete(ana, web.id)
    assert office.accounts.projects.list(ana) == [web]
    assert office.texts(scope) == ["kept"]


def test_a_restricted_token_changes_no_project(office: Office) -> None:
    """Data plane 2.1: 403 restricted token on project changes; listing is a read."""
    ana, ben = office.user("ana"), office.user("ben")
    web = office.project(ana, "web", ben)
    projects = office.accounts.projects
    readers: list[Caller] = [
        replace(ana, rights=Rights(may_write=False)),
        replace(ana, rights=Rights(project=web.id)),
    ]
    for one in readers:
        for act in (
            lambda one=one: projects.create(one, "new"),
            lambda one=one: projects.delete(one, web.id),
            lambda one=one: projects.add_member(one, web.id, "ben"),
            lambda one=one: projects.remove_member(one, web.id, ben.user_id),
            lambda one=one: projects.activate(one, web.id),
            lambda one=one: projects.deactivate(one),
        ):
            assert refusal(ForbiddenError, act) == "restricted token"
        assert projects.list(one) == [web]
        assert len(projects.members(one, web.id)) == 2
