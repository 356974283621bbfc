"""`http`: what HTTP adds to a call, and how many light calls a server answers at once."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio

from bench.baselines import python_start
from bench.client import SHELF, ServerFailedError, command_line
from bench.figures import Row, Table
from bench.flight import Line, connect, fly
from bench.measure import percentile, summary
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
TOKEN: Final = "of-the-benchmark"  # noqa: S105 - of a server that ends with it
_DEADLINE_S: Final = 120.0
_WARM_UP: Final = 50
_CLIENT: Final = (
    "Server and client share the machine. The client sends prepared bytes over sockets and looks"
    " for status and id in each answer, all in one thread; its own time is in the figures."
)
_TOOL: Final = "memory_search"
_ARGUMENTS: Final = {"agent_id": SHELF, "query": "which port"}
_META: Final[dict[str, object]] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
_COMMON: Final = {
    "authorization": f"Bearer {TOKEN}",
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
        with http_server(Path(name) / "served") as (host, port):
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
            note=_CLIENT,
        ),
        Table(
            title=f"{options.in_flight} calls in flight, {options.each} of each connection",
            unit="op/s",
            rows=tuple(
                Row(what=f"calls, {era}", value=rate)
                for era, (rate, _) in zip(_ERAS, flights, strict=True)
            ),
            baselines=(Row(what="the tool alone, one call after another", value=1e3 / own),),
            note=_CLIENT,
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
        for number in range(calls + _WARM_UP):
            start = time.perf_counter()
            await dispatcher.call(_TOOL, _ARGUMENTS, Caller())
            if number >= _WARM_UP:
                times.append((time.perf_counter() - start) * 1e3)
        return times
    finally:
        await owned.aclose()


@contextmanager
def http_server(directory: Path, model: str = "none") -> Generator[tuple[str, int]]:
    """Serve a directory on a free port of loopback.

    Args:
        directory: The store, made if need be.
        model: As the setting takes it.
    """
    variables = {
        "GRAYMATTER_MODEL": model,
        "GRAYMATTER_RATE_LIMIT": "0",
        "GRAYMATTER_HTTP_TOKEN": TOKEN,
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


def _line(host: str, port: int, era: str, number: int) -> Line:
    headers, more = _ERAS[era]
    params = {"name": _TOOL, "arguments": _ARGUMENTS, **more}
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    lines = [f"{name}: {value}\r\n" for name, value in {**_COMMON, **headers}.items()]
    head = "POST /mcp HTTP/1.1\r\n" + "".join(lines)
    # The answer's own id in front of its result: that of another call would not pass for it.
    proof = b'"id":%d,"result":{' % number
    return connect(host, port, head, json.dumps(message).encode(), proof)


def _latencies(host: str, port: int, era: str, calls: int) -> list[float]:
    line = _line(host, port, era, 1)
    with line.connection:
        fly([line], _WARM_UP)
        fly([line], calls)
        if line.failed:
            raise ServerFailedError("a call failed")
        return line.times_ms


def _throughput(host: str, port: int, era: str, options: argparse.Namespace) -> tuple[float, int]:
    """Return calls per second and how many failed."""
    lines = [_line(host, port, era, number) for number in range(options.in_flight)]
    with ExitStack() as stack:
        for line in lines:
            stack.enter_context(line.connection)
        seconds = fly(lines, options.each)
    return len(lines) * options.each / seconds, sum(line.failed for line in lines)
