"""`graymatter token create|list|revoke|rotate`: who may come over HTTP."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from graymatter_mcp.bridge.directory import DATABASE_FILE, holds_store
from graymatter_mcp.errors import NoStoreError
from graymatter_mcp.owner.election import prepare_directory
from graymatter_mcp.settings import parse_duration
from graymatter_mcp.surfaces.codec import rfc3339_micros

if TYPE_CHECKING:
    from pathlib import Path

    from graymatter_mcp.surfaces.cli.app import Invocation
    from graymatter_mcp.surfaces.tokens import IssuedToken, StoredToken, TokenFile


@click.group()
def token() -> None:
    """Hand out and take back bearer tokens for HTTP."""


@token.command()
@click.option("--name", default="", help="What you call it; at most 64 characters.")
@click.option(
    "--scope",
    type=click.Choice(["full", "read_only"]),
    default="full",
    show_default=True,
    help="What its bearer may do.",
)
@click.option("--project", help="The one project that its bearer may use.")
@click.option(
    "--expires", help="When it ends: a duration such as 12h or 30d, or an RFC 3339 time. [never]"
)
@click.pass_obj
def create(
    invocation: Invocation, name: str, scope: str, project: str | None, expires: str | None
) -> None:
    """Make a token and show it, this once."""
    from graymatter_mcp.surfaces.auth import Scope

    expires_at = None if expires is None else _moment(expires)
    issued = _tokens(invocation, may_create=True).create(
        name=name, scope=Scope(scope), project=project, expires_at=expires_at
    )
    _show(invocation, issued)


@token.command("list")
@click.pass_obj
def list_tokens(invocation: Invocation) -> None:
    """Show the tokens that were handed out, without their secrets."""
    found = _tokens(invocation).list()
    now = datetime.now(UTC)
    lines = [_line(one, now) for one in found] or ["No tokens."]
    invocation.show([_document(one) for one in found], "\n".join(lines))


@token.command()
@click.argument("token_id", metavar="ID")
@click.pass_obj
def revoke(invocation: Invocation, token_id: str) -> None:
    """Take a token back; a running server refuses it at once."""
    _tokens(invocation).revoke(token_id)
    invocation.show({"id": token_id, "revoked": True}, f"Token {token_id} is revoked.")


@token.command()
@click.argument("token_id", metavar="ID")
@click.pass_obj
def rotate(invocation: Invocation, token_id: str) -> None:
    """Put a new token with the same rights and expiry in the place of one."""
    _show(invocation, _tokens(invocation).rotate(token_id))


def _tokens(invocation: Invocation, *, may_create: bool = False) -> TokenFile:
    from graymatter_mcp.surfaces.tokens import TOKENS_FILE, TokenFile

    # The directory that a service means, since it is a service that asks for tokens.
    directory = invocation.config(is_service=True).data_dir
    has_store = holds_store(str(directory))
    if not may_create and not has_store and not (directory / TOKENS_FILE).exists():
        raise NoStoreError("there is no memory here")
    _prepare(directory, has_store=has_store)
    return TokenFile(directory)


def _prepare(directory: Path, *, has_store: bool) -> None:
    prepare_directory(directory, DATABASE_FILE, may_create=True, has_store=has_store)


def _moment(text: str) -> datetime:
    try:
        return datetime.now(UTC) + parse_duration(text)
    except OverflowError as exc:
        raise click.BadParameter("must be sooner", param_hint="--expires") from exc
    except ValueError:
        return _date(text)


def _date(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise click.BadParameter(
        "must be a number with s, m, h or d, or a time with its zone such as 2030-01-31T12:00:00Z",
        param_hint="--expires",
    )


def _document(stored: StoredToken) -> dict[str, Any]:
    document: dict[str, Any] = {
        "id": stored.id,
        "name": stored.name,
        "scope": stored.scope.value,
    }
    if stored.project is not None:
        document["project"] = stored.project
    if stored.expires_at is not None:
        document["expires_at"] = rfc3339_micros(stored.expires_at)
    return document


def _line(stored: StoredToken, now: datetime) -> str:
    parts = [stored.id, stored.scope.value]
    if stored.project is not None:
        parts.append(f"project {stored.project}")
    if stored.expires_at is not None:
        ends = "expired" if stored.is_expired(now) else "expires"
        parts.append(f"{ends} {rfc3339_micros(stored.expires_at)}")
    return "  ".join([*parts, *([stored.name] if stored.name else [])])


def _show(invocation: Invocation, issued: IssuedToken) -> None:
    if invocation.as_json:
        invocation.show({**_document(issued.stored), "token": issued.secret}, "")
        return
    # The token is the answer, not prose: without it the call was for nothing.
    sys.stdout.write(issued.secret + "\n")
    invocation.show(
        None, f"Token {issued.stored.id} ({issued.stored.scope.value}); it is not shown again."
    )
