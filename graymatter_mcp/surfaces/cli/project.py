"""`graymatter project list|create|delete|use|leave|share|unshare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from graymatter_mcp.errors import NotFoundError
from graymatter_mcp.surfaces.cli.plain import line, printable
from graymatter_mcp.surfaces.cli.rest import ask, call_rest

if TYPE_CHECKING:
    from graymatter_mcp.surfaces.cli.app import Invocation
    from graymatter_mcp.surfaces.cli.rest import Rest


@click.group()
def project() -> None:
    """Keep facts apart in projects, and share these; PROJECT is an id or a name."""


@project.command("list")
@click.pass_obj
def list_(invocation: Invocation) -> None:
    """List your projects; the one in use has a star."""

    async def work(rest: Rest) -> tuple[Any, Any]:
        return await rest.ask("projects-list", {}), await rest.ask("active-project-show", {})

    body, shown = call_rest(invocation, work)
    active = None if shown["active"] is None else shown["active"]["id"]
    lines = [
        line("*" if one["id"] == active else " ", one["id"], one["role"], one["name"])
        for one in body["projects"]
    ]
    invocation.show(body, "\n".join(lines or ["No projects."]))


@project.command()
@click.argument("name")
@click.pass_obj
def create(invocation: Invocation, name: str) -> None:
    """Make a project of yours."""
    body = ask(invocation, "project-create", {"name": name}, may_create=True)
    invocation.show(body, line("Created:", body["id"], body["name"]))


@project.command()
@click.argument("ref", metavar="PROJECT")
@click.pass_obj
def delete(invocation: Invocation, ref: str) -> None:
    """Delete a project of yours with all its facts, for good."""

    async def work(rest: Rest) -> Any:
        return await rest.ask("project-delete", {}, id=await _id_of(rest, ref))

    body = call_rest(invocation, work)
    invocation.show(body, f"Deleted, with {body['entriesRemoved']} facts.")


@project.command()
@click.argument("ref", metavar="PROJECT")
@click.pass_obj
def use(invocation: Invocation, ref: str) -> None:
    """Work in a project: it is meant wherever none is named."""
    body = ask(invocation, "active-project-set", {"project": ref})
    invocation.show(body, line("In use:", body["active"]["id"], body["active"]["name"]))


@project.command()
@click.pass_obj
def leave(invocation: Invocation) -> None:
    """Work in no project."""
    ask(invocation, "active-project-clear", {})
    # The route answers without a body: this is what its twin says.
    invocation.show({"active": None}, "No project is in use.")


@project.command()
@click.argument("ref", metavar="PROJECT")
@click.argument("username")
@click.pass_obj
def share(invocation: Invocation, ref: str, username: str) -> None:
    """Let a user read and write the facts of a project of yours."""

    async def work(rest: Rest) -> Any:
        return await rest.ask("member-add", {"username": username}, id=await _id_of(rest, ref))

    body = call_rest(invocation, work)
    invocation.show(body, f"Shared with {printable(body['username'])}.")


@project.command()
@click.argument("ref", metavar="PROJECT")
@click.argument("username")
@click.pass_obj
def unshare(invocation: Invocation, ref: str, username: str) -> None:
    """Take a user out of a project."""

    async def work(rest: Rest) -> Any:
        project_id = await _id_of(rest, ref)
        members = (await rest.ask("members-list", {}, id=project_id))["members"]
        found = [one["userId"] for one in members if one["username"] == username]
        if not found:
            raise NotFoundError("unknown user")
        return await rest.ask("member-remove", {}, id=project_id, userId=found[0])

    body = call_rest(invocation, work)
    invocation.show(body, "No longer shared.")


async def _id_of(rest: Rest, ref: str) -> str:
    """Return the id of a project; what names none of the caller's stays as it is.

    A name may hold a slash, which no path can carry.
    """
    projects = (await rest.ask("projects-list", {}))["projects"]
    if any(one["id"] == ref for one in projects):
        return ref
    named = sorted((one["createdAt"], one["id"]) for one in projects if one["name"] == ref)
    return named[0][1] if named else ref
