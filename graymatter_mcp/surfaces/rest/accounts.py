"""The account routes: users, projects, tokens, quotas, feed and audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.errors import ConflictError, GraymatterError
from graymatter_mcp.model.accounts import Quota, Role, TokenScope
from graymatter_mcp.surfaces.rest.account_bodies import (
    active_json,
    change_json,
    event_json,
    issued_json,
    member_json,
    project_json,
    quota_json,
    token_json,
    user_json,
)
from graymatter_mcp.surfaces.rest.bodies import time_json
from graymatter_mcp.surfaces.rest.operations import Reply
from graymatter_mcp.surfaces.rest.rules import read_time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from graymatter_mcp.engine.plane.accounts import Accounts
    from graymatter_mcp.engine.plane.base import DataPlane
    from graymatter_mcp.model.access import Caller
    from graymatter_mcp.model.checkpoints import JsonObject
    from graymatter_mcp.surfaces.rest.operations import Asked, Operation
    from graymatter_mcp.surfaces.rest.rules import Fields

    Effect = Callable[[Accounts, Caller, Fields], JsonObject]
    """Does one thing to the accounts, in a worker thread, and gives the body of the answer."""

CHANGES: Final = 100
"""Length of a page of the feed, and of the audit."""
SECRET_KEPT_BACK: Final = "secretKeptBack"  # noqa: S105 - a name, no secret
"""In the place of a token in what is kept of an answer."""


def _session(accounts: Accounts, caller: Caller, _: Fields) -> JsonObject:
    user, pin = accounts.reach.user(caller), accounts.reach.pin(caller)
    scope = TokenScope.FULL if caller.rights.may_write else TokenScope.READ_ONLY
    return {
        "user": user_json(user),
        "scope": scope.value,
        "project": None if pin is None else pin.id,
    }


def _tokens(accounts: Accounts, caller: Caller, _: Fields) -> JsonObject:
    return {"tokens": [token_json(one) for one in accounts.tokens.list(caller)]}


def _create_token(accounts: Accounts, caller: Caller, fields: Fields) -> JsonObject:
    return issued_json(accounts.tokens.create(caller, **_token_fields(fields)))


def _delete_token(accounts: Accounts, caller: Caller, fields: Fields) -> JsonObject:
    accounts.tokens.revoke(caller, fields["id"])
    return {"deleted": True}


def _rotate_token(accounts: Accounts, caller: Caller, _: Fields) -> JsonObject:
    body = issued_json(accounts.tokens.rotate(caller))
    return {name: body[name] for name in ("id", "token", "warning")}


def _projects(accounts: Accounts, caller: Caller, _: Fields) -> JsonObject:
    found = accounts.projects.list(caller)
    return {
        "projects": [
            {**project_json(one), "role": one.role_of(caller.user_id).value} for one in found
        ]
    }


def _create_project(accounts: Accounts, caller: Caller, fields: Fields) -> JsonObject:
    return project_json(accounts.projects.create(caller, fields["name"]))


def _delete_project(accounts: Accounts, caller: Caller, fields: Fields) -> JsonObject:
    return {"deleted": True, "entriesRemoved": accounts.projects.delete(caller, fields["id"])}


def _members(accounts: Accounts, caller: Caller, fields: Fields) -> JsonObject:
    return {
        "members": [member_json(one) for one in accounts.projects.members(caller, fields["id"])]
    }


def _add_member(accounts: Accounts, caller: Caller, fields: Fields) -> JsonObject:
    added = accounts.projects.add_member(caller, fields["id"], fields["username"])
    return {"added": True, "userId": added.user_id, "username": added.username}


def _remove_member(accounts: Accounts, caller: Caller, fields: Fields) -> JsonObject:
    accounts.projects.remove_member(caller, fields["id"], fields["userId"])
    return {"removed": True}


def _active(accounts: Accounts, caller: Caller, _: Fields) -> JsonObject:
    return {"active": active_json(accounts.projects.active(caller))}


def _activate(accounts: Accounts, caller: Caller, fields: Fields) -> JsonObject:
    return {"active": active_json(accounts.projects.activate(caller, fields["project"]))}


def _deactivate(accounts: Accounts, caller: Caller, _: Fields) -> JsonObject:
    accounts.projects.deactivate(caller)
    return {}


def _delete_named(accounts: Accounts, caller: Caller, fields: Fields) -> JsonObject:
    return _delete_project(accounts, caller, {"id": fields["project"]})


def _share_named(accounts: Accounts, caller: Caller, fields: Fields) -> JsonObject:
    return _add_member(accounts, caller, {**fields, "id": fields["project"]})


def _unshare_named(accounts: Accounts, caller: Caller, fields: Fields) -> JsonObject:
    accounts.projects.unshare(caller, fields["project"], fields["username"])
    return {"removed": True}


def _deactivate_named(accounts: Accounts, caller: Caller, _: Fields) -> JsonObject:
    accounts.projects.deactivate(caller)
    return {"active": None}


def _changes(accounts: Accounts, caller: Caller, fields: Fields) -> JsonObject:
    since = fields.get("since")
    page = accounts.feed.page(
        caller,
        fields.get("afterSeq", 0),
        None if since is None else read_time(since),
        fields.get("limit", CHANGES),
    )
    return {"changes": [change_json(one) for one in page.changes], "nextSeq": page.next_seq}


def _usage(accounts: Accounts, caller: Caller, _: Fields) -> JsonObject:
    usage = accounts.quotas.usage(caller)
    return {"entries": usage.entries, "quota": quota_json(usage.quota)}


def _users(accounts: Accounts, caller: Caller, _: Fields) -> JsonObject:
    found = accounts.users.list(caller)
    return {"users": [{**user_json(one), "createdAt": time_json(one.created_at)} for one in found]}


def _create_user(accounts: Accounts, caller: Caller, fields: Fields) -> JsonObject:
    role = Role(fields.get("role", Role.USER))
    made = accounts.users.create(caller, fields["username"], role, fields.get("tenant"))
    return {**user_json(made), "createdAt": time_json(made.created_at)}


def _delete_user(accounts: Accounts, caller: Caller, fields: Fields) -> JsonObject:
    removed = accounts.users.delete(caller, fields["id"])
    return {
        "deleted": True,
        "tokensRevoked": removed.tokens_revoked,
        "entriesRemoved": removed.entries_removed,
    }


def _set_quota(accounts: Accounts, caller: Caller, fields: Fields) -> JsonObject:
    quota = Quota(
        max_entries=fields.get("maxEntries"), writes_per_minute=fields.get("writesPerMinute")
    )
    accounts.users.set_quota(caller, fields["id"], quota)
    return {"quota": quota_json(accounts.quotas.of(fields["id"]))}


def _all_tokens(accounts: Accounts, caller: Caller, _: Fields) -> JsonObject:
    found = accounts.tokens.list_all(caller)
    return {"tokens": [{**token_json(one), "userId": one.token.user_id} for one in found]}


def _create_any_token(accounts: Accounts, caller: Caller, fields: Fields) -> JsonObject:
    made = accounts.tokens.create_for(caller, fields["userId"], **_token_fields(fields))
    return issued_json(made)


def _delete_any_token(accounts: Accounts, caller: Caller, fields: Fields) -> JsonObject:
    accounts.tokens.revoke_any(caller, fields["id"])
    return {"deleted": True}


def _audit(accounts: Accounts, caller: Caller, fields: Fields) -> JsonObject:
    after, limit = fields.get("afterSeq", 0), fields.get("limit", CHANGES)
    page = accounts.admin_audit(caller, after, limit)
    return {"events": [event_json(one) for one in page.events], "nextSeq": page.next_seq}


def _token_fields(fields: Fields) -> dict[str, Any]:
    return {
        "label": fields.get("label", ""),
        "scope": TokenScope(fields.get("scope", TokenScope.FULL)),
        "project": fields.get("project"),
        "expires_in_days": fields.get("expiresInDays"),
    }


def _look(action: str, effect: Effect) -> Operation:
    """Return what answers a route that changes nothing, and leaves a note of that."""

    async def operation(plane: DataPlane, asked: Asked) -> Reply:
        body = await plane.look_up(_noted(action, effect, is_change=False), plane.accounts, asked)
        return Reply(body=body)

    return operation


def _change(action: str, effect: Effect, status: int = 200) -> Operation:
    """Return what answers a route whose change brings its own entry of the audit."""
    noted = _noted(action, effect, is_change=True)

    def work(accounts: Accounts, asked: Asked) -> tuple[JsonObject, bool]:
        if asked.key is None:
            return noted(accounts, asked), False
        return accounts.once(asked.key, lambda: noted(accounts, asked), _without_secret)

    async def operation(plane: DataPlane, asked: Asked) -> Reply:
        body, is_replayed = await plane.alter(work, plane.accounts, asked)
        if SECRET_KEPT_BACK in body:
            raise ConflictError(
                f"token {body['id']} was made under this idempotency key and is shown once:"
                " delete it and use another key"
            )
        return Reply(body=body, status=status, is_replayed=is_replayed)

    return operation


def _without_secret(body: JsonObject) -> JsonObject:
    """Return what may be kept of an answer: a token is kept by nobody but its bearer."""
    if "token" not in body:
        return body
    return {"id": body["id"], SECRET_KEPT_BACK: True}


def _noted(
    action: str, effect: Effect, *, is_change: bool
) -> Callable[[Accounts, Asked], JsonObject]:
    """Return the effect; that it was refused is noted, and that it looked."""

    def work(accounts: Accounts, asked: Asked) -> JsonObject:
        caller, fields = asked.caller, asked.fields
        try:
            body = effect(accounts, caller, fields)
        except GraymatterError as exc:
            target = fields.get("userId") or fields.get("id")
            accounts.audit.note(
                accounts.audit.event(caller, action, target, outcome=exc.code.value)
            )
            raise
        if not is_change:
            accounts.audit.note(accounts.audit.event(caller, action, fields.get("id")))
        return body

    return work


ACCOUNT_HANDLERS: Final[Mapping[str, Operation]] = {
    "session-show": _look("session_show", _session),
    "tokens-list": _look("token_list", _tokens),
    "token-create": _change("token_create", _create_token, 201),
    "token-delete": _change("token_delete", _delete_token),
    "token-rotate": _change("token_rotate", _rotate_token, 201),
    "projects-list": _look("project_list", _projects),
    "project-create": _change("project_create", _create_project, 201),
    "project-delete": _change("project_delete", _delete_project),
    "members-list": _look("project_members", _members),
    "member-add": _change("project_share", _add_member, 201),
    "member-remove": _change("project_unshare", _remove_member),
    "active-project-show": _look("project_active", _active),
    "active-project-set": _change("project_activate", _activate),
    "active-project-clear": _change("project_deactivate", _deactivate, 204),
    "changes": _look("changes", _changes),
    "usage": _look("usage", _usage),
    "users-list": _look("user_list", _users),
    "user-create": _change("user_create", _create_user, 201),
    "user-delete": _change("user_delete", _delete_user),
    "user-quota": _change("user_quota", _set_quota),
    "admin-tokens-list": _look("token_list_all", _all_tokens),
    "admin-token-create": _change("token_create", _create_any_token, 201),
    "admin-token-delete": _change("token_delete", _delete_any_token),
    "audit": _look("audit", _audit),
}
"""By the name of the route."""

ACCOUNT_TWINS: Final[Mapping[str, Operation]] = {
    "project_delete": _change("project_delete", _delete_named),
    "project_share": _change("project_share", _share_named),
    "project_unshare": _change("project_unshare", _unshare_named),
    "project_deactivate": _change("project_deactivate", _deactivate_named),
}
"""By the name of the tool, where its arguments or its answer are not those of the route."""
