"""The command's frame: global options, output, errors; each command is a module of its own."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from graymatter_mcp.errors import ErrorCode, GraymatterError
from graymatter_mcp.requirements import wrong_version
from graymatter_mcp.settings import Settings, locate, read_settings
from graymatter_mcp.surfaces.error_map import reason_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.model.config import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """The global options of one call."""

    directory: str | None
    as_json: bool
    is_quiet: bool
    is_in_process: bool
    settings: Settings

    def config(self, *, is_service: bool = False) -> Config:
        """Return the configuration of the directory that this call means."""
        return self.settings.config(locate(self.directory, self.settings, is_service=is_service))

    def show(self, document: Any, text: str) -> None:
        """Write the answer to stdout: one JSON document, or text for people."""
        if self.as_json:
            text = json.dumps(document, ensure_ascii=False)
        elif self.is_quiet:
            return
        sys.stdout.write(text + "\n")


@click.group(no_args_is_help=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="graymatter-mcp", prog_name="graymatter")
@click.option("--dir", "directory", help="Data directory, relative to the working one.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON document to stdout.")
@click.option("--quiet", "is_quiet", is_flag=True, help="Write no prose.")
@click.option("--no-daemon", is_flag=True, help="Open the memory in this process.")
@click.pass_context
def app(
    context: click.Context,
    directory: str | None,
    as_json: bool,
    is_quiet: bool,
    no_daemon: bool,
) -> None:
    """Long-term memory for AI agents."""
    settings = read_settings()
    context.obj = Invocation(
        directory=directory,
        as_json=as_json,
        is_quiet=is_quiet,
        is_in_process=no_daemon or settings.no_daemon,
        settings=settings,
    )


def run(arguments: Sequence[str]) -> int:
    """Run one command line; return its exit status, 1 for every error.

    A command may say more with other numbers than 0 and 1: `contract diff` does.
    """
    as_json = "--json" in arguments
    try:
        status_code = _commands().main(
            list(arguments), prog_name="graymatter", standalone_mode=False
        )
    except click.exceptions.NoArgsIsHelpError as exc:
        if as_json:
            _complain("a command is required", ErrorCode.INVALID_ARGUMENT, as_json=True)
        else:
            exc.show()
        return 1
    except click.Abort:
        return 1
    except click.ClickException as exc:
        _complain(exc.format_message(), ErrorCode.INVALID_ARGUMENT, as_json=as_json)
        return 1
    except GraymatterError as exc:
        _complain(reason_of(exc), exc.code, as_json=as_json)
        return 1
    except (ImportError, AttributeError):
        # What a library of another major version looks like from here.
        problem = wrong_version()
        if problem is None:
            raise
        _complain(problem, ErrorCode.STORE_UNAVAILABLE, as_json=as_json)
        return 1
    return status_code if isinstance(status_code, int) else 0


def _commands() -> click.Group:
    from graymatter_mcp.surfaces.cli import (
        backup,
        contract,
        daemon,
        doctor,
        memory,
        plane,
        project,
        serve,
        status,
        token,
    )

    for command in (
        serve.mcp,
        serve.server,
        daemon.daemon,
        memory.remember,
        memory.recall,
        plane.capture,
        plane.context,
        plane.recent,
        plane.neighbors,
        plane.hygiene,
        plane.audit,
        project.project,
        status.status,
        doctor.doctor,
        backup.backup,
        backup.restore,
        backup.compact,
        token.token,
        contract.contract,
    ):
        app.add_command(command)
    return app


def _complain(message: str, code: ErrorCode, *, as_json: bool) -> None:
    if as_json:
        message = json.dumps({"error": message, "code": code}, ensure_ascii=False)
    sys.stderr.write(message + "\n")
