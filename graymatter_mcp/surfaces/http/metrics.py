"""`GET /metrics`: what was asked and what is stored, in the text format of Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from graymatter_mcp.engine.restricted import restrict
from graymatter_mcp.errors import ForbiddenError, GraymatterError
from graymatter_mcp.surfaces.http.messages import HttpAnswer, error_answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.model.results import AgentStatus, EngineStatus
    from graymatter_mcp.surfaces.http.messages import HttpRequest

TEXT_TYPE: Final = b"text/plain; version=0.0.4; charset=utf-8"
MAX_NAMESPACES: Final = 1000
OTHER: Final = "other"
"""Stands for all namespaces beyond the largest `MAX_NAMESPACES`."""

NO_ROUTE: Final = "none"
OTHER_METHOD: Final = "other"
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """Counters of one server; labels are bounded, and none holds what a client made up."""

    def __init__(self, memory: Memory, calls: Callable[[], int]) -> None:
        """Prepare.

        Args:
            memory: Counted at each look.
            calls: Says how many requests are at work.
        """
        self._memory = memory
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "graymatter_http_requests",
            "Requests answered.",
            ("route", "method", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "graymatter_http_request_seconds",
            "Time from the head of a request to its answer.",
            ("route",),
            registry=self._registry,
            buckets=(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30),
        )
        at_work = Gauge("graymatter_http_calls", "Requests at work.", registry=self._registry)
        at_work.set_function(calls)
        self._gauges = {
            name: Gauge(f"graymatter_{name}", text, registry=self._registry)
            for name, text in _COUNTS.items()
        }
        self._facts, self._recalls = (
            Gauge(f"graymatter_namespace_{name}", text, ("namespace",), registry=self._registry)
            for name, text in (
                ("live_facts", "Live facts of a namespace."),
                ("recalls", "Times that facts of a namespace were recalled."),
            )
        )

    def observe(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count one answer."""
        place = route or NO_ROUTE
        known = method if method in _METHODS else OTHER_METHOD
        self._requests.labels(place, known, str(status)).inc()
        self._seconds.labels(place).observe(seconds)

    async def show(self, request: HttpRequest) -> HttpAnswer:
        """Count the store, and answer."""
        try:
            status = await restrict(self._memory, request.rights).status()
        except ForbiddenError as exc:
            return error_answer(403, str(exc))
        except GraymatterError:
            return error_answer(503, "store unavailable")
        self._count(status)
        return HttpAnswer(
            status=200,
            body=generate_latest(self._registry),
            media_type=TEXT_TYPE,
        )

    def _count(self, status: EngineStatus) -> None:
        for name, gauge in self._gauges.items():
            gauge.set(getattr(status, name))
        self._facts.clear()
        self._recalls.clear()
        largest = sorted(status.agents, key=_size)
        for place, agent in enumerate(largest):
            namespace = str(agent.agent) if place < MAX_NAMESPACES else OTHER
            self._facts.labels(namespace).inc(agent.live_facts)
            self._recalls.labels(namespace).inc(agent.recalls)


_COUNTS: Final = {
    "total_live_facts": "Live facts.",
    "total_tombstones": "Retired facts.",
    "pending_vector_ops": "Facts whose vector is not made yet.",
    "pinned": "Pinned facts.",
}
"""Counts of `EngineStatus` that are shown."""


def _size(agent: AgentStatus) -> tuple[int, str]:
    return (-agent.live_facts, str(agent.agent))
