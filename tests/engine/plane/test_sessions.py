"""Sessions of the web page: a cookie that is as good as its token, and no better."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256

from graymatter_mcp.engine.plane.sessions import is_of
from graymatter_mcp.model.access import LOCAL_CALLER
from tests.engine.plane.office import Office, caller_of

DIGEST = sha256(b"short").digest()


def test_a_cookie_is_random_and_not_kept(office: Office) -> None:
    """Data plane 8: 32 random bytes, the SHA-256 at rest, and nothing of the token."""
    opened = [office.accounts.sessions.open(LOCAL_CALLER, "server-token", DIGEST) for _ in "ab"]
    kept = "".join(f"{one.key} {one.text}" for one in office.store.documents())
    for one in opened:
        assert len(one.cookie) == 43
        assert one.cookie not in kept + repr(one)
        assert sha256(one.cookie.encode()).hexdigest() in kept
        found = office.reopened().sessions.find(one.cookie)
        assert found == one.session
    assert DIGEST.hex() not in kept
    assert opened[0].cookie != opened[1].cookie
    assert office.accounts.sessions.find("nix\ud800") is None


def test_a_session_belongs_to_one_token(office: Office) -> None:
    """Data plane 8: dead with its token, and with a token that took its place."""
    opened = office.accounts.sessions.open(LOCAL_CALLER, "server-token", DIGEST)
    other = office.accounts.sessions.open(LOCAL_CALLER, "server-token", DIGEST)
    assert is_of(opened.session, opened.cookie, DIGEST)
    assert not is_of(opened.session, opened.cookie, sha256(b"another").digest())
    assert not is_of(opened.session, other.cookie, DIGEST)


def test_a_session_in_use_lasts_and_an_idle_one_ends(office: Office) -> None:
    """Data plane 8: 7 days, renewed daily."""
    sessions = office.accounts.sessions
    opened = sessions.open(LOCAL_CALLER, "server-token", DIGEST)
    start = office.now.now
    assert opened.session.expires_at == start + timedelta(days=7)
    office.now.forward(hours=23)
    assert sessions.renew(opened.cookie) is None
    office.now.forward(hours=1)
    renewed = sessions.renew(opened.cookie)
    assert renewed is not None
    assert renewed.expires_at == start + timedelta(days=8)
    assert sessions.renew(opened.cookie) is None
    assert office.reopened().sessions.find(opened.cookie) == renewed
    office.now.forward(days=7, microseconds=-1)
    assert sessions.find(opened.cookie) is not None
    office.now.forward(microseconds=1)
    assert sessions.find(opened.cookie) is None
    assert sessions.renew(opened.cookie) is None
    sessions.open(LOCAL_CALLER, "server-token", DIGEST)
    assert len([one for one in office.store.documents() if one.kind == "session"]) == 1


def test_signing_out_ends_the_callers_own_session(office: Office) -> None:
    """Data plane 8: DELETE /v1/me/session."""
    ana = office.user("ana")
    made = office.accounts.tokens.create(ana)
    sessions = office.accounts.sessions
    opened = sessions.open(caller_of(made.token), f"token:{made.token.id}", made.token.sha256)
    sessions.close(LOCAL_CALLER, opened.cookie)
    assert sessions.find(opened.cookie) is not None
    sessions.close(ana, opened.cookie)
    sessions.close(ana, opened.cookie)
    assert sessions.find(opened.cookie) is None
    assert office.reopened().sessions.find(opened.cookie) is None


def test_the_sessions_of_a_user_go_with_them(office: Office) -> None:
    """Data plane 8: nothing of a deleted user lets anybody in."""
    ana = office.user("ana")
    opened = office.accounts.sessions.open(ana, "token:x", DIGEST)
    office.accounts.users.delete(LOCAL_CALLER, ana.user_id)
    assert office.accounts.sessions.find(opened.cookie) is None
