"""Run the checks against a server, in each protocol revision, and report."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.contract.compat import read_release
from graymatter_mcp.contract.kit.case import NAMESPACE, BrokenPromiseError, Case
from graymatter_mcp.contract.kit.checks import CHECKS
from graymatter_mcp.contract.wire.base import REVISIONS, WireError
from graymatter_mcp.contract.wire.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from graymatter_mcp.contract.compat import Release
    from graymatter_mcp.contract.kit.check import Check
    from graymatter_mcp.contract.wire.session import Target

KEPT: Final = "kept"
BROKEN: Final = "broken"
SKIPPED: Final = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one check went in one revision."""

    check: str
    text: str
    revision: str
    status: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How a whole run went."""

    outcomes: Sequence[Outcome] = field(default_factory=list[Outcome])

    @property
    def is_kept(self) -> bool:
        """Whether no promise was broken; one that was not tried is not broken."""
        return all(outcome.status != BROKEN for outcome in self.outcomes)

    def document(self) -> dict[str, Any]:
        """Return the verdict as JSON."""
        counts = Counter(outcome.status for outcome in self.outcomes)
        return {
            "ok": self.is_kept,
            **{status: counts[status] for status in (KEPT, BROKEN, SKIPPED)},
            "outcomes": [
                {
                    "promise": one.check,
                    "revision": one.revision,
                    "status": one.status,
                    **({"detail": one.detail} if one.detail else {}),
                }
                for one in self.outcomes
            ],
        }

    def table(self) -> str:
        """Return the verdict for people: a line a promise, with the revisions that break it."""
        lines: list[str] = []
        for check in dict.fromkeys(outcome.check for outcome in self.outcomes):
            mine = [outcome for outcome in self.outcomes if outcome.check == check]
            bad = [outcome for outcome in mine if outcome.status == BROKEN]
            worst = BROKEN if bad else KEPT if any(o.status == KEPT for o in mine) else SKIPPED
            lines.append(f"{worst:8} {check:32} {mine[0].text}")
            lines += [f"         in {one.revision}: {one.detail}" for one in bad]
        document = self.document()
        lines.append(
            f"{document[KEPT]} kept, {document[BROKEN]} broken, {document[SKIPPED]} skipped"
        )
        return "\n".join(lines)


def check_server(
    target: Target,
    contract: Any,
    *,
    revisions: Sequence[str] = REVISIONS,
    read_only: bool = False,
    checks: Sequence[Check] = CHECKS,
    on_outcome: Callable[[Outcome], None] = lambda _: None,
) -> Verdict:
    """Hold a server to its promises.

    Facts are stored in fresh namespaces below ``contract-check/`` and retired at the end.

    Args:
        target: The server.
        contract: The bundle that the server claims, as a document.
        revisions: Protocol revisions to speak, each over a connection of its own.
        read_only: Whether to leave out every check that stores something.
        checks: What to try.
        on_outcome: Called after each check.
    """
    release = read_release(contract)
    outcomes: list[Outcome] = []
    for revision in revisions:
        for outcome in _in_revision(target, release, revision, checks, read_only=read_only):
            outcomes.append(outcome)
            on_outcome(outcome)
    return Verdict(outcomes=outcomes)


def _in_revision(
    target: Target, release: Release, revision: str, checks: Sequence[Check], *, read_only: bool
) -> Sequence[Outcome]:
    try:
        session = Session(target.connect(), revision)
    except (WireError, KeyError, TypeError) as exc:
        return [_opening(revision, str(exc) if isinstance(exc, WireError) else "it is malformed")]
    try:
        tools = session.tools()
        case = Case(session, release, tools)
        case.warm_up()
        found = [_try(check, case, read_only=read_only) for check in checks]
        if not read_only:
            case.clean_up()
    except (WireError, KeyError, TypeError) as exc:
        return [_opening(revision, str(exc) if isinstance(exc, WireError) else "it is malformed")]
    finally:
        session.close()
    return found


def _opening(revision: str, detail: str) -> Outcome:
    text = "A conversation opens and lists its tools."
    return Outcome(check="server:opens", text=text, revision=revision, status=BROKEN, detail=detail)


def _try(check: Check, case: Case, *, read_only: bool) -> Outcome:
    status, detail = KEPT, ""
    if (check.writes and read_only) or (check.streams_only and not case.session.wire.is_stream):
        status = SKIPPED
    else:
        try:
            check.run(case)
        except (BrokenPromiseError, WireError) as exc:
            status, detail = BROKEN, str(exc)
        except (KeyError, TypeError, AttributeError, ValueError, IndexError) as exc:
            # What a check reads is not there: the answer has another shape than promised.
            status, detail = BROKEN, f"an answer lacks what the check reads ({type(exc).__name__})"
    return Outcome(
        check=check.id,
        text=check.text,
        revision=case.session.revision,
        status=status,
        detail=detail,
    )


__all__ = ["NAMESPACE", "Outcome", "Verdict", "check_server"]
