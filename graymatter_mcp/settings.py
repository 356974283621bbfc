"""Settings from the environment, read once; a bad value names its variable."""

from __future__ import annotations

import logging
import os
import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from graymatter_mcp.bridge import directory
from graymatter_mcp.bridge.lines import MAX_LINE_BYTES, MIN_LINE_BYTES
from graymatter_mcp.errors import InvalidArgumentError, RoutingConflictError
from graymatter_mcp.model.config import BUNDLED_MODEL, Config
from graymatter_mcp.model.plane_config import MAX_FAN_OUT, PlaneConfig

if TYPE_CHECKING:
    from collections.abc import Mapping

logger = logging.getLogger(__name__)

PREFIX: Final = "GRAYMATTER_"
DATABASE_FILE: Final = directory.DATABASE_FILE

MIB: Final = 1024 * 1024

_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"0", "false", "no", "off"})
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def _parse_switch(value: Any) -> bool:
    word = str(value).strip().lower()
    if word not in _TRUE | _FALSE:
        raise ValueError("must be 1, true, yes, on, 0, false, no or off")
    return word in _TRUE


def parse_duration(value: Any) -> timedelta:
    """Read a number of seconds, or a number with ``s``, ``m``, ``h`` or ``d``.

    Raises:
        ValueError: It is neither.
    """
    if isinstance(value, timedelta):
        return value
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhd]?)\s*", str(value).lower())
    if match is None:
        raise ValueError("must be a number of seconds, or a number with s, m, h or d")
    try:
        return timedelta(seconds=float(match[1]) * _UNITS[match[2]])
    except OverflowError:
        raise ValueError("must be shorter") from None


Switch = Annotated[bool, BeforeValidator(_parse_switch)]
Duration = Annotated[timedelta, BeforeValidator(parse_duration)]
Kept = Annotated[timedelta, BeforeValidator(parse_duration), Field(gt=timedelta(0))]
"""How long something is kept."""


class Settings(BaseSettings):
    """Every variable of this version; names carry the prefix ``GRAYMATTER_``."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", env_ignore_empty=False)

    dir: str = ""
    """Data directory; empty means by `locate`."""
    top_k: int = Field(default=8, ge=1)
    min_relevance: float = Field(default=0.0, ge=0, le=1, allow_inf_nan=False)
    confidence_weight: float = Field(default=0.0, ge=0, le=0.5, allow_inf_nan=False)
    model: str = BUNDLED_MODEL
    stem_keywords: Switch = True
    stem_language: str = "english"
    kg: Switch = False
    usage_alias: Switch = False
    usage_alias_affinity: int = Field(default=3, ge=-1)
    answer_budget: int = Field(default=40_000, ge=0)
    no_daemon: Switch = False
    idle_exit: Duration = timedelta(minutes=15)
    loopback_tcp: Switch = False
    max_line_bytes: int = Field(default=MAX_LINE_BYTES, ge=MIN_LINE_BYTES)
    force_network_fs: Switch = False
    http_token: SecretStr | None = None
    """Server token; set and empty is another thing than not set."""
    rate_limit: int = Field(default=600, ge=0)
    http_hosts: str = ""
    """Names that the HTTP server answers to, beside the loopback ones; separated by commas."""
    http_origins: str = ""
    http_trusted_proxies: str = ""
    http_max_body: int = Field(default=4 * MIB, ge=1024, le=256 * MIB)
    http_max_head: int = Field(default=32 * 1024, ge=1024, le=MIB)
    http_max_connections: int = Field(default=1024, ge=16, le=65_536)
    http_max_calls: int = Field(default=256, ge=1, le=65_536)
    http_client_timeout: Duration = timedelta(seconds=10)
    http_call_timeout: Duration = timedelta(seconds=30)
    public_url: str = ""
    oauth_issuer: str = ""
    oauth_audience: str = ""
    oauth_jwks_url: str = ""
    oauth_scopes: str = ""
    oauth_write_scope: str = "memory:write"

    max_entries: int = Field(default=0, ge=0)
    writes_per_minute: int = Field(default=0, ge=0)
    changes_kept: Kept = timedelta(days=30)
    audit_kept: Kept = timedelta(days=180)
    max_captured: int = Field(default=4000, ge=0)
    personal_terms: str = ""
    """Words that make a fact relevant to its user; separated by commas."""
    decay_interval: Duration = timedelta(hours=6)
    decay_base_days: int = Field(default=7, ge=1, le=36_500)
    fan_out: int = Field(default=3, ge=0, le=MAX_FAN_OUT)

    def config(self, data_dir: Path) -> Config:
        """Return the configuration of the memory in `data_dir`."""
        return Config(
            data_dir=data_dir,
            top_k=self.top_k,
            min_relevance=self.min_relevance,
            confidence_weight=self.confidence_weight,
            model=self.model,
            stem_keywords=self.stem_keywords,
            stem_language=self.stem_language,
            knowledge_graph=self.kg,
            usage_alias=self.usage_alias,
            usage_alias_affinity=self.usage_alias_affinity,
            force_network_fs=self.force_network_fs,
            plane=self._plane(),
        )

    def _plane(self) -> PlaneConfig:
        terms = (term.strip() for term in self.personal_terms.split(","))
        return PlaneConfig(
            max_entries=self.max_entries or None,
            writes_per_minute=self.writes_per_minute or None,
            changes_kept=self.changes_kept,
            audit_kept=self.audit_kept,
            max_captured=self.max_captured,
            personal_terms=tuple(term for term in terms if term),
            decay_every=self.decay_interval,
            decay_base_days=self.decay_base_days,
            fan_out=self.fan_out,
        )


def read_settings() -> Settings:
    """Read the environment.

    Raises:
        InvalidArgumentError: A variable has a bad value; the message names it.
    """
    for name in unknown_variables(os.environ):
        logger.warning("unknown variable %s: is it misspelt?", name)
    try:
        return Settings()
    except ValidationError as exc:
        problem = exc.errors(include_url=False, include_input=False)[0]
        name = PREFIX + str(problem["loc"][0]).upper()
        message = str(problem["msg"]).removeprefix("Value error, ")
        raise InvalidArgumentError(f"{name}: {message}") from None


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """Return the variables with our prefix that no setting reads, ascending."""
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    return sorted(name for name in environment if name.startswith(PREFIX) and name not in known)


def locate(flag: str | None, settings: Settings, *, is_service: bool = False) -> Path:
    """Return the absolute data directory, which need not exist.

    Args:
        flag: ``--dir``; relative to the working directory.
        settings: Holds ``GRAYMATTER_DIR``.
        is_service: Services ignore ``CLAUDE_PROJECT_DIR``.

    Raises:
        RoutingConflictError: ``CLAUDE_PROJECT_DIR`` is unusable, or the working directory has
            another store.
    """
    environment = {**os.environ, "GRAYMATTER_DIR": settings.dir}
    try:
        path, _ = directory.locate(flag, environment, is_service=is_service)
    except directory.DirectoryError as exc:
        raise RoutingConflictError(str(exc)) from exc
    return Path(path)


def holds_store(path: Path) -> bool:
    """Whether the directory is marked as ours."""
    return directory.holds_store(str(path))
