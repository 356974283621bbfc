"""The accounts of one store, with short ways to fill them and to act for somebody."""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING, Any

from graymatter_mcp.engine.clock import Clock
from graymatter_mcp.engine.plane.accounts import Accounts, AccountSettings
from graymatter_mcp.model.access import LOCAL_CALLER, Caller
from graymatter_mcp.model.accounts import Role
from graymatter_mcp.model.checkpoints import Checkpoint
from graymatter_mcp.model.facts import Fact
from graymatter_mcp.model.scopes import owned, shelf, user_scope
from graymatter_mcp.store.base import NewFact, Node, WriteBatch
from tests.engine.desk import HandClock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.model.accounts import Project, Quota, Token
    from graymatter_mcp.model.ids import FactId, Namespace
    from graymatter_mcp.model.scopes import Scope
    from graymatter_mcp.store.base import MemoryStore


class Office:
    """Accounts on a real store, and a clock that is set by hand."""

    def __init__(self, store: MemoryStore, quota: Quota | None = None) -> None:
        self.store = store
        self.now = HandClock()
        self.clock = Clock(self.now)
        self.turn = threading.RLock()
        self.settings = AccountSettings() if quota is None else AccountSettings(quota=quota)
        self.accounts = self.reopened()

    def reopened(self) -> Accounts:
        """Read the accounts anew."""
        return Accounts(self.store, self.clock, self.entries_of, self.settings, turn=self.turn)

    def entries_of(self, scopes: Sequence[Scope]) -> int:
        """Count the facts of some owners."""
        return len([one for scope in scopes for one in self.texts(scope)])

    def user(
        self, name: str, role: Role = Role.USER, tenant: str = "local", **given: Any
    ) -> Caller:
        """Make a user, and return them as they call without a token."""
        self.now.forward(seconds=1)
        user = self.accounts.users.create(LOCAL_CALLER, name, role, tenant)
        return Caller(tenant=user.tenant, user_id=user.id, **given)

    def project(self, owner: Caller, name: str, *members: Caller) -> Project:
        """Make a project, and share it."""
        project = self.accounts.projects.create(owner, name)
        for member in members:
            self.accounts.projects.add_member(owner, project.id, self.name_of(member))
        return next(one for one in self.accounts.projects.list(owner) if one.id == project.id)

    def name_of(self, caller: Caller) -> str:
        """Return the name of who calls."""
        return self.accounts.reach.user(caller).username

    def bearer(self, secret: str) -> Caller | None:
        """Return who comes with a token; None where it is nobody."""
        token = self.accounts.tokens.of_digest(hashlib.sha256(secret.encode()).digest())
        return None if token is None else caller_of(token)

    def write(self, scope: Scope, text: str, name: str = "default") -> FactId:
        """Store a fact."""
        at, fact_id = self.clock.stamp()
        fact = Fact(
            id=fact_id, agent_id=shelf(scope, name), text=text, created_at=at, accessed_at=at
        )
        self.store.apply(WriteBatch(at=at, facts=(NewFact(fact=fact, terms=(text,)),)))
        return fact_id

    def leave_more(self, scope: Scope, name: str = "default") -> Namespace:
        """Put onto a shelf what is no fact; return the whole name of the shelf."""
        at, new_id = self.clock.stamp()
        namespace = shelf(scope, name)
        saved = Checkpoint(id=new_id, agent_id=namespace, created_at=at, state={"n": 1})
        entity = Node(namespace=namespace, id="amsterdam", label="Amsterdam", type="entity")
        self.store.apply(WriteBatch(at=at, checkpoints=(saved,), nodes=(entity,)))
        return namespace

    def texts(self, scope: Scope) -> list[str]:
        """Return what an owner has stored, sorted."""
        names = [one for one in self.store.namespaces() if owned(one)[0] == scope]
        return sorted(fact.text for one in names for fact in self.store.list(one))

    def actions(self, tenant: str = "local") -> list[tuple[str, str | None, str]]:
        """Return the audit of a tenant: action, target, outcome."""
        self.accounts.refusals.save()
        page = self.accounts.audit.page(tenant, 0, 1000)
        return [(one.action, one.target, one.outcome) for one in page.events]


def caller_of(token: Token) -> Caller:
    """Return who comes with a token."""
    return Caller(
        tenant=token.tenant, user_id=token.user_id, rights=token.rights, token_id=token.id
    )


def scope_of(caller: Caller) -> Scope:
    """Return the owner of what is global to a user."""
    return user_scope(caller.tenant, caller.user_id)
