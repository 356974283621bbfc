"""`Memory` as messages: which method takes and gives what, checked on both sides.

A value left at its default does not travel, so "not given" arrives as not given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from graymatter_mcp import errors
from graymatter_mcp.errors import ErrorCode, GraymatterError, InvalidArgumentError
from graymatter_mcp.model.checkpoints import Checkpoint, JsonObject, Message
from graymatter_mcp.model.checks import BackupReport, Check
from graymatter_mcp.model.facts import Fact, Origin
from graymatter_mcp.model.ids import FactId, Namespace
from graymatter_mcp.model.requests import (
    BatchRecallRequest,
    CallKey,
    RecallRequest,
    RememberRequest,
    WriteOptions,
)
from graymatter_mcp.model.results import (
    BatchRecallResult,
    ConsolidationReport,
    EngineStatus,
    MemoryStats,
    RecallExplainResult,
    RecallResult,
    Revision,
)

MISFIT: Final = "the request does not fit the method"


class Method:
    """One method of `Memory`: its parameters by name, and what it gives."""

    def __init__(self, result: Any, **parameters: Any) -> None:
        self._result: TypeAdapter[Any] = TypeAdapter(result)
        self._parameters = {name: TypeAdapter[Any](kind) for name, kind in parameters.items()}

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Name positional arguments, in the order of the parameters."""
        return dict(zip(self._parameters, args, strict=False)) | dict(kwargs)

    def pack(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Turn arguments into JSON values."""
        return {name: _dump(self._parameters[name], value) for name, value in arguments.items()}

    def unpack(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Turn JSON values back into arguments.

        Raises:
            InvalidArgumentError: A parameter is unknown or does not fit.
        """
        try:
            return {
                name: self._parameters[name].validate_python(value) for name, value in body.items()
            }
        except (KeyError, ValidationError, RecursionError) as exc:
            raise InvalidArgumentError(MISFIT) from exc

    def pack_result(self, value: Any) -> Any:
        """Turn a result into JSON values."""
        return _dump(self._result, value)

    def unpack_result(self, value: Any) -> Any:
        """Turn JSON values back into a result."""
        return self._result.validate_python(value)


def _dump(adapter: TypeAdapter[Any], value: Any) -> Any:
    return adapter.dump_python(value, mode="json", exclude_defaults=True)


METHODS: Final[Mapping[str, Method]] = {
    "recall": Method(RecallResult, request=RecallRequest),
    "recall_explain": Method(RecallExplainResult, request=RecallRequest),
    "recall_all": Method(RecallResult, request=RecallRequest),
    "recall_batch": Method(BatchRecallResult, request=BatchRecallRequest),
    "remember": Method(Fact, request=RememberRequest),
    "add_alias": Method(
        Fact,
        namespace=Namespace,
        term=str,
        equivalents=Sequence[str],
        origin=Origin,
        call_key=CallKey | None,
    ),
    "revise": Method(
        Revision,
        namespace=Namespace,
        target=str,
        text=str,
        options=WriteOptions,
        origin=Origin,
        call_key=CallKey | None,
    ),
    "revise_facts": Method(
        Revision,
        namespace=Namespace,
        facts=Sequence[Fact],
        text=str,
        options=WriteOptions,
        origin=Origin,
    ),
    "forget": Method(tuple[Fact, ...], namespace=Namespace, target=str, call_key=CallKey | None),
    "retire": Method(None, namespace=Namespace, fact_ids=Sequence[FactId]),
    "set_pinned": Method(
        tuple[Fact, ...],
        namespace=Namespace,
        target=str,
        pinned=bool,
        call_key=CallKey | None,
    ),
    "pin_facts": Method(None, namespace=Namespace, fact_ids=Sequence[FactId], pinned=bool),
    "update_fact": Method(None, namespace=Namespace, fact=Fact),
    "link": Method(
        tuple[str, str], namespace=Namespace, source=str, target=str, call_key=CallKey | None
    ),
    "save_checkpoint": Method(
        Checkpoint,
        namespace=Namespace,
        state=JsonObject | None,
        messages=Sequence[Message],
        metadata=dict[str, str] | None,
        call_key=CallKey | None,
    ),
    "resume_checkpoint": Method(Checkpoint, namespace=Namespace),
    "load_checkpoint": Method(Checkpoint, namespace=Namespace, checkpoint_id=str),
    "list_checkpoints": Method(list[Checkpoint], namespace=Namespace),
    "list_facts": Method(list[Fact], namespace=Namespace),
    "newest": Method(tuple[Fact, ...], namespace=Namespace, limit=int),
    "list_agents": Method(list[Namespace]),
    "stats": Method(MemoryStats, namespace=Namespace),
    "consolidate": Method(ConsolidationReport, namespace=Namespace, half_life=timedelta | None),
    "delete": Method(None, namespace=Namespace, fact_id=FactId),
    "erase": Method(bool, namespace=Namespace, fact_id=FactId),
    "default_confidence_weight": Method(float),
    "status": Method(EngineStatus),
    "wait_until_settled": Method(bool, timeout_s=float),
    "backup": Method(BackupReport, target=str, replace=bool),
    "check": Method(tuple[Check, ...], full=bool),
    "ping": Method(None),
}
"""Every method of `Memory` that another process may call."""

_FACT: Final[TypeAdapter[Fact]] = TypeAdapter(Fact)


def pack_error(error: GraymatterError) -> dict[str, Any]:
    """Turn an error into JSON values; its class travels by name."""
    packed: dict[str, Any] = {
        "error": str(error),
        "code": error.code.value,
        "class": type(error).__name__,
    }
    if isinstance(error, errors.CommittedButFailedError):
        packed["committed"] = _dump(_FACT, error.committed)
    return packed


def unpack_error(body: Mapping[str, Any]) -> GraymatterError:
    """Turn JSON values back into an error of its class, or of its code's."""
    message = str(body.get("error", ""))
    if "committed" in body:
        committed = _FACT.validate_python(body["committed"])
        return errors.CommittedButFailedError(committed, message)
    kind = _CLASSES.get(str(body.get("class")), errors.StoreUnavailableError)
    error = kind.__new__(kind)
    # Some classes take other arguments than the message that they make of them.
    Exception.__init__(error, message)
    return error


_CLASSES: Final[Mapping[str, type[GraymatterError]]] = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, GraymatterError) and kind is not GraymatterError
}

assert {kind.code for kind in _CLASSES.values()} == set(ErrorCode)
