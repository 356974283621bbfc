"""A server of the data plane in this process, behind a real listener, with parts to replace."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from anyio.from_thread import start_blocking_portal

from contract_tests.credentials import SERVER_TOKEN
from contract_tests.inside import StillClock, keyword_config
from contract_tests.plane_inside import SwitchedStore, minilm
from contract_tests.wire import DEADLINE_S
from graymatter_mcp.compose import calibrations
from graymatter_mcp.contract.load import load_bundle
from graymatter_mcp.embedding.minilm import MiniLM
from graymatter_mcp.engine.local import LocalMemory
from graymatter_mcp.ranking.tokens import Analyzer
from graymatter_mcp.store.memory import InMemoryStore
from graymatter_mcp.surfaces.auth import Scope
from graymatter_mcp.surfaces.credentials import BearerAuthenticator
from graymatter_mcp.surfaces.http.app import HttpApp
from graymatter_mcp.surfaces.http.limits import HttpLimits
from graymatter_mcp.surfaces.http.listener import Listener, bind
from graymatter_mcp.surfaces.http.places import Address, Places
from graymatter_mcp.surfaces.http.proxies import Proxies
from graymatter_mcp.surfaces.http.sessions import CookieSessions
from graymatter_mcp.surfaces.live_tokens import LiveTokens
from graymatter_mcp.surfaces.mcp.dispatch import Dispatcher
from graymatter_mcp.surfaces.mcp.http import McpEndpoint
from graymatter_mcp.surfaces.mcp.server import build_server, served_by
from graymatter_mcp.surfaces.rest.legacy import legacy_routes
from graymatter_mcp.surfaces.rest.refusals import RefusalsAtTheGate
from graymatter_mcp.surfaces.rest.routes import rest_routes
from graymatter_mcp.surfaces.rest.session import session_routes
from graymatter_mcp.surfaces.tokens import TokenFile

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from anyio.from_thread import BlockingPortal

    from graymatter_mcp.embedding.base import Embedder

NO_RATE: Final = HttpLimits(per_minute=0)
LOOPBACK: Final = "127.0.0.1"
BOTH: Final = ("core", "dataplane")


class PlaneServer:
    """What `mcp serve --http` puts together, with a clock, a model and a store of the test's."""

    def __init__(
        self,
        directory: Path,
        portal: BlockingPortal,
        load: Callable[[], Embedder] | None,
        limits: HttpLimits,
        clock: StillClock,
        stem: Callable[[str], str] | None,
    ) -> None:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        config = keyword_config(directory)
        analyzer = Analyzer(config.stem_language)
        self.clock = clock
        self.directory = directory
        self.store = SwitchedStore(directory / "gray.duckdb", stem=stem or analyzer.index_term)
        self._portal = portal
        self.memory = LocalMemory(
            self.store,
            load,
            analyzer,
            config,
            clock,
            model_key="" if load is None else MiniLM.model_key,
            calibrations=calibrations(),
            scratch=lambda: InMemoryStore(stem=analyzer.index_term),
        )
        bundle = load_bundle(BOTH)
        self._live_tokens = LiveTokens(directory)
        calls = Dispatcher(bundle, self.memory, plane=self.memory.plane, now=clock.now)
        endpoint = McpEndpoint(
            build_server(bundle, calls), frozenset(tool.name for tool in bundle.tools)
        )
        bearers = BearerAuthenticator(SERVER_TOKEN, self._live_tokens)
        bearers.use(self.memory.plane.accounts)
        sessions = CookieSessions(bearers, self.memory.plane, is_https=False)
        address = Address(LOOPBACK, 0)
        app = HttpApp(
            self.memory,
            endpoint,
            bearers,
            Places((), (), address),
            Proxies(()),
            limits,
            more=[
                *rest_routes(self.memory.plane, now=clock.now, served=served_by(bundle)),
                *session_routes(self.memory.plane, sessions),
                *legacy_routes(self.memory),
            ],
            sessions=sessions,
            witness=RefusalsAtTheGate(self.memory.plane),
        )
        self.listener = Listener(bind(address), app.gate, limits, None)
        self.port = self.listener.address.port
        self._serving = portal.start_task_soon(self.listener.serve)

    def settle(self) -> None:
        """Wait until the model is there, or is known to be away, and nothing waits for it."""
        assert self.memory.models.wait_until_settled(DEADLINE_S)

    def mint(self, *, scope: Scope = Scope.FULL, project: str | None = None) -> str:
        """Hand out a token."""
        return TokenFile(self.directory).create(name="case", scope=scope, project=project).secret

    def close(self) -> None:
        """Stop listening, then close the memory."""
        self._portal.call(self.listener.stop)
        self._serving.cancel()
        self._portal.call(self.memory.aclose)
        self._live_tokens.close()


@contextmanager
def plane_server(
    directory: Path,
    *,
    load: Callable[[], Embedder] | None = minilm,
    limits: HttpLimits = NO_RATE,
    clock: StillClock | None = None,
    stem: Callable[[str], str] | None = None,
) -> Generator[PlaneServer]:
    """Serve a directory.

    Args:
        directory: Made unless it is there; may be served again later.
        load: Makes the model, or raises; None for a memory without vectors by choice.
        limits: Of the listener.
        clock: Moves only by hand; a new one where None.
        stem: Of the words that the store indexes; None for that of the queries.
    """
    with start_blocking_portal() as portal:
        server = PlaneServer(directory, portal, load, limits, clock or StillClock(), stem)
        try:
            yield server
        finally:
            server.close()
