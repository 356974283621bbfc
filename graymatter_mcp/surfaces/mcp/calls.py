"""One call on its way through: what was asked, checked, and what came of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, cast

from graymatter_mcp.model.facts import Origin
from graymatter_mcp.model.ids import FactId, Namespace
from graymatter_mcp.model.requests import CallKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graymatter_mcp.model.results import Degraded
    from graymatter_mcp.surfaces.mcp.answers import Caller
    from graymatter_mcp.surfaces.mcp.arguments import Arguments
    from graymatter_mcp.surfaces.payloads import Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A payload, and what is said about it outside its shape."""

    payload: Payload
    fact_ids: Mapping[str, FactId] | tuple[FactId, ...] = ()
    """Identities of the facts in the payload: by place, or for a batch by text."""
    degraded: Degraded | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Checked arguments of one call and who sent it."""

    tool: str
    arguments: Arguments
    caller: Caller

    @property
    def namespace(self) -> Namespace:
        """The namespace the call speaks of."""
        return Namespace(self.text("agent_id"))

    @property
    def origin(self) -> Origin:
        """The claims that are kept with what the call writes."""
        return Origin(source=self.tool, client=self.caller.client, session=self.caller.session)

    @property
    def key(self) -> CallKey | None:
        """The key under which the call takes effect once, if it has one."""
        if not self.caller.key:
            return None
        asked = json.dumps([self.tool, self.arguments], sort_keys=True)
        return CallKey(key=self.caller.key, digest=sha256(asked.encode()).hexdigest())

    @property
    def subject(self) -> str:
        """The text that forget, pin and unpin act on; target wins."""
        return self.text("target") or self.text("text")

    def text(self, name: str) -> str:
        """Return a string argument, empty when absent."""
        return cast("str", self.arguments.get(name, ""))
