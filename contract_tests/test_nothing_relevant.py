"""Whether a store says that it holds no answer: asked what it holds, and what it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.manifest import promise
from contract_tests.plane_wire import REST

if TYPE_CHECKING:
    from contract_tests.plane_wire import Plane

HELD: Final = {
    "The nightly backup of the orders database runs at half past two": "When does the backup run?",
    "Rosa is allergic to peanuts and carries an injector": "What is Rosa allergic to?",
    "The greenhouse thermostat is set to eighteen degrees": "What temperature is the greenhouse?",
    "Invoices over two thousand euros need a second signature": "Which invoices need a signature?",
    "The piano was tuned by Mister Kovacs in October": "Who tuned the piano?",
    "Our office is on the fourth floor of the old mill": "On which floor is the office?",
    "The login service keeps credentials in the vault": "Where are credentials kept?",
    "Theo swims every Thursday before breakfast": "When does Theo swim?",
    "The staging cluster lives in Frankfurt": "Where does the staging cluster live?",
    "Feature flags are removed after two releases": "When are feature flags removed?",
    "Aunt Greta breeds sheepdogs on a farm near Aarhus": "What does Aunt Greta breed?",
    "The parser rejects files larger than ten megabytes": "Which files does the parser reject?",
    "Pull requests are merged by squashing": "How are pull requests merged?",
    "The lease of the car ends in September": "When does the lease of the car end?",
    "Nadia plays the cello in the town orchestra": "Which instrument does Nadia play?",
    "The coffee machine in the kitchen needs descaling": "What does the coffee machine need?",
}
"""A fact, and a question that it answers."""

FOREIGN: Final = (
    "How long should sourdough rise before baking?",
    "Who won the chess tournament in Reykjavik?",
    "What is the capital of Mongolia?",
    "Which vaccine did the puppy get?",
    "How many moons does Saturn have?",
    "What did the dentist say about my wisdom tooth?",
    "Where did Ibrahim study marine biology?",
    "Which tent is best for the Himalaya?",
    "What colour is the bridesmaid's dress?",
    "How do I renew a passport?",
    "What is the wifi password at the airport lounge?",
    "Who painted the ceiling of the chapel?",
    "Which guitar strings does Yuki prefer?",
    "When was the pyramid of Giza built?",
    "How much protein is in a lentil soup?",
    "What medal did the gymnast win?",
)


@promise("found:nothing-relevant")
def test_questions_from_elsewhere_get_nothing_and_the_others_their_fact(plane: Plane) -> None:
    """F21: at most one answer in twenty is lost, and most foreign questions get nothing."""
    shelf = plane.shelf()
    ids = plane.keep(shelf, *HELD)
    kept = [
        [item["id"] for item in plane.ok(REST, "search", namespace=shelf, query=query)["results"]]
        for query in HELD.values()
    ]
    assert [found[:1] for found in kept] == [[fact_id] for fact_id in ids]
    refused = [
        plane.ok(REST, "search", namespace=shelf, query=query)["abstained"] for query in FOREIGN
    ]
    assert sum(refused) >= 0.6 * len(FOREIGN)
