"""`http`: what HTTP adds to a call, and how many light calls a server answers at once."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier
from typing import TYPE_CHECKING, Any, Final

import anyio

from bench.baselines import python_start
from bench.client import SHELF, ServerFailedError, command_line
from bench.figures import Row, Table
from bench.measure import durations_ms, percentile, summary
from graymatter_mcp import Config, EmbeddingMode
from graymatter_mcp.compose import open_memory
from graymatter_mcp.contract.load import load_bundle
from graymatter_mcp.surfaces.mcp.answers import Caller
from graymatter_mcp.surfaces.mcp.dispatch import Dispatcher

if TYPE_CHECKING:
    import argparse
    from collections.abc import Generator

_SERVER: Final = "graymatter --dir {dir} mcp serve --http 127.0.0.1:0"
_LISTENING: Final = re.compile(r"listening on (\S+):(\d+)")
_TOKEN: Final = "of-the-benchmark"  # noqa: S105 - of a server that ends with it
_DEADLINE_S: Final = 120.0
_TOOL: Final = "memory_search"
_ARGUMENTS: Final = {"agent_id": SHELF, "query": "which port"}
_META: Final[dict[str, object]] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
_COMMON: Final = {
    "authorization": f"Bearer {_TOKEN}",
    "content-type": "application/json",
    "accept": "application/json",
}
_ERAS: Final[dict[str, tuple[dict[str, str], dict[str, Any]]]] = {
    "2025-11-25": ({"mcp-protocol-version": "2025-11-25"}, {}),
    "2026-07-28": (
        {
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": _TOOL,
        },
        {"_meta": _META},
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what this benchmark can be told."""
    parser.add_argument("--calls", type=int, default=1_000, help="calls for each latency")
    parser.add_argument("--in-flight", type=int, default=32, help="connections that call at once")
    parser.add_argument("--each", type=int, default=200, help="calls of each such connection")


def measure(options: argparse.Namespace) -> list[Table]:
    """Time the tool by itself, then through HTTP, then from many connections."""
    with tempfile.TemporaryDirectory(dir=options.dir) as name:
        engine = anyio.run(_engine_times, Path(name) / "alone", options.calls)
        with _server(Path(name) / "served") as (host, port):
            times = {era: _latencies(host, port, era, options.calls) for era in _ERAS}
            flights = [_throughput(host, port, era, options) for era in _ERAS]
    own = percentile(engine, 0.5)
    return [
        Table(
            title=f"{_TOOL} in an empty namespace, one connection that is kept",
            unit="ms",
            rows=(
                summary("the tool alone, in process", engine),
                *(summary(f"over HTTP, {era}", found) for era, found in times.items()),
                *(
                    Row(what=f"what HTTP adds, {era}", value=percentile(found, 0.5) - own)
                    for era, found in times.items()
                ),
            ),
            baselines=(python_start(),),
            note="Server and client share the machine; the client's own time is in the figures.",
        ),
        Table(
            title=f"{options.in_flight} calls in flight, {options.each} of each connection",
            unit="op/s",
            rows=tuple(
                Row(what=f"calls, {era}", value=rate)
                for era, (rate, _) in zip(_ERAS, flights, strict=True)
            ),
            baselines=(Row(what="the tool alone, one call after another", value=1e3 / own),),
        ),
        Table(
            title=f"{options.in_flight} calls in flight",
            unit="count",
            rows=(Row(what="errors", value=sum(failed for _, failed in flights)),),
        ),
    ]


async def _engine_times(directory: Path, calls: int) -> list[float]:
    config = Config(data_dir=directory, embedding_mode=EmbeddingMode.KEYWORD)
    owned = open_memory(config)
    try:
        dispatcher = Dispatcher(load_bundle(("core",)), owned.memory)
        times: list[float] = []
        for number in range(calls + 50):
            start = time.perf_counter()
            await dispatcher.call(_TOOL, _ARGUMENTS, Caller())
            if number >= 50:
                times.append((time.perf_counter() - start) * 1e3)
        return times
    finally:
        await owned.aclose()


@contextmanager
def _server(directory: Path) -> Generator[tuple[str, int]]:
    variables = {
        "GRAYMATTER_MODEL": "none",
        "GRAYMATTER_RATE_LIMIT": "0",
        "GRAYMATTER_HTTP_TOKEN": _TOKEN,
    }
    with tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(
            command_line(_SERVER, directory), stderr=stderr, env={**os.environ, **variables}
        )
        try:
            yield _where(process, stderr.fileno())
        finally:
            process.terminate()
            process.wait(_DEADLINE_S)


def _where(process: subprocess.Popen[bytes], stderr: int) -> tuple[str, int]:
    deadline = time.monotonic() + _DEADLINE_S
    while process.poll() is None and time.monotonic() < deadline:
        found = _LISTENING.search(os.pread(stderr, 65536, 0).decode())
        if found is not None:
            return found[1], int(found[2])
        time.sleep(0.05)
    raise ServerFailedError("the server does not listen")


class _Connection:
    """One kept connection that makes the same call again and again."""

    def __init__(self, host: str, port: int, era: str) -> None:
        headers, more = _ERAS[era]
        params = {"name": _TOOL, "arguments": _ARGUMENTS, **more}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        self._body = json.dumps(message).encode()
        self._headers = {**_COMMON, **headers}
        self._connection = http.client.HTTPConnection(host, port, timeout=_DEADLINE_S)

    def call(self, _: object = None) -> bool:
        """Call once; return whether the answer was a result."""
        self._connection.request("POST", "/mcp", self._body, self._headers)
        answer = self._connection.getresponse()
        return b'"structuredContent"' in answer.read() and answer.status == http.client.OK

    def close(self) -> None:
        """Hang up."""
        self._connection.close()


def _latencies(host: str, port: int, era: str, calls: int) -> list[float]:
    connection = _Connection(host, port, era)
    if not connection.call():
        raise ServerFailedError("the call failed")
    times = durations_ms(connection.call, range(calls + 50), warm_up=50)
    connection.close()
    return times


def _throughput(host: str, port: int, era: str, options: argparse.Namespace) -> tuple[float, int]:
    """Return calls per second and how many failed."""
    count: int = options.in_flight
    barrier = Barrier(count + 1)

    def run() -> int:
        connection = _Connection(host, port, era)
        barrier.wait()
        failed = sum(not connection.call() for _ in range(options.each))
        connection.close()
        return failed

    with ThreadPoolExecutor(count) as pool:
        runs = [pool.submit(run) for _ in range(count)]
        barrier.wait()
        start = time.perf_counter()
        failed = sum(run.result() for run in runs)
        seconds = time.perf_counter() - start
    return count * options.each / seconds, failed
