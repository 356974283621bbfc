"""An authorization server that runs, for tests of whoever trusts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from httpx2 import Client

ROOT: Final = Path(__file__).parents[1]


class IssuerProcess:
    """The issuer, and what only a test asks of it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            # As a module: the script's folder has a package named as one of Python's.
            [sys.executable, "-m", "tests.surfaces.issuer"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            env={**os.environ, "AUTHLIB_INSECURE_TRANSPORT": "1"},
        )
        assert self._process.stdout is not None
        self.url: str = json.loads(self._process.stdout.readline())["issuer"]
        # No proxy of the machine's stands between this test and its own process.
        self._client = Client(base_url=self.url, timeout=60, trust_env=False)

    def sign(self, **asked: Any) -> str:
        """Return a token as the test wants it."""
        return self._client.post("/test/sign", json=asked).json()["token"]

    def issue(self, scope: str) -> str:
        """Return a token as a client gets it."""
        form = {
            "grant_type": "client_credentials",
            "client_id": "team-agent",
            "client_secret": "team-agent",
            "scope": scope,
        }
        return self._client.post("/token", data=form).json()["access_token"]

    def rotate(self, kid: str, **options: Any) -> None:
        """Sign with another key from now on."""
        self._client.post("/test/rotate", json={"kid": kid, **options})

    def reset(self) -> None:
        """Let it be as at its start."""
        self._client.post("/test/reset")

    def relabel(self, label: dict[str, Any]) -> None:
        """Publish the present key with another label."""
        self._client.post("/test/relabel", json=label)

    def turn(self, mode: str | None = None) -> int:
        """Change how keys are published; return how often they were asked for."""
        body = {} if mode is None else {"mode": mode}
        return self._client.post("/test/mode", json=body).json()["fetched"]

    def close(self) -> None:
        """End it."""
        self._client.close()
        self._process.kill()
        self._process.communicate()
