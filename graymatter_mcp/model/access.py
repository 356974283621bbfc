"""What one caller may do, wherever it comes in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from graymatter_mcp.model.scopes import LOCAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """Of one caller."""

    may_write: bool = True
    project: str | None = None
    """The one project that the caller is confined to; None where it is not."""
    reaches_core: bool = True
    """Whether the core's facts are the caller's: those of other users are in the data plane."""


ALL_RIGHTS: Final = Rights()
"""Of this machine's user, and of a token without restrictions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks the data plane, as the surface that let them in knows them."""

    tenant: str = LOCAL
    user_id: str = LOCAL
    rights: Rights = ALL_RIGHTS
    token_id: str = ""
    """Of the token that was shown; empty for the server token and for this machine's user."""
    connection: str = ""
    """What calls of one connection share; empty where there is none."""
    request_id: str = ""
    """Goes into the audit."""

    @property
    def is_restricted(self) -> bool:
        """Whether the token may do less than its user."""
        return not self.rights.may_write or self.rights.project is not None


LOCAL_CALLER: Final = Caller()
"""This machine's user, over the owner's own socket."""
