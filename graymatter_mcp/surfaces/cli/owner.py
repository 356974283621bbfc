"""How an owner comes up in this process: the directory first, everything heavy afterwards."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from functools import partial
from importlib import metadata
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from graymatter_mcp.bridge.link import REASON
from graymatter_mcp.compose import open_memory
from graymatter_mcp.contract.load import CORE, load_bundle
from graymatter_mcp.errors import GraymatterError
from graymatter_mcp.owner.process import OwnerProcess
from graymatter_mcp.surfaces.error_map import reason_of
from graymatter_mcp.surfaces.mcp.dispatch import Dispatcher
from graymatter_mcp.surfaces.mcp.server import DISTRIBUTION, build_server
from graymatter_mcp.surfaces.rest.routes import rest_routes

if TYPE_CHECKING:
    from collections.abc import Callable

    from graymatter_mcp.contract.load import Bundle
    from graymatter_mcp.engine.faces import TwoFacedMemory
    from graymatter_mcp.model.config import Config
    from graymatter_mcp.owner.doors import Toolsets
    from graymatter_mcp.owner.election import Ownership
    from graymatter_mcp.owner.process import RemoteDoor, StdioClient
    from graymatter_mcp.settings import Settings
    from graymatter_mcp.surfaces.mcp.server import GraymatterServer, ToolCalls

    OpenRemote = Callable[[TwoFacedMemory, Bundle, Callable[[], GraymatterServer]], RemoteDoor]

logger = logging.getLogger(__name__)

LOG_FILE = "owner.log"
CALLS_OF_ONE_CLIENT = 16
"""At work at once: enough to share a commit, few enough to wait behind."""
_LOG_BYTES = 1_000_000


def run_owner(
    config: Config,
    settings: Settings,
    ownership: Ownership,
    *,
    is_foreground: bool,
    client: StdioClient | None = None,
    on_ready: Callable[[], None] | None = None,
    open_remote: OpenRemote | None = None,
    toolsets: Toolsets = CORE,
) -> None:
    """Open the memory and serve it until the owner may leave.

    Args:
        config: Of the directory held.
        settings: Of this process.
        ownership: The directory, held; released at the end.
        is_foreground: Whether a person or a service manager started it.
        client: A client of its own; the owner leaves with it.
        on_ready: Called once clients can come.
        open_remote: Makes the door for callers of other machines.
        toolsets: Served to its own client and to other machines; a bridge says what it wants.
    """
    version = metadata.version(DISTRIBUTION)
    # A small switch interval lets the loop answer while the model works.
    sys.setswitchinterval(0.001)

    async def main() -> None:
        owned = open_memory(config, ownership=ownership)
        try:
            build = _Servers(owned.memory, settings.answer_budget, version)
            remote = (
                None
                if open_remote is None
                else open_remote(owned.memory, load_bundle(toolsets), partial(build, toolsets))
            )
            process = OwnerProcess(
                owned.memory,
                ownership,
                config.data_dir,
                build,
                version=version,
                idle_exit_s=0 if is_foreground else settings.idle_exit.total_seconds(),
                is_foreground=is_foreground,
                loopback_tcp=settings.loopback_tcp,
                remote=remote,
                toolsets=toolsets,
                routes=partial(rest_routes, owned.memory.plane),
            )
            await process.run(client, on_ready)
        finally:
            await owned.aclose()

    try:
        anyio.run(main)
    except GraymatterError as exc:
        logger.error("the owner ends: %s", exc)  # noqa: TRY400 - its text says it all
        sys.stderr.write(f"{REASON}{reason_of(exc)}\n")
        sys.exit(1)
    except Exception as exc:  # noqa: BLE001 - the last door of this process; only type and place
        place = traceback.extract_tb(exc.__traceback__)[-1]
        logger.critical("%s at %s:%s", type(exc).__name__, place.filename, place.lineno)
        sys.stderr.write(f"{REASON}the owner failed; see {LOG_FILE}\n")
        sys.exit(1)


class _Servers:
    """Makes the server of a connection, for the toolsets that it wants."""

    def __init__(self, memory: TwoFacedMemory, answer_budget: int, version: str) -> None:
        self._memory = memory
        self._answer_budget = answer_budget
        self._version = version
        self._dispatchers: dict[Toolsets, Dispatcher] = {}

    def __call__(self, toolsets: Toolsets) -> GraymatterServer:
        """Make one; what checks the calls is shared by all connections of the same toolsets."""
        bundle = load_bundle(toolsets)
        if toolsets not in self._dispatchers:
            self._dispatchers[toolsets] = Dispatcher(
                bundle, self._memory, self._answer_budget, self._memory.plane
            )
        return server_of_one_client(bundle, self._dispatchers[toolsets], self._version)


def server_of_one_client(bundle: Bundle, calls: ToolCalls, version: str) -> GraymatterServer:
    """Build the server of one connection.

    However much one client asks, the next call of another is near.
    """
    return build_server(bundle, calls, version=version, calls_at_once=CALLS_OF_ONE_CLIENT)


def log_to_file(directory: Path) -> None:
    """Send the log to a file that rotates; it never holds the text of a fact."""
    handler = RotatingFileHandler(
        directory / LOG_FILE, maxBytes=_LOG_BYTES, backupCount=2, encoding="utf-8"
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


def detach_stderr() -> None:
    """Let go of the stderr of whoever started us: it only waits for bad news."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    os.close(null)
