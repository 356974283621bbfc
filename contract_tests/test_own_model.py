"""A model of the user's choice, from the setting to the answer, on both surfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import pytest

from contract_tests.credentials import SERVER_TOKEN
from contract_tests.http_wire import HttpServer
from contract_tests.manifest import promise
from contract_tests.plane_wire import DOORS, REST, Plane
from contract_tests.processes import wait_until
from contract_tests.two_languages import save_model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contract_tests.plane_server import PlaneServer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("default"),  # what the libraries of the model warn about is theirs
]

SHELF: Final = "zoo"
FACTS: Final = (
    "The cat sleeps on the sofa",
    "Invoices are paid within thirty days",
    "The train to Basel leaves at noon",
)
ASKED: Final = {
    "Wo schläft die Katze?": FACTS[0],
    "Wann werden Rechnungen bezahlt?": FACTS[1],
    "Zug, Mittag": FACTS[2],
}
"""Questions that share no word with their facts."""


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """A server whose model knows two languages, and which was started again since it stored."""
    directory = tmp_path_factory.mktemp("languages")
    save_model(directory / "two-languages")
    variables = {
        "GRAYMATTER_MODEL": str(directory / "two-languages"),
        "GRAYMATTER_HTTP_TOKEN": SERVER_TOKEN,
        "GRAYMATTER_RATE_LIMIT": "0",
    }
    arguments = ("--toolset", "core,dataplane")
    with HttpServer(directory / "store", *arguments, **variables) as server:
        opened = Plane(cast("PlaneServer", server))  # of which it asks only the port
        for fact in FACTS:
            opened.core("memory_add", agent_id=SHELF, text=fact)
        _settle(opened)
    with HttpServer(directory / "store", *arguments, **variables) as server:
        opened = Plane(cast("PlaneServer", server))
        _settle(opened)
        yield opened


def _settle(plane: Plane) -> None:
    def is_settled() -> bool:
        found = plane.ok(REST, "search", query="cat", namespace=SHELF)
        return not found["degraded"] and plane.ok(REST, "stats")["pendingVectors"] == 0

    wait_until(is_settled, "every fact has its vector")


@promise("vectors:own-model")
@pytest.mark.parametrize("query", ASKED)
def test_a_fact_is_found_in_another_language(plane: Plane, query: str) -> None:
    """Issue 6: a multilingual model by setting; no word is shared, so meaning alone finds it."""
    told = plane.core("memory_search", agent_id=SHELF, query=query, explain=True)
    first = told["explained"][0]
    assert first["text"] == ASKED[query]
    assert (first["ranks"]["vector_rank"], first["ranks"]["keyword_rank"]) == (1, 0)
    for door in DOORS:
        found = plane.ok(door, "search", query=query, namespace=SHELF)
        assert found["results"][0]["content"] == ASKED[query]
        assert not found["degraded"]
