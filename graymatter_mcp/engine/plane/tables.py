"""Records held in memory by key and by what else they are looked up with; copied to change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

Row = TypeVar("Row")


class Table(Generic[Row]):
    """Records of one kind. Readers need no lock, since a table never changes once it is made."""

    __slots__ = ("_index", "_keys", "_rows")

    def __init__(self, keys: Callable[[Row], Iterable[Hashable]]) -> None:
        """Make an empty one.

        Args:
            keys: Of a record, what it is looked up with beside its own key.
        """
        self._keys = keys
        self._rows: dict[str, Row] = {}
        self._index: dict[Hashable, frozenset[str]] = {}

    def __iter__(self) -> Iterator[Row]:
        """Yield every record, in no order."""
        return iter(self._rows.values())

    def items(self) -> Iterator[tuple[str, Row]]:
        """Yield every record with its key, in no order."""
        return iter(self._rows.items())

    def get(self, key: str) -> Row | None:
        """Return the record of a key."""
        return self._rows.get(key)

    def found(self, key: Hashable) -> list[Row]:
        """Return the records that are looked up with a key, by order of their own keys."""
        return [self._rows[one] for one in sorted(self._index.get(key, ()))]

    def changed(self, changes: Iterable[tuple[str, Row | None]]) -> Table[Row]:
        """Return a table in which records were put, or taken away with None."""
        table = Table(self._keys)
        table._rows = self._rows.copy()
        table._index = self._index.copy()
        for key, row in changes:
            table._drop(key)
            if row is not None:
                table._put(key, row)
        return table

    def _put(self, key: str, row: Row) -> None:
        self._rows[key] = row
        for one in self._keys(row):
            self._index[one] = self._index.get(one, frozenset()) | {key}

    def _drop(self, key: str) -> None:
        row = self._rows.pop(key, None)
        if row is None:
            return
        for one in self._keys(row):
            left = self._index[one] - {key}
            if left:
                self._index[one] = left
            else:
                del self._index[one]
