"""Shelves of owners never meet, and the local user's are the core's."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graymatter_mcp.model.scopes import (
    LOCAL_SCOPE,
    MARK,
    Scope,
    owned,
    project_scope,
    shelf,
    user_scope,
)

_IDS = st.text("ABCDEFGHJKMNPQRSTVWXYZ0123456789", min_size=1, max_size=26)
_SCOPES = st.one_of(
    st.just(LOCAL_SCOPE),
    st.builds(project_scope, st.text("abc-", min_size=1), _IDS),
    st.builds(user_scope, st.text("abc-", min_size=1), _IDS),
)
_NAMES = st.text(min_size=1).filter(lambda name: not name.startswith(MARK))


@given(_SCOPES, _NAMES)
def test_a_shelf_tells_its_owner_and_its_name(scope: Scope, name: str) -> None:
    """Data plane 1.1: the same string in two scopes is two shelves."""
    assert owned(shelf(scope, name)) == (scope, name)


@given(_SCOPES, _NAMES, _SCOPES, _NAMES)
def test_no_two_shelves_share_a_name(a: Scope, name: str, b: Scope, other: str) -> None:
    """Data plane 1.1: nothing crosses the walls between owners."""
    assert (shelf(a, name) == shelf(b, other)) == ((a, name) == (b, other))


def test_the_local_users_shelves_have_their_bare_names() -> None:
    """Data plane 1.5: `namespace` equals the core's `agent_id`."""
    assert shelf(LOCAL_SCOPE, "ana") == "ana"
