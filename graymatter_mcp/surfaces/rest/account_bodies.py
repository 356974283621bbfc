"""Accounts in the spelling of the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graymatter_mcp.surfaces.rest.bodies import time_json

if TYPE_CHECKING:
    from datetime import datetime

    from graymatter_mcp.model.accounts import (
        AuditEvent,
        FactChange,
        IssuedToken,
        Member,
        Project,
        Quota,
        UsedToken,
        User,
    )
    from graymatter_mcp.model.checkpoints import JsonObject

WARNING: Final = "keep this token now: it is shown this once and cannot be shown again"


def user_json(user: User) -> JsonObject:
    """Return a user as everybody sees them."""
    return {"id": user.id, "username": user.username, "role": user.role.value}


def project_json(project: Project) -> JsonObject:
    """Return a project."""
    return {
        "id": project.id,
        "name": project.name,
        "ownerUserId": project.owner_id,
        "createdAt": time_json(project.created_at),
    }


def active_json(project: Project | None) -> JsonObject | None:
    """Return the project that somebody works in."""
    return None if project is None else {"id": project.id, "name": project.name}


def member_json(member: Member) -> JsonObject:
    """Return a user of a project."""
    return {"userId": member.user_id, "username": member.username, "role": member.role.value}


def token_json(used: UsedToken) -> JsonObject:
    """Return a token as a list shows it: never a secret, nor its digest."""
    token = used.token
    return {
        "id": token.id,
        "label": token.label or None,
        "scope": token.scope.value,
        "projectId": token.project_id,
        "createdAt": time_json(token.created_at),
        "lastUsedAt": _time(used.last_used_at),
        "expiresAt": _time(token.expires_at),
    }


def issued_json(issued: IssuedToken) -> JsonObject:
    """Return a token this once."""
    token = issued.token
    return {
        "id": token.id,
        "token": issued.secret,
        "scope": token.scope.value,
        "projectId": token.project_id,
        "expiresAt": _time(token.expires_at),
        "warning": WARNING,
    }


def quota_json(quota: Quota) -> JsonObject:
    """Return what a user may write."""
    return {"maxEntries": quota.max_entries, "writesPerMinute": quota.writes_per_minute}


def change_json(change: FactChange) -> JsonObject:
    """Return an entry of the feed."""
    return {
        "seq": change.seq,
        "entryId": change.entry_id,
        "projectId": change.project_id,
        "change": change.change,
        "detail": change.detail,
        "at": time_json(change.at),
    }


def event_json(event: AuditEvent) -> JsonObject:
    """Return an entry of the audit."""
    return {
        "seq": event.seq,
        "at": time_json(event.at),
        "userId": event.user_id,
        "tokenId": event.token_id,
        "action": event.action,
        "target": event.target,
        "projectId": event.project_id,
        "outcome": event.outcome,
        "requestId": event.request_id,
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else time_json(moment)
