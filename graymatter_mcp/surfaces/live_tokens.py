"""The tokens that hold at this instant: a change by any process counts from the next request on."""

from __future__ import annotations

import hmac
import logging
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from graymatter_mcp.errors import StoreUnavailableError
from graymatter_mcp.surfaces.tokens import TOKENS_FILE, digest, parse_tokens

if TYPE_CHECKING:
    from pathlib import Path

    from graymatter_mcp.surfaces.tokens import StoredToken

logger = logging.getLogger(__name__)

_NOBODY: Final = bytes(32)


class LiveTokens:
    """Looks a token up in the file as it is now, and reads the file only when it was exchanged."""

    def __init__(self, directory: Path) -> None:
        """Open nothing yet; there may be no file.

        Args:
            directory: The data directory.
        """
        self._path = directory / TOKENS_FILE
        self._fd = -1
        self._seen: tuple[int, ...] | None = None
        self._tokens: dict[bytes, StoredToken] = {}
        self._is_silent = False

    def find(self, secret: str) -> StoredToken | None:
        """Return the token with this secret, unless it is unknown, revoked or expired.

        One `stat` on the way: cheap enough for the event loop.
        """
        self._refresh()
        given = digest(secret)
        # Found by its digest, of which a caller chooses nothing, and then compared as a secret is.
        token = self._tokens.get(given)
        kept = _NOBODY if token is None else token.sha256
        if not hmac.compare_digest(kept, given) or token is None:
            return None
        return _unless_expired(token)

    def of_id(self, token_id: str) -> StoredToken | None:
        """Return the token with this id, unless it is unknown, revoked or expired."""
        self._refresh()
        found = [token for token in self._tokens.values() if token.id == token_id]
        return _unless_expired(found[0]) if found else None

    def close(self) -> None:
        """Let the file go, and every token with it; twice is fine."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self._seen, self._tokens = -1, None, {}

    def _refresh(self) -> None:
        try:
            if _identity(os.stat(self._path)) != self._seen:  # noqa: PTH116 - on each request
                self._read()
        except FileNotFoundError:
            self.close()
        except OSError:
            # Whoever cannot be told apart from a stranger is one; asked again at the next request.
            self.close()
            self._complain()

    def _read(self) -> None:
        self.close()
        # Held open until it is exchanged, so that no later file can have its inode.
        self._fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        seen = _identity(os.fstat(self._fd))
        try:
            tokens = parse_tokens(_content(self._fd))
        except StoreUnavailableError:
            self._complain()
        else:
            self._tokens = {token.sha256: token for token in tokens}
            self._is_silent = False
        self._seen = seen

    def _complain(self) -> None:
        """Say it once, not once a request."""
        if not self._is_silent:
            logger.error("%s cannot be read: its tokens are refused", TOKENS_FILE)
            self._is_silent = True


def _unless_expired(token: StoredToken) -> StoredToken | None:
    return None if token.is_expired(datetime.now(UTC)) else token


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def _content(fd: int) -> bytes:
    parts: list[bytes] = []
    while part := os.read(fd, 1 << 20):
        parts.append(part)
    return b"".join(parts)
