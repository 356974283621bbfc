"""What the data plane needs of whoever makes vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from graymatter_mcp.model.results import Degraded
    from graymatter_mcp.store.base import PendingVector


class VectorMaker(Protocol):
    """Embeds queries and facts; `engine.models.ModelKeeper` is one."""

    @property
    def degraded(self) -> Degraded | None:
        """Why answers come without vectors; None when they have them, or by choice never do."""
        ...

    @property
    def is_wanted(self) -> bool:
        """Whether answers should have vectors."""
        ...

    @property
    def model_key(self) -> str:
        """The key of the model in use; empty without one."""
        ...

    def embed_query(self, text: str) -> NDArray[np.int16] | None:
        """Embed a query; None when answers come without vectors."""
        ...

    def windows_of(self, text: str) -> NDArray[np.int16] | None:
        """Embed the text of a fact; None when that cannot be done now."""
        ...

    def enqueue(self, pending: PendingVector) -> None:
        """Ask for a vector soon; never waits."""
        ...
