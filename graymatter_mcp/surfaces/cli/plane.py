"""`graymatter capture`, `context`, `recent`, `neighbors`, `hygiene` and `audit`.

Each asks the operation of its name; with `--json` it writes the body of the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from graymatter_mcp.surfaces.cli import plain
from graymatter_mcp.surfaces.cli.fields import options_of, sent_fields
from graymatter_mcp.surfaces.cli.memory import MODEL_WAIT_S
from graymatter_mcp.surfaces.cli.rest import ask

if TYPE_CHECKING:
    from graymatter_mcp.surfaces.cli.app import Invocation


@click.command()
@click.argument("content", metavar="TEXT")
@options_of("capture", leave_out=("content",))
@click.pass_obj
def capture(invocation: Invocation, **options: Any) -> None:
    """Store TEXT as a durable fact, if it is worth it.

    Filler is refused, a repeat reinforces what is known, a better wording
    replaces it, and what TEXT contradicts is superseded.
    """
    fields = sent_fields("capture", options)
    body = ask(invocation, "capture", fields, may_create=True, wait_s=MODEL_WAIT_S)
    invocation.show(body, plain.written(body))


@click.command()
@click.argument("message")
@options_of("context", leave_out=("message",))
@click.pass_obj
def context(invocation: Invocation, **options: Any) -> None:
    """Show what is known about MESSAGE, and what is new."""
    body = ask(invocation, "context", sent_fields("context", options), wait_s=MODEL_WAIT_S)
    invocation.show(body, plain.grounded(body))


@click.command()
@options_of("recent")
@click.pass_obj
def recent(invocation: Invocation, **options: Any) -> None:
    """List the newest facts."""
    body = ask(invocation, "recent", sent_fields("recent", options))
    invocation.show(body, plain.listed(body))


@click.command()
@click.argument("id", metavar="ID")
@options_of("neighbors", leave_out=("id",))
@click.pass_obj
def neighbors(invocation: Invocation, **options: Any) -> None:
    """List the facts that links lead to from fact ID."""
    body = ask(invocation, "neighbors", sent_fields("neighbors", options))
    invocation.show(body, plain.linked(body))


@click.command()
@options_of("hygiene")
@click.pass_obj
def hygiene(invocation: Invocation, **options: Any) -> None:
    """List facts that deserve a look; changes nothing."""
    body = ask(invocation, "hygiene", sent_fields("hygiene", options))
    invocation.show(body, plain.reviewed(body))


@click.command()
@options_of("audit")
@click.pass_obj
def audit(invocation: Invocation, **options: Any) -> None:
    """Show who changed what: ids and outcomes, never content."""
    body = ask(invocation, "audit", sent_fields("audit", options))
    invocation.show(body, plain.audited(body))
