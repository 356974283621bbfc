"""The audit and the feed: who, what, when, and never a word of content."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.errors import ForbiddenError, StoreUnavailableError
from graymatter_mcp.model.access import LOCAL_CALLER, Rights
from graymatter_mcp.model.accounts import AuditEvent, FactChange, Role
from graymatter_mcp.model.scopes import project_scope, shelf
from graymatter_mcp.store.base import FactPatch, WriteBatch
from tests.engine.plane.office import Office, caller_of, scope_of

if TYPE_CHECKING:
    from graymatter_mcp.model.ids import FactId, Namespace


def test_each_change_of_accounts_leaves_an_event(office: Office) -> None:
    """Data plane 8: every account route that changes something, in its transaction."""
    ana, ben = office.user("ana"), office.user("ben")
    web = office.project(ana, "web", ben)
    made = office.accounts.tokens.create(ana)
    rotated = office.accounts.tokens.rotate(caller_of(made.token))
    office.accounts.projects.activate(ana, web.id)
    office.accounts.tokens.revoke(ana, rotated.token.id)
    office.accounts.projects.delete(ana, web.id)
    assert office.actions() == [
        ("user_create", ana.user_id, "ok"),
        ("user_create", ben.user_id, "ok"),
        ("project_create", web.id, "ok"),
        ("project_share", ben.user_id, "ok"),
        ("token_create", made.token.id, "ok"),
        ("token_rotate", rotated.token.id, "ok"),
        ("project_activate", web.id, "ok"),
        ("token_delete", rotated.token.id, "ok"),
        ("project_delete", web.id, "ok"),
    ]


def test_an_event_says_who_and_how_it_ended(office: Office) -> None:
    """Data plane 8: ids and outcome only; what is no id is left out."""
    ana = replace(office.user("ana"), token_id="01T", request_id="r-1")  # noqa: S106 - an id
    audit = office.accounts.audit
    start = audit.page("local", 0, 10).next_seq
    audit.note(audit.event(ana, "remember", "01FACT", "01PROJECT"))
    audit.note(audit.event(ana, "forget", "drop my\nsecret words", outcome="forbidden"))
    audit.note(audit.event(None, "search", outcome="unauthorized", request_id="r-2"))
    page = office.accounts.admin_audit(LOCAL_CALLER, start, 10)
    first, second, third = page.events
    assert first == AuditEvent(
        seq=start + 1,
        at=office.now.now,
        user_id=ana.user_id,
        token_id=ana.token_id,
        action="remember",
        target="01FACT",
        project_id="01PROJECT",
        outcome="ok",
        request_id="r-1",
    )
    assert (second.target, second.project_id, second.outcome) == (None, None, "forbidden")
    assert (third.user_id, third.token_id, third.request_id) == (None, None, "r-2")
    assert page.next_seq == third.seq
    assert office.accounts.admin_audit(LOCAL_CALLER, third.seq, 10).next_seq == third.seq
    assert len(office.accounts.admin_audit(LOCAL_CALLER, 0, 2).events) == 2


def test_an_admin_reads_the_audit_of_their_tenant(office: Office) -> None:
    """Data plane 1.1: nothing crosses the wall."""
    boss = office.user("boss", Role.ADMIN, "acme")
    made = office.accounts.users.create(boss, "ana")
    page = office.accounts.admin_audit(boss, 0, 10)
    assert [(one.action, one.target) for one in page.events] == [("user_create", made.id)]
    local = office.accounts.admin_audit(LOCAL_CALLER, 0, 10)
    assert made.id not in {one.target for one in local.events}


def test_a_note_that_cannot_be_kept_stops_nobody(
    office: Office, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Data plane 8: what tells of no change is kept best effort."""

    def refuse(_: WriteBatch) -> None:
        raise StoreUnavailableError("no room in /secret/place")

    event = office.accounts.audit.event(LOCAL_CALLER, "search")
    monkeypatch.setattr(office.store, "apply", refuse)
    office.accounts.audit.note(event)
    assert [one.getMessage() for one in caplog.records] == [
        "an entry of the audit was lost: store_unavailable"
    ]


def retire(office: Office, namespace: Namespace, old: FactId, heir: FactId) -> None:
    """Supersede a fact."""
    patch = FactPatch(namespace=namespace, fact_id=old, superseded_by=heir)
    office.store.apply(WriteBatch(at=office.clock.now(), patches=(patch,)))


def test_the_feed_tells_what_changed_in_the_callers_scopes(office: Office) -> None:
    """D20: in order, with rising numbers, and nothing of anybody else."""
    ana, ben = office.user("ana"), office.user("ben")
    scope = project_scope("local", office.project(ana, "web", ben).id)
    first = office.write(scope_of(ana), "secret one")
    office.write(scope_of(ben), "of ben")
    shared = office.write(scope, "secret two")
    heir = office.write(scope, "secret three")
    retire(office, shelf(scope, "default"), shared, heir)
    gone = ((shelf(scope_of(ana), "default"), first),)
    office.store.apply(WriteBatch(at=office.clock.now(), delete=gone))
    page = office.accounts.feed.page(ana, 0, None, 100)
    told = [(c.change, c.entry_id, c.project_id, c.detail) for c in page.changes]
    assert told == [
        ("created", first, None, None),
        ("created", shared, scope.project_id, None),
        ("created", heir, scope.project_id, None),
        ("superseded", shared, scope.project_id, heir),
        ("deleted", first, None, None),
    ]
    numbers = [one.seq for one in page.changes]
    assert numbers == sorted(set(numbers))
    assert page.next_seq == numbers[-1]
    assert "secret" not in repr(page)
    pinned = replace(ana, rights=Rights(project=scope.project_id))
    rest = office.accounts.feed.page(pinned, 0, None, 100)
    assert rest.changes == page.changes[1:4]


def test_the_feed_is_read_in_pages_to_its_end(office: Office) -> None:
    """D20: nextSeq echoes afterSeq when empty; `since` is inclusive."""
    ana = office.user("ana")
    for number in range(3):
        office.now.forward(seconds=1)
        office.write(scope_of(ana), str(number))
    feed, seen, after = office.accounts.feed, list[FactChange](), 0
    while (page := feed.page(ana, after, None, 2)).changes:
        assert len(page.changes) <= 2
        seen += page.changes
        after = page.next_seq
    assert page.next_seq == after == seen[-1].seq
    assert [one.change for one in seen] == ["created"] * 3
    assert feed.page(ana, 0, seen[1].at, 100).changes == tuple(seen[1:])
    assert feed.page(ana, 10_000, None, 100).next_seq == 10_000


def test_feed_and_audit_are_kept_for_their_time(office: Office) -> None:
    """Data plane 8: 30 and 180 days."""
    ana = office.user("ana")
    for days in (0, 160, 29):
        office.now.forward(days=days)
        office.write(scope_of(ana), str(days))
        office.project(ana, str(days))
    office.accounts.upkeep()
    kept = office.accounts.feed.page(ana, 0, None, 100).changes
    assert [office.now.now - one.at for one in kept] == [timedelta(days=29), timedelta(0)]
    events = office.accounts.admin_audit(LOCAL_CALLER, 0, 100).events
    assert [office.now.now - one.at for one in events] == [timedelta(days=29), timedelta(0)]


def test_a_user_does_not_read_the_audit(office: Office) -> None:
    """D17: admin only."""
    with pytest.raises(ForbiddenError, match="admin only"):
        office.accounts.admin_audit(office.user("ana"), 0, 10)
