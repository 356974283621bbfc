"""Every kind of bearer that a caller may show, for one server."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from graymatter_mcp.surfaces.auth import Scope
from graymatter_mcp.surfaces.tokens import TokenFile

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SERVER_TOKEN: Final = "server-token-of-the-tests"  # noqa: S105 - of a server that soon ends
PROJECT: Final = "web"

FOREIGN_JWT: Final = (
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIn0."
    "eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwiYXVkIjoiYW5vdGhlciIsInN1YiI6InUifQ."
    "c2lnbmF0dXJl"
)
"""Well formed, and made for another audience."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Values of `Authorization` by kind; None sends no header."""

    by_kind: Mapping[str, str | None]
    secrets: tuple[str, ...]
    """Nothing of these may ever be seen again."""


def handed_out(directory: Path) -> Credentials:
    """Make tokens of every kind in a data directory."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = TokenFile(directory)
    full = file.create(name="writer").secret
    reader = file.create(name="reader", scope=Scope.READ_ONLY).secret
    pinned = file.create(name="pinned", project=PROJECT).secret
    revoked = file.create(name="gone")
    file.revoke(revoked.stored.id)
    soon = datetime.now(UTC) + timedelta(seconds=1)
    expired = file.create(name="old", expires_at=soon).secret
    while datetime.now(UTC) <= soon:
        time.sleep(0.05)
    return Credentials(
        {
            "none": None,
            "empty": "Bearer ",
            "basic": "Basic dXNlcjpwYXNz",
            "wrong": "Bearer gm_" + "x" * 43,
            "expired": f"Bearer {expired}",
            "revoked": f"Bearer {revoked.secret}",
            "other audience": f"Bearer {FOREIGN_JWT}",
            "server": f"Bearer {SERVER_TOKEN}",
            "full": f"bearer {full}",
            "read_only": f"Bearer {reader}",
            "pinned": f"Bearer {pinned}",
        },
        (full, reader, pinned, revoked.secret, expired, SERVER_TOKEN),
    )
