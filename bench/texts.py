"""Sentences and questions as an agent would write them: made up, distinct, the same every time."""

from __future__ import annotations

from collections import defaultdict
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_VOCABULARY: Final = """\
person: Amara, Bjorn, Chidi, Dolores, Emre, Farida, Goran, Hana, Ilse, Jorge, Katya, Lamine, Nils
person: Oksana, Pilar, Quentin, Rosa, Sanjay, Tomas, Usha, Viktor, Wanda, Ximena, Yusuf, Zofia
service: billing, checkout, search, ingest, gateway, scheduler, mailer, ledger, profile, inventory
service: notification, export, thumbnail, audit, session, pricing, webhook, archive, reporting
place: Frankfurt, Osaka, Lagos, Montreal, Tallinn, Valparaiso, Nairobi, Dublin, Pune, Zagreb, Hobart
stage: staging, production, development, preview, disaster recovery, load testing
store: PostgreSQL, Redis, Kafka, DuckDB, RabbitMQ, SQLite, Elasticsearch, etcd
tool: ruff, pytest, Terraform, Helm, Grafana, Ansible, Buildkite, Vault, Renovate, mypy
topic: retries, time-outs, caching, pagination, rate limits, currency rounding, time zones
topic: certificates, feature flags, database migrations, error budgets, code review, log rotation
opinion: prefers, dislikes, wants to replace, documented, argued against, simplified, owns, reviewed
reason: because the nightly run took too long, after two customers complained, to save memory
reason: since the licence changed, until the new cluster is ready, as the auditors asked
reason: because the old one lost messages, so that a restart loses nothing, after the outage
month: January, February, March, April, May, June, July, August, September, October, November
month: December
"""
_NUMBERS: Final = {
    "port": (1024, 65535),
    "major": (0, 12),
    "minor": (0, 60),
    "day": (1, 28),
    "hour": (0, 23),
    "minute": (10, 59),
    "amount": (2, 900),
    "ticket": (100, 99999),
}
_FACTS: Final = (
    "The {service} service in {place} listens on port {port} in {stage}, behind the {service} one.",
    "{person} upgraded {store} of the {service} team to {major}.{minor}.{minor} on {month} {day}.",
    "We moved {service} from {store} to {store} {reason}; ticket GM-{ticket} has the details.",
    "{person} {opinion} {topic} in the {service} service {reason}, see GM-{ticket}.",
    "The {stage} window for {service} opens on {month} {day} at {hour}:{minute} in {place}.",
    "{person} and {person} agreed on {topic} for {service}: at most {amount} requests at once.",
    "Run {tool} {major}.{minor} before every release of {service}, as {person} found in {month}.",
    "On {month} {day} the {service} service ran out of disk in {place} after {amount} minutes.",
    "{person} is on call for {service} from {month} {day}; {person} takes over at {hour}:{minute}.",
    "The password of {store} in {stage} lasts {amount} days, {person} wrote in GM-{ticket}.",
    "Customers in {place} pay {amount} euros for {service} since {month} {day}, says {person}.",
    "{tool} fails in {stage} when {store} is older than {major}.{minor}; {person} pinned it.",
)
_QUESTIONS: Final = (
    "which port does {service} use in {stage} near {place}, was it {port}",
    "who upgraded {store} for the {service} team around {month} {day}, was it for GM-{ticket}",
    "why did we move {service} away from {store}, ticket GM-{ticket}",
    "what does {person} think about {topic} in {service} after {month} {day}, GM-{ticket}",
    "when does the {stage} window for {service} open in {place}, {hour}:{minute} perhaps",
    "who is on call for {service} on {month} {day} after {hour}:{minute}",
    "how many requests did {person} and {person} allow for {service} on {month} {day}, {amount}",
    "version of {tool} that {person} needed to release {service} {major}.{minor}, GM-{ticket}",
)


def _words() -> dict[str, list[str]]:
    words: dict[str, list[str]] = defaultdict(list)
    for line in _VOCABULARY.splitlines():
        field, _, values = line.partition(": ")
        words[field] += values.split(", ")
    return words


_WORDS: Final = _words()


class _Draw:
    """Fills the fields of a template from one number."""

    def __init__(self, kind: str, number: int) -> None:
        digest = blake2b(f"{kind} {number}".encode(), digest_size=32).digest()
        self._rest = int.from_bytes(digest)
        self._used: set[str] = set()

    def below(self, limit: int) -> int:
        self._rest, drawn = divmod(self._rest, limit)
        return drawn

    def __getitem__(self, field: str) -> str:
        if field in _NUMBERS:
            low, high = _NUMBERS[field]
            return str(low + self.below(high - low + 1))
        # Nobody agrees with themselves: a field named twice gives two values.
        unused = [word for word in _WORDS[field] if word not in self._used]
        self._used.add(word := unused[self.below(len(unused))])
        return word


def _distinct(kind: str, templates: Sequence[str], count: int) -> Iterator[str]:
    seen: set[str] = set()
    number = 0
    while len(seen) < count:
        draw = _Draw(kind, number)
        text = templates[draw.below(len(templates))].format_map(draw)
        number += 1
        if text not in seen:
            seen.add(text)
            yield text


def sentences(count: int, series: str = "stored") -> Iterator[str]:
    """Yield `count` distinct facts; another series gives others, but for rare chance."""
    return _distinct(f"fact {series}", _FACTS, count)


def questions(count: int, series: str) -> Iterator[str]:
    """Yield `count` distinct queries: no cache of queries can help with them."""
    return _distinct(f"question {series}", _QUESTIONS, count)
