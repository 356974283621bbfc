"""The one family of errors: a stable code each, a message that says what to do."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from graymatter_mcp.model.facts import Fact


class ErrorCode(StrEnum):
    """Stable identifiers of failures; messages may be reworded, codes may not."""

    INVALID_ARGUMENT = "invalid_argument"
    NOT_FOUND = "not_found"
    NO_CHECKPOINTS = "no_checkpoints"
    FACT_CHANGED = "fact_changed"
    RETRY_RECALL = "retry_recall"
    CORRUPT_RECORD = "corrupt_record"
    READ_ONLY = "read_only"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    CAPABILITY_UNSUPPORTED = "capability_unsupported"
    COMMIT_UNKNOWN = "commit_unknown"
    COMMITTED_BUT_FAILED = "committed_but_failed"
    STORE_UNAVAILABLE = "store_unavailable"
    CONFLICT = "conflict"
    QUOTA = "quota"
    ROUTING = "routing"


class GraymatterError(Exception):
    """Base of every error this package raises on purpose; its text may be shown to a client."""

    code: ClassVar[ErrorCode]


class InvalidArgumentError(GraymatterError):
    """An argument breaks a rule of the contract; nothing took effect."""

    code = ErrorCode.INVALID_ARGUMENT


class FactNotFoundError(GraymatterError):
    """No live fact matches in the namespace; nothing took effect."""

    code = ErrorCode.NOT_FOUND


class CheckpointNotFoundError(GraymatterError):
    """The namespace has checkpoints, but none with this id."""

    code = ErrorCode.NOT_FOUND


class TokenNotFoundError(GraymatterError):
    """No token has this id: it never did, or was revoked; nothing took effect."""

    code = ErrorCode.NOT_FOUND

    def __init__(self) -> None:
        super().__init__("token not found: graymatter token list shows them")


class NoCheckpointsError(GraymatterError):
    """The namespace has no checkpoint at all: typed absence, not a failure of the store."""

    code = ErrorCode.NO_CHECKPOINTS

    def __init__(self, agent_id: str) -> None:
        super().__init__(f'no checkpoints for agent "{agent_id}"')


class FactChangedError(GraymatterError):
    """A source moved between look-up and commit; nothing was written."""

    code = ErrorCode.FACT_CHANGED

    def __init__(self) -> None:
        super().__init__("fact changed before mutation")


class RetryRecallError(GraymatterError):
    """An alias edit changed the effective query after it was embedded."""

    code = ErrorCode.RETRY_RECALL


class CorruptRecordError(GraymatterError):
    """A stored record cannot be decoded."""

    code = ErrorCode.CORRUPT_RECORD


class ReadOnlyError(GraymatterError):
    """The store or the token allows no writes."""

    code = ErrorCode.READ_ONLY

    def __init__(self, message: str = "store is read-only") -> None:
        super().__init__(message)


class UnauthorizedError(GraymatterError):
    """The caller is not who it must be."""

    code = ErrorCode.UNAUTHORIZED


class ForbiddenError(GraymatterError):
    """The caller is known and may not do this; nothing took effect."""

    code = ErrorCode.FORBIDDEN


class NotFoundError(GraymatterError):
    """What the caller names is not there, or not theirs; nothing took effect."""

    code = ErrorCode.NOT_FOUND


class ConflictError(GraymatterError):
    """What is stored stands against the request; nothing took effect."""

    code = ErrorCode.CONFLICT


class QuotaError(GraymatterError):
    """The caller has written as much as they may; nothing took effect."""

    code = ErrorCode.QUOTA

    def __init__(self, message: str, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        """Seconds until the same request can succeed; None where only forgetting helps."""


class CapabilityUnsupportedError(GraymatterError):
    """The other side lacks a capability; nothing took effect."""

    code = ErrorCode.CAPABILITY_UNSUPPORTED


class CommitUnknownError(GraymatterError):
    """The owner vanished after a write was sent and cannot say whether it took effect."""

    code = ErrorCode.COMMIT_UNKNOWN


class CommittedButFailedError(GraymatterError):
    """The fact is stored, but something after the commit failed."""

    code = ErrorCode.COMMITTED_BUT_FAILED

    def __init__(self, committed: Fact, reason: str) -> None:
        super().__init__(reason)
        self.committed = committed


class StoreUnavailableError(GraymatterError):
    """The store cannot be opened, reached or written."""

    code = ErrorCode.STORE_UNAVAILABLE


class StoreClosedError(StoreUnavailableError):
    """The store was closed by its user."""

    def __init__(self) -> None:
        super().__init__("store is not initialised or already closed")


class RoutingConflictError(GraymatterError):
    """The settings point at more than one data directory."""

    code = ErrorCode.ROUTING


class NoStoreError(GraymatterError):
    """The data directory holds no store and none may be created."""

    code = ErrorCode.ROUTING
