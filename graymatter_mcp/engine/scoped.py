"""The core's memory as one caller reaches it: their own shelves, or those of their project.

The core knows shelves by one name. A caller who is confined to a project, or works in one, or is
not this machine's user, names shelves of that owner, and never learns that others exist.

Source: data-plane contract 2.3, rules 1, 2 and 4; the choices are in ADR 0052.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from graymatter_mcp.engine.methods import OPEN
from graymatter_mcp.engine.restricted import restrict
from graymatter_mcp.errors import ForbiddenError, InvalidArgumentError, NoCheckpointsError
from graymatter_mcp.model.config import Config
from graymatter_mcp.model.facts import Fact
from graymatter_mcp.model.results import BatchEntry, Revision
from graymatter_mcp.model.scopes import LOCAL_SCOPE, MARK, owned, project_scope, shelf, user_scope
from graymatter_mcp.ranking.merge import merge_batch, merge_scopes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.engine.plane.reach import Reach
    from graymatter_mcp.model.access import Caller, Rights
    from graymatter_mcp.model.checkpoints import Checkpoint
    from graymatter_mcp.model.ids import Namespace
    from graymatter_mcp.model.requests import BatchRecallRequest, RecallRequest
    from graymatter_mcp.model.results import BatchRecallResult, RecallResult
    from graymatter_mcp.model.scopes import Scope

MAPPED: Final = frozenset(
    {
        "recall",
        "recall_explain",
        "recall_batch",
        "remember",
        "add_alias",
        "revise",
        "forget",
        "set_pinned",
        "link",
        "save_checkpoint",
        "resume_checkpoint",
        "load_checkpoint",
        "newest",
        "consolidate",
        "erase",
    }
)
"""Methods of the tools and the old routes; whoever is not this machine's user has no others."""
PLAIN: Final = OPEN | {"default_confidence_weight"}
"""Methods that name no shelf."""


def memory_for(memory: Memory, reach: Reach, caller: Caller) -> Memory:
    """Return the memory as a caller may use it.

    Args:
        memory: The whole.
        reach: Knows projects and their members.
        caller: Who.

    Raises:
        ForbiddenError: The caller's token is confined to a project of which they are no member.
    """
    rights = replace(caller.rights, project=None, reaches_core=True)
    pin = reach.pin(caller)
    own = user_scope(caller.tenant, caller.user_id)
    if pin is not None:
        scope, beside = project_scope(caller.tenant, pin.id), None
    elif (active := reach.active_project(caller)) is not None:
        scope, beside = project_scope(caller.tenant, active.id), own
    else:
        scope, beside = own, None
    if scope == LOCAL_SCOPE:
        return restrict(memory, rights)
    return cast("Memory", _ScopedMemory(memory, rights, scope, beside))  # its methods go by name


_USUAL: Final = Config().top_k
"""Texts of a recall that names no number."""


class _ScopedMemory:
    def __init__(self, memory: Memory, rights: Rights, scope: Scope, beside: Scope | None) -> None:
        """Prepare.

        Args:
            memory: The whole.
            rights: What the caller may do within their shelves.
            scope: Whose shelves are named.
            beside: Whose shelves of the same names are read as well.
        """
        self._memory = restrict(memory, rights)
        self._scope = scope
        self._beside = beside

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return the method for the caller's shelves, or what refuses it."""
        method = getattr(self._memory, name)
        if name in PLAIN:
            return method
        return self._mapped(method) if name in MAPPED else _refuse

    def _mapped(self, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def call(first: Any, *args: Any, **kwargs: Any) -> Any:
            is_name = isinstance(first, str)
            name = first if is_name else first.namespace
            inside = self._shelf(name, self._scope)
            sent = inside if is_name else replace(first, namespace=inside)
            try:
                return _outside(await method(sent, *args, **kwargs))
            except NoCheckpointsError:
                # Its text names the shelf.
                raise NoCheckpointsError(name) from None

        return call

    def _shelf(self, name: str, scope: Scope) -> Namespace:
        if not name or name.isspace():
            raise InvalidArgumentError("agent_id is required")
        if name.startswith(MARK):
            raise InvalidArgumentError("agent_id must not begin with U+001F")
        return shelf(scope, name)

    async def recall(self, request: RecallRequest) -> RecallResult:
        """Rank the caller's shelf; beside a project's also their own, by place in both lists."""
        name, own = request.namespace, self._beside
        inside = replace(request, namespace=self._shelf(name, self._scope))
        found = await self._memory.recall(inside)
        if own is None:
            return found
        other = await self._memory.recall(replace(request, namespace=self._shelf(name, own)))
        return _merged(found, other, request.top_k)

    async def newest(self, namespace: Namespace, limit: int) -> tuple[Fact, ...]:
        """List the caller's shelf; beside a project's also their own."""
        scopes = (self._scope,) if self._beside is None else (self._scope, self._beside)
        found: list[Fact] = []
        for scope in scopes:
            found += await self._memory.newest(self._shelf(namespace, scope), limit)
        found.sort(key=lambda fact: (fact.created_at, fact.id), reverse=True)
        return tuple(_outside(fact) for fact in found[: max(limit, 0)])

    async def recall_batch(self, request: BatchRecallRequest) -> BatchRecallResult:
        """Rank each query as `recall` does."""
        name, own = request.namespace, self._beside
        inside = replace(request, namespace=self._shelf(name, self._scope))
        found = await self._memory.recall_batch(inside)
        if own is None:
            return found
        other = await self._memory.recall_batch(replace(request, namespace=self._shelf(name, own)))
        per_query = tuple(
            _merged_entry(a, b, request.top_k)
            for a, b in zip(found.per_query, other.per_query, strict=True)
        )
        return replace(
            found,
            per_query=per_query,
            merged=merge_batch([entry.facts or () for entry in per_query]),
            degraded=found.degraded or other.degraded,
        )


def _merged(found: RecallResult, other: RecallResult, top_k: int | None) -> RecallResult:
    facts, ids = _fused((found.facts, found.fact_ids), (other.facts, other.fact_ids), top_k)
    return replace(
        found,
        facts=facts,
        fact_ids=ids,
        # What a list lacks the other may have.
        feedback=found.feedback if found.feedback and other.feedback else None,
        degraded=found.degraded or other.degraded,
    )


def _merged_entry(a: BatchEntry, b: BatchEntry, top_k: int | None) -> BatchEntry:
    if a.facts is None or b.facts is None:
        return a if a.facts is None else b
    facts, ids = _fused((a.facts, a.fact_ids), (b.facts, b.fact_ids), top_k)
    return replace(a, facts=facts, fact_ids=ids)


def _fused(
    a: tuple[Sequence[str], Sequence[Any]],
    b: tuple[Sequence[str], Sequence[Any]],
    top_k: int | None,
) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Fuse two lists of texts by their places; only ranked facts have ids."""
    most = max(len(a[0]), len(b[0]), _USUAL) if top_k is None or top_k <= 0 else top_k
    merged = merge_scopes(a[0], b[0], most)
    ids_of = {"agent": dict(zip(*a, strict=False)), "shared": dict(zip(*b, strict=False))}
    known = [ids_of[scope].get(text) for text, scope in merged]
    return tuple(text for text, _ in merged), tuple(one for one in known if one is not None)


def _outside(result: Any) -> Any:
    """Return a result with shelves named as the caller knows them."""
    if isinstance(result, Fact):
        return replace(result, agent_id=owned(result.agent_id)[1])
    if isinstance(result, Revision):
        return replace(
            result,
            replacement=_outside(result.replacement),
            retired=tuple(map(_outside, result.retired)),
        )
    if isinstance(result, tuple):
        return tuple(map(_outside, cast("tuple[Any, ...]", result)))
    if hasattr(result, "agent_id"):
        return replace(cast("Checkpoint", result), agent_id=owned(result.agent_id)[1])
    return result


async def _refuse(*_: object, **__: object) -> Any:
    raise ForbiddenError("only this machine's user may do this")
