"""`graymatter mcp serve`: one MCP client on stdio, or any number of them over HTTP."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from graymatter_mcp.bridge.claim import claim_stdio
from graymatter_mcp.contract.load import read_toolsets
from graymatter_mcp.surfaces.cli.daemon import take_over
from graymatter_mcp.surfaces.cli.remote import RemoteOptions, serve_remote

if TYPE_CHECKING:
    from collections.abc import Callable

    from graymatter_mcp.surfaces.cli.app import Invocation


Command = TypeVar("Command", bound="Callable[..., Any]")

_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
_REMOTE_OPTIONS: Final = (
    click.option("--token", help="The server token; else GRAYMATTER_HTTP_TOKEN, else a file."),
    click.option("--no-auth", is_flag=True, help="Ask nobody for a token; on loopback only."),
    click.option("--tls-cert", type=_FILE, help="Certificate chain in PEM: serve HTTPS."),
    click.option("--tls-key", type=_FILE, help="Its key, if it is in a file of its own."),
    click.option(
        "--allow-host", multiple=True, metavar="NAME", help="A Host name to answer to; repeatable."
    ),
    click.option(
        "--allow-origin",
        multiple=True,
        metavar="ORIGIN",
        help="A web origin to let in; repeatable.",
    ),
)


_toolset_option: Final = click.option(
    "--toolset",
    default="core",
    show_default=True,
    metavar="NAMES",
    help="Toolsets to serve, separated by commas.",
)


def _remote_options(command: Command) -> Command:
    """Give a command the options of a door for remote callers."""
    for add in reversed(_REMOTE_OPTIONS):
        command = add(command)
    return command


@click.group()
def mcp() -> None:
    """Serve the Model Context Protocol."""


@mcp.command()
@click.option("--http", "address", metavar="HOST:PORT", help="Serve over HTTP instead of stdio.")
@click.option("--no-create", is_flag=True, help="Fail unless the directory has a memory already.")
@_toolset_option
@_remote_options
@click.pass_obj
def serve(
    invocation: Invocation, address: str | None, no_create: bool, toolset: str, **options: Any
) -> None:
    """Serve one client on stdin and stdout, or with --http many over the network."""
    toolsets = read_toolsets(toolset)
    if address is not None:
        may_create = not no_create
        serve_remote(invocation, _remote(address, toolsets, may_create=may_create, **options))
        return
    if any(options.values()):
        raise click.UsageError("this option needs --http HOST:PORT")
    _serve_stdio(invocation, toolsets, may_create=not no_create)


@click.command()
@click.option(
    "--addr",
    "-a",
    "address",
    metavar="HOST:PORT",
    default="127.0.0.1:8080",
    show_default=True,
    help="Where to listen.",
)
@_toolset_option
@_remote_options
@click.pass_obj
def server(invocation: Invocation, address: str, toolset: str, **options: Any) -> None:
    """Serve remote agents over HTTP; the same as `mcp serve --http`."""
    toolsets = read_toolsets(toolset)
    serve_remote(invocation, _remote(address, toolsets, may_create=True, **options))


def _remote(
    address: str,
    toolsets: tuple[str, ...],
    *,
    may_create: bool,
    token: str | None,
    no_auth: bool,
    tls_cert: Path | None,
    tls_key: Path | None,
    allow_host: tuple[str, ...],
    allow_origin: tuple[str, ...],
) -> RemoteOptions:
    return RemoteOptions(
        address=address,
        toolsets=toolsets,
        token=token,
        is_open=no_auth,
        may_create=may_create,
        hosts=allow_host,
        origins=allow_origin,
        certificate=tls_cert,
        key=tls_key,
    )


def _serve_stdio(invocation: Invocation, toolsets: tuple[str, ...], *, may_create: bool) -> None:
    # From here on nothing but the transport reaches stdout; imports below may print.
    claim_stdio()
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    config = invocation.config()
    ownership = take_over(config.data_dir, may_create=may_create)
    from graymatter_mcp.surfaces.cli.owner import run_owner
    from graymatter_mcp.surfaces.mcp.stdio import StdioWire

    def on_ready() -> None:
        if not invocation.is_quiet:
            sys.stderr.write(f"graymatter: serving {config.data_dir}\n")
            sys.stderr.flush()

    run_owner(
        config,
        invocation.settings,
        ownership,
        is_foreground=True,
        client=StdioWire(claim_stdio(), invocation.settings.max_line_bytes),
        on_ready=on_ready,
        toolsets=toolsets,
    )
    logging.shutdown()
    sys.stderr.flush()
    # The interpreter's own way out takes long, and joins threads still at work.
    os._exit(0)
