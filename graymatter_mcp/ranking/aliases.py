"""Aliases: their text, and the words they add to a query."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from graymatter_mcp.errors import InvalidArgumentError
from graymatter_mcp.model.facts import Alias
from graymatter_mcp.ranking.tokens import tokenize

if TYPE_CHECKING:
    from collections.abc import Sequence

_PREFIX: Final = "alias:"


def alias_text(term: str, equivalents: Sequence[str]) -> str:
    """Return ``alias: <term> = <eq>, <eq>``, ends trimmed and blank equivalents dropped.

    Raises:
        InvalidArgumentError: The term or every equivalent is blank.

    Source: contract 8.4.
    """
    kept = [equivalent.strip() for equivalent in equivalents if equivalent.strip()]
    if not term.strip():
        raise InvalidArgumentError("alias term is required")
    if not kept:
        raise InvalidArgumentError("alias needs at least one equivalent")
    return f"{_PREFIX} {term.strip()} = {', '.join(kept)}"


def parse_alias(text: str) -> Alias | None:
    """Read a pair back from a revised text; None for a text of another form.

    What follows ``alias:`` is split at its first ``=``, then at commas.
    """
    if not text.startswith(_PREFIX):
        return None
    term, _, rest = text.removeprefix(_PREFIX).partition("=")
    equivalents = tuple(part.strip() for part in rest.split(",") if part.strip())
    if not term.strip() or not equivalents:
        return None
    return Alias(term=term.strip(), equivalents=equivalents)


def expand(query_tokens: Sequence[str], aliases: Sequence[Alias]) -> tuple[str, ...]:
    """Return the tokens that aliases add to a query, in the order in which they are met.

    Each token of a term leads to each token of its equivalents; an equivalent leads back when it
    and the term are one token each. One hop: what was added leads nowhere.

    Args:
        query_tokens: Unstemmed, in query order.
        aliases: Oldest first.

    Returns:
        Unstemmed; each once, and none that the query has already.

    Source: contract 8.4.
    """
    wanted = set(query_tokens)
    leads: dict[str, list[str]] = {}
    for alias in aliases:
        for source, target in _links(alias):
            if source in wanted:
                leads.setdefault(source, []).append(target)
    added = dict.fromkeys(target for token in query_tokens for target in leads.get(token, ()))
    return tuple(token for token in added if token not in wanted)


def effective_query(query: str, added: Sequence[str]) -> str:
    """Return the query followed by the added tokens, or the query itself when there are none."""
    return " ".join((query, *added))


# Every recall asks for the links of every alias of its namespace; a store has few of them.
@lru_cache(maxsize=4096)
def _links(alias: Alias) -> tuple[tuple[str, str], ...]:
    term = tokenize(alias.term)
    sides = [tokenize(equivalent) for equivalent in alias.equivalents]
    there = [(source, target) for source in term for side in sides for target in side]
    back = [(side[0], term[0]) for side in sides if len(term) == 1 and len(side) == 1]
    return (*there, *back)
