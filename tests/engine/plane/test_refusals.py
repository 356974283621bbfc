"""The queue of refusals: bounded, kept behind the answer, and never lost without a word."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.engine.plane.refusals import DROPPED, Refusals
from graymatter_mcp.errors import StoreUnavailableError
from graymatter_mcp.model.access import LOCAL_CALLER

if TYPE_CHECKING:
    from graymatter_mcp.store.base import Event, WriteBatch
    from tests.engine.plane.office import Office

WAIT_S = 30.0


def stranger(office: Office, action: str) -> Event:
    """Return the entry of somebody unknown."""
    return office.accounts.audit.event(None, action, outcome="unauthorized")


def test_refusals_are_kept_without_being_waited_for(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Data plane 8: by one writer behind the answers, several at once."""
    kept = threading.Event()
    apply = office.store.apply

    def tell(batch: WriteBatch) -> None:
        assert threading.current_thread() is not threading.main_thread()
        apply(batch)
        kept.set()

    monkeypatch.setattr(office.store, "apply", tell)
    refusals = Refusals(office.store, office.accounts.audit)
    refusals.note(stranger(office, "first"))
    assert kept.wait(WAIT_S)
    assert office.actions() == [("first", None, "unauthorized")]
    monkeypatch.undo()
    refusals.note(stranger(office, "second"))
    refusals.close()
    assert [action for action, _, _ in office.actions()] == ["first", "second"]
    refusals.note(stranger(office, "after the end"))
    refusals.save()
    assert [action for action, _, _ in office.actions()][2:] == ["after the end"]


def test_of_too_many_the_oldest_are_dropped_and_counted(office: Office) -> None:
    """Data plane 8: strangers fill neither the memory nor the disk."""
    refusals = Refusals(office.store, office.accounts.audit, most=3)
    with refusals._saving:  # pyright: ignore[reportPrivateUsage] - holds the writer back
        for number in range(5):
            refusals.note(stranger(office, f"try_{number}"))
    refusals.close()
    told = [(action, target) for action, target, _ in office.actions()]
    assert told == [("try_2", None), ("try_3", None), ("try_4", None), (DROPPED, "2")]


def test_a_store_that_is_away_stops_nobody(
    office: Office, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Data plane 8: best effort, and said in the log without words of the failure."""

    def refuse(_: WriteBatch) -> None:
        raise StoreUnavailableError("no room in /secret/place")

    monkeypatch.setattr(office.store, "apply", refuse)
    refusals = Refusals(office.store, office.accounts.audit)
    refusals.note(stranger(office, "search"))
    refusals.close()
    assert [one.getMessage() for one in caplog.records] == [
        "1 entries of the audit were lost: store_unavailable"
    ]


def test_an_admin_sees_what_still_waits(office: Office) -> None:
    """Data plane 8: whoever reads the audit gets all of it."""
    office.accounts.refusals.note(stranger(office, "search"))
    page = office.accounts.admin_audit(LOCAL_CALLER, 0, 10)
    assert [(one.action, one.user_id, one.outcome) for one in page.events] == [
        ("search", None, "unauthorized")
    ]
    office.accounts.refusals.close()
