"""`graymatter daemon run|status|stop`."""

from __future__ import annotations

import logging
import os
import sys
import time
from typing import TYPE_CHECKING, Any, Final

import click

from graymatter_mcp.bridge.directory import read_owner
from graymatter_mcp.errors import GraymatterError, StoreUnavailableError
from graymatter_mcp.owner.client import ask_owner
from graymatter_mcp.owner.election import Ownership, is_held
from graymatter_mcp.owner.spawned import claim_directory
from graymatter_mcp.settings import parse_duration

if TYPE_CHECKING:
    from pathlib import Path

    from graymatter_mcp.surfaces.cli.app import Invocation

_HAND_OVER_S: Final = 30.0
_POLL_S: Final = 0.02


@click.group()
def daemon() -> None:
    """Run, look at or stop the owner of a data directory."""


@daemon.command()
@click.option("--on-demand", is_flag=True, hidden=True, help="Started by a client.")
@click.option("--no-create", is_flag=True, help="Fail unless the directory has a memory already.")
@click.option("--idle-exit", help="Leave after this long without clients; 0 is never.")
@click.pass_obj
def run(invocation: Invocation, on_demand: bool, no_create: bool, idle_exit: str | None) -> None:
    """Own the directory until stopped."""
    config = invocation.config(is_service=True)
    settings = invocation.settings
    if idle_exit is not None:
        try:
            settings = settings.model_copy(update={"idle_exit": parse_duration(idle_exit)})
        except ValueError as exc:
            raise click.BadParameter(str(exc), param_hint="--idle-exit") from exc
    if on_demand:
        ownership = claim_directory(config.data_dir, may_create=not no_create)
    else:
        ownership = take_over(config.data_dir, may_create=not no_create)
    from graymatter_mcp.surfaces.cli.owner import detach_stderr, log_to_file, run_owner

    log_to_file(config.data_dir)

    def on_ready() -> None:
        if on_demand:
            detach_stderr()
        elif not invocation.is_quiet:
            sys.stderr.write(f"graymatter: owning {config.data_dir} (pid {os.getpid()})\n")

    run_owner(
        config,
        settings,
        ownership,
        is_foreground=not on_demand and idle_exit is None,
        on_ready=on_ready,
    )
    logging.shutdown()
    # The interpreter's own way out takes long, and joins threads still at work.
    os._exit(0)


def take_over(directory: Path, *, may_create: bool) -> Ownership:
    """Take the directory in the foreground; an owner started on demand makes way.

    Raises:
        StoreUnavailableError: Another foreground owner holds it; the message names its pid.
    """
    if read_owner(str(directory)) is not None:
        try:
            ask_owner(directory, "POST", "/owner/hand-over")
        except StoreUnavailableError as exc:
            if "pid" in str(exc):
                raise
    from graymatter_mcp.bridge.directory import DATABASE_FILE, holds_store
    from graymatter_mcp.owner.election import prepare_directory

    prepare_directory(
        directory, DATABASE_FILE, may_create=may_create, has_store=holds_store(str(directory))
    )
    return Ownership(directory, wait_s=_HAND_OVER_S)


@daemon.command()
@click.pass_obj
def status(invocation: Invocation) -> None:
    """Say whether an owner runs; starts none."""
    directory = invocation.config(is_service=True).data_dir
    document = describe_owner(directory)
    if document["running"]:
        text = (
            f"running: pid {document['pid']}, version {document['version']},"
            f" {document['clients']} clients, up {document['uptime_s']:.0f} s"
        )
    else:
        text = "not running"
    invocation.show(document, f"{text}\n{directory}")


def describe_owner(directory: Path) -> dict[str, Any]:
    """Return what the owner says of itself, or that there is none."""
    try:
        return ask_owner(directory, "GET", "/owner")
    except GraymatterError:
        return {"running": False, "data_dir": str(directory)}


@daemon.command()
@click.pass_obj
def stop(invocation: Invocation) -> None:
    """Stop the owner; what it was asked before is answered."""
    directory = invocation.config(is_service=True).data_dir
    owner = describe_owner(directory)
    if not owner["running"]:
        invocation.show({"running": False, "data_dir": str(directory)}, "not running")
        return
    ask_owner(directory, "POST", "/owner/stop")
    deadline = time.monotonic() + _HAND_OVER_S
    while is_held(directory, owner["pid"]) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    if is_held(directory, owner["pid"]):
        raise StoreUnavailableError(f"the owner (pid {owner['pid']}) has not ended yet")
    invocation.show({"running": False, "data_dir": str(directory)}, "stopped")
