"""Quotas: writes in a fixed minute, and entries in all."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.errors import NotFoundError, QuotaError
from graymatter_mcp.model.access import LOCAL_CALLER
from graymatter_mcp.model.accounts import NO_QUOTA, Quota, Usage
from graymatter_mcp.model.scopes import project_scope
from tests.engine.desk import make_store
from tests.engine.plane.office import Office, scope_of

if TYPE_CHECKING:
    from pathlib import Path

    from graymatter_mcp.model.access import Caller

WORDS = "write quota exceeded: 2 writes/minute — retry after the window resets"


def refused(office: Office, caller: Caller, at_most: int = 1) -> QuotaError | None:
    """Return why a write may not be; None where it may."""
    try:
        office.accounts.quotas.check(caller, at_most)
    except QuotaError as exc:
        return exc
    return None


def test_without_a_quota_nobody_is_held_back(office: Office) -> None:
    """Data plane 8: off by default."""
    ana = office.user("ana")
    office.accounts.quotas.note_writes(ana, 1_000_000)
    assert refused(office, ana, 1_000_000) is None
    assert office.accounts.quotas.usage(ana) == Usage(entries=0, quota=NO_QUOTA)


def test_only_what_is_written_is_charged(office: Office) -> None:
    """D18: the third write is refused with the exact text, a rejected capture is not charged."""
    ana, ben = office.user("ana"), office.user("ben")
    quotas = office.accounts.quotas
    for one in (ana, ben):
        office.accounts.users.set_quota(LOCAL_CALLER, one.user_id, Quota(writes_per_minute=2))
    office.now.now = office.now.now.replace(second=0)
    assert refused(office, ana) is None
    quotas.note_writes(ana, 1)
    assert refused(office, ana) is None
    quotas.note_writes(ana, 0)
    assert refused(office, ana, 2) is not None
    assert refused(office, ana) is None
    quotas.note_writes(ana, 1)
    office.now.forward(seconds=12.5)
    third = refused(office, ana)
    assert third is not None
    assert (str(third), third.retry_after_s) == (WORDS, 48)
    assert refused(office, ben) is None
    office.now.forward(seconds=47)
    assert refused(office, ana) is not None
    office.now.forward(seconds=0.5)
    assert refused(office, ana, 2) is None
    assert refused(office, ana, 3) is not None


def test_entries_count_in_all_that_is_the_users(office: Office) -> None:
    """Data plane 8: 429 with the exact text; forgetting helps."""
    ana, ben = office.user("ana"), office.user("ben")
    own = project_scope("local", office.project(ana, "web").id)
    others = project_scope("local", office.project(ben, "ops", ana).id)
    for scope in (scope_of(ana), own, others, others):
        office.write(scope, "fact")
    office.accounts.users.set_quota(LOCAL_CALLER, ana.user_id, Quota(max_entries=3))
    assert office.accounts.quotas.usage(ana) == Usage(entries=2, quota=Quota(max_entries=3))
    assert refused(office, ana) is None
    error = refused(office, ana, 2)
    assert error is not None
    assert str(error) == "entry quota exceeded: 3 stored entries — forget something first"
    assert error.retry_after_s is None


def test_a_users_quota_stands_before_the_servers(kind: str, tmp_path: Path) -> None:
    """Data plane 8: server setting and per user; null is the server's; kept over a restart."""
    store = make_store(kind, tmp_path / "quota.duckdb")
    office = Office(store, Quota(max_entries=10, writes_per_minute=20))
    ana = office.user("ana")
    users = office.accounts.users
    assert office.accounts.quotas.of(ana.user_id) == Quota(max_entries=10, writes_per_minute=20)
    users.set_quota(LOCAL_CALLER, ana.user_id, Quota(writes_per_minute=0))
    mixed = Quota(max_entries=10, writes_per_minute=0)
    assert office.accounts.quotas.of(ana.user_id) == mixed
    assert office.reopened().quotas.of(ana.user_id) == mixed
    assert refused(office, ana) is not None
    users.set_quota(LOCAL_CALLER, ana.user_id, NO_QUOTA)
    assert office.accounts.quotas.of(ana.user_id) == Quota(max_entries=10, writes_per_minute=20)
    with pytest.raises(NotFoundError, match="unknown user"):
        users.set_quota(LOCAL_CALLER, "nix", NO_QUOTA)
    store.close()


def test_the_wait_is_whole_seconds_and_never_none(office: Office) -> None:
    """Data plane 2.6: Retry-After."""
    ana = office.user("ana")
    office.accounts.users.set_quota(LOCAL_CALLER, ana.user_id, Quota(writes_per_minute=0))
    minute = office.now.now.replace(second=0, microsecond=0)
    for offset, wait in ((0.0, 60), (0.000001, 60), (59.0, 1), (59.999999, 1)):
        office.now.now = minute + timedelta(seconds=offset)
        error = refused(office, ana)
        assert error is not None
        assert error.retry_after_s == wait
