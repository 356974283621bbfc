"""Which row of the manifest tries which route: none is served that no case claims.

Source: data plane, section 8 and D60.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

CLAIMS: Final[Mapping[str, str]] = {
    "active-project-clear": "plane:active-project",
    "active-project-set": "plane:active-project",
    "active-project-show": "plane:active-project",
    "admin-health": "plane:health",
    "admin-token-create": "plane:admins",
    "admin-token-delete": "plane:admins",
    "admin-tokens-list": "plane:admins",
    "adoption": "plane:adoption",
    "audit": "plane:admins",
    "capture": "plane:capture-keys",
    "changes": "plane:changes",
    "context": "plane:context",
    "decay": "plane:decay",
    "evaluate": "plane:evaluate",
    "export": "plane:export",
    "forget": "plane:forget",
    "healthz": "legacy:answers",
    "hygiene": "plane:hygiene",
    "import": "plane:import",
    "legacy-consolidate": "legacy:answers",
    "legacy-facts": "legacy:facts",
    "legacy-forget": "legacy:forget",
    "legacy-forget-id": "legacy:forget",
    "legacy-recall": "legacy:one-memory",
    "legacy-remember": "legacy:one-memory",
    "member-add": "plane:reports-alike",
    "member-remove": "plane:reports-alike",
    "members-list": "plane:members",
    "neighbors": "plane:linked",
    "openapi": "plane:openapi",
    "project-create": "plane:reports-alike",
    "project-delete": "plane:reports-alike",
    "projects-list": "plane:reports-alike",
    "recent": "plane:recent",
    "remember": "plane:remember-recent",
    "search": "plane:fusion",
    "session-create": "plane:cookie",
    "session-end": "plane:cookie",
    "session-recap": "plane:recap",
    "session-show": "plane:cookie",
    "stats": "plane:stats",
    "token-create": "plane:rotation",
    "token-delete": "plane:bearers",
    "token-rotate": "plane:rotation",
    "tokens-list": "plane:rotation",
    "update": "plane:update",
    "usage": "plane:quota",
    "user-create": "plane:admins",
    "user-delete": "plane:admins",
    "user-quota": "plane:quota",
    "users-list": "plane:admins",
}
"""By the name of the route."""
