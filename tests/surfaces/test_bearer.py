"""The bearer check: who comes in with which token, and what the others are told."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graymatter_mcp.surfaces.auth import Scope, bearer_of
from graymatter_mcp.surfaces.credentials import BearerAuthenticator, OpenDoor
from graymatter_mcp.surfaces.live_tokens import LiveTokens
from graymatter_mcp.surfaces.tokens import TokenFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from httpx2 import AsyncClient, Response

    from graymatter_mcp.surfaces.auth import Authenticator

    Clients = Callable[[Authenticator], AsyncClient]

pytestmark = pytest.mark.anyio
SERVER = "server-token-of-this-test"


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveTokens]:
    """The tokens of an empty directory."""
    tokens = LiveTokens(tmp_path)
    yield tokens
    tokens.close()


async def who(client: AsyncClient, token: str) -> Any:
    """Ask who a token is; None where it is nobody."""
    answer = await client.get("/who", headers={"Authorization": f"Bearer {token}"})
    if answer.status_code == 200:
        return answer.json()
    assert_unauthorized(answer)
    return None


def assert_unauthorized(answer: Response) -> None:
    """Contract 10.3: the whole answer, the same for every reason."""
    assert answer.status_code == 401
    assert answer.json() == {"error": "unauthorized"}
    kept = ("www-authenticate", "cache-control", "x-content-type-options")
    assert {name: answer.headers[name] for name in kept} == {
        "www-authenticate": 'Bearer realm="graymatter"',
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
    }


async def test_each_kind_of_token_is_its_own_caller(
    client_of: Clients, live: LiveTokens, tmp_path: Path
) -> None:
    """Contract 10.3: tokens of `graymatter token` beside the server token."""
    made = TokenFile(tmp_path).create(name="ci", scope=Scope.READ_ONLY, project="web")
    async with client_of(BearerAuthenticator(SERVER, live)) as client:
        assert await who(client, SERVER) == {
            "label": "server",
            "scope": "full",
            "project": None,
            "subject": "server-token",
        }
        assert await who(client, made.secret) == {
            "label": "ci",
            "scope": "read_only",
            "project": "web",
            "subject": f"token:{made.stored.id}",
        }


async def test_a_token_counts_from_its_making_and_not_after_its_end(
    client_of: Clients, live: LiveTokens, tmp_path: Path
) -> None:
    """Contract 10.3, data plane 2.1: revocation and rotation on the next request, no restart."""
    tokens = TokenFile(tmp_path)
    async with client_of(BearerAuthenticator(SERVER, live)) as client:
        assert await who(client, "gm_" + "A" * 43) is None
        first, second = tokens.create(), tokens.create()
        assert await who(client, first.secret)
        tokens.revoke(first.stored.id)
        assert await who(client, first.secret) is None
        assert await who(client, second.secret)
        third = tokens.rotate(second.stored.id)
        assert await who(client, second.secret) is None
        assert await who(client, third.secret)
        (tmp_path / "graymatter.tokens.json").unlink()
        assert await who(client, third.secret) is None
        assert await who(client, SERVER)


async def test_every_one_of_many_quick_changes_is_seen(
    client_of: Clients, live: LiveTokens, tmp_path: Path
) -> None:
    """ADR 0020: faster than any clock ticks, with inodes used again."""
    tokens = TokenFile(tmp_path)
    async with client_of(BearerAuthenticator(SERVER, live)) as client:
        for _ in range(8):
            made = tokens.create()
            assert await who(client, made.secret)
            tokens.revoke(made.stored.id)
            assert await who(client, made.secret) is None


async def test_an_expired_token_is_refused(
    client_of: Clients, live: LiveTokens, tmp_path: Path
) -> None:
    """Data plane 2.1: 401 from that instant."""
    soon = datetime.now(UTC) + timedelta(milliseconds=30)
    made = TokenFile(tmp_path).create(expires_at=soon)
    async with client_of(BearerAuthenticator(SERVER, live)) as client:
        while datetime.now(UTC) < soon:
            await client.get("/live")
        assert await who(client, made.secret) is None


@pytest.mark.parametrize(
    "values",
    [
        [],
        [""],
        ["Bearer"],
        ["Bearer "],
        [SERVER],
        ["Basic " + SERVER],
        ["Bearer " + SERVER + "x"],
        ["Bearer " + SERVER[:-1]],
        ["Bearer " + SERVER.upper()],
        ["Bearer Bearer " + SERVER],
        ["Bearer " + SERVER + ", Bearer " + SERVER],
        ["Bearer\t" + SERVER],
        ["Bearer gm_"],
        ["Bearer " + "A" * 20_000],
        ["Bearer a.b.c"],
        ["Bearer é"],
        ["Bearer " + SERVER, "Bearer " + SERVER],
    ],
    ids=lambda values: str(values)[:40],
)
async def test_everybody_else_gets_the_same_answer(
    client_of: Clients, live: LiveTokens, values: list[str]
) -> None:
    """Contract 10.3, C73: one text for all reasons; two headers name nobody."""
    headers = [(b"Authorization", value.encode("latin-1")) for value in values]
    async with client_of(BearerAuthenticator(SERVER, live)) as client:
        assert_unauthorized(await client.get("/who", headers=headers))
        assert (await client.get("/live", headers=headers)).json() == {"status": "ok"}


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER ", "Bearer   "])
async def test_the_scheme_is_read_in_any_case(
    client_of: Clients, live: LiveTokens, scheme: str
) -> None:
    """Contract 10.3."""
    async with client_of(BearerAuthenticator(SERVER, live)) as client:
        answer = await client.get("/who", headers={"Authorization": scheme + SERVER})
        assert answer.status_code == 200


async def test_an_empty_server_token_refuses_everything(
    client_of: Clients, live: LiveTokens, tmp_path: Path
) -> None:
    """Contract 10.3, ADR 0020: tokens that were handed out too."""
    made = TokenFile(tmp_path).create()
    async with client_of(BearerAuthenticator("", live)) as client:
        assert await who(client, made.secret) is None
        assert_unauthorized(await client.get("/who", headers={"Authorization": "Bearer "}))


async def test_a_damaged_file_lets_nobody_of_it_in(
    client_of: Clients, live: LiveTokens, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """ADR 0020: who cannot be told from a stranger is one; said once, and healed by itself."""
    made = TokenFile(tmp_path).create()
    file = tmp_path / "graymatter.tokens.json"
    good = file.read_bytes()
    async with client_of(BearerAuthenticator(SERVER, live)) as client:
        assert await who(client, made.secret)
        for content in (b"{", b"", b"[" * 100_000):
            file.write_bytes(content)
            assert await who(client, made.secret) is None
            assert await who(client, SERVER)
        assert len(caplog.records) == 1
        file.write_bytes(good)
        assert await who(client, made.secret)


async def test_an_open_door_asks_nobody(client_of: Clients) -> None:
    """Contract 10.3: `--no-auth`."""
    async with client_of(OpenDoor()) as client:
        assert (await client.get("/who")).json() == {
            "label": "",
            "scope": "full",
            "project": None,
            "subject": "anyone",
        }


@given(st.text())
def test_no_header_breaks_the_reader_or_gives_an_empty_token(header: str) -> None:
    """House 4: what must hold always."""
    token = bearer_of(header)
    assert token is None or (token.isascii() and token.strip() == token != "")


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1))
def test_every_visible_token_is_read_as_it_was_sent(token: str) -> None:
    """Contract 10.3."""
    assert bearer_of(f"Bearer {token}") == token


MINTER = """
import sys
from pathlib import Path
from graymatter_mcp.surfaces.server_token import server_token

found = server_token(Path(sys.argv[1]), None, None)
print(found.secret, found.minted_at is not None)
"""


def test_two_first_starts_at_once_agree_on_one_token(tmp_path: Path) -> None:
    """Contract 10.3: minted once, by rename."""
    minters = [
        subprocess.Popen(
            [sys.executable, "-c", MINTER, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    said = [minter.communicate(timeout=60)[0].split() for minter in minters]
    assert len({secret for secret, _ in said}) == 1
    assert sorted(minted for _, minted in said) == ["False", "False", "False", "True"]
    assert (tmp_path / "graymatter.http-token").read_text().strip() == said[0][0]
    assert (tmp_path / "graymatter.http-token").stat().st_mode & 0o777 == 0o600
