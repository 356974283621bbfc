"""What was configured, as the parts of the data plane take it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graymatter_mcp.engine.plane.accounts import AccountSettings
from graymatter_mcp.engine.plane.writes import PlaneSettings
from graymatter_mcp.model.accounts import Quota

if TYPE_CHECKING:
    from graymatter_mcp.model.plane_config import PlaneConfig


def plane_settings(config: PlaneConfig) -> PlaneSettings:
    """Return what holds for facts."""
    return PlaneSettings(
        max_captured=config.max_captured,
        personal_terms=config.personal_terms,
        base_days=config.decay_base_days,
        upkeep_every=config.decay_every,
        fan_out=config.fan_out,
    )


def account_settings(config: PlaneConfig) -> AccountSettings:
    """Return what holds for accounts."""
    return AccountSettings(
        quota=Quota(max_entries=config.max_entries, writes_per_minute=config.writes_per_minute),
        changes_kept=config.changes_kept,
        audit_kept=config.audit_kept,
    )
