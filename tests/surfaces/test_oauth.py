"""Tokens of an authorization server that truly runs: which are let in, and what for."""

from __future__ import annotations

import base64
import json
import logging
import os
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from httpx2 import AsyncClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract_tests.issuer import IssuerProcess
from graymatter_mcp.settings import Settings
from graymatter_mcp.surfaces import oauth_keys
from graymatter_mcp.surfaces.access import open_access
from graymatter_mcp.surfaces.auth import AuthenticationError
from graymatter_mcp.surfaces.http.metadata import metadata_routes
from graymatter_mcp.surfaces.oauth import IssuedTokens
from graymatter_mcp.surfaces.oauth_config import OAuthConfig, oauth_config
from graymatter_mcp.surfaces.oauth_keys import IssuerKeys
from graymatter_mcp.surfaces.tokens import TokenFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from httpx2 import Response

    Clients = Callable[..., AsyncClient]

pytestmark = pytest.mark.anyio
PUBLIC = "http://127.0.0.1:8137"
METADATA = f"{PUBLIC}/.well-known/oauth-protected-resource/mcp"
SERVER = "server-token-of-this-test"


class Watch:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


@pytest.fixture(scope="module")
def shared() -> Iterator[IssuerProcess]:
    """One issuer for all tests that leave it as it is."""
    process = IssuerProcess()
    yield process
    process.close()


@pytest.fixture
def own(shared: IssuerProcess) -> Iterator[IssuerProcess]:
    """The issuer, for a test that may change it."""
    shared.reset()
    yield shared
    shared.reset()


@pytest.fixture(autouse=True)
def direct(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reach the issuer directly and however slow the machine is, in an environment of our own."""
    monkeypatch.setattr(oauth_keys, "DEADLINE_S", 60.0)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in os.environ:
        if name.startswith("GRAYMATTER_"):
            monkeypatch.delenv(name)


def settings_of(issuer: IssuerProcess, **more: Any) -> Settings:
    """Return settings that name the issuer."""
    named: dict[str, Any] = {
        "oauth_issuer": issuer.url,
        "oauth_jwks_url": f"{issuer.url}/jwks",
        "public_url": PUBLIC,
        "oauth_scopes": "memory:read",
    }
    return Settings(**{**named, **more})


def config_of(issuer: IssuerProcess, **more: Any) -> OAuthConfig:
    """Return the configuration that names the issuer."""
    config = oauth_config(settings_of(issuer, **more))
    assert config is not None
    return config


class Asked:
    """A client of an app behind the check, with an issuer."""

    def __init__(self, clients: Clients, issuer: IssuerProcess, **more: Any) -> None:
        self.watch = Watch()
        config = config_of(issuer, **more)
        self.tokens = IssuedTokens(config, IssuerKeys(config.jwks_url, self.watch))
        self.client = clients(_Signed(self.tokens))

    async def get(self, token: str) -> Response:
        """Ask with a token."""
        return await self.client.get("/who", headers={"Authorization": f"Bearer {token}"})

    async def status(self, token: str) -> int:
        """Return how the server answers a token."""
        return (await self.get(token)).status_code


class _Signed:
    """Signed tokens alone."""

    def __init__(self, tokens: IssuedTokens) -> None:
        self._tokens = tokens

    async def authenticate(self, authorization: str | None) -> Any:
        """See `Authenticator`."""
        return await self._tokens.principal((authorization or "").removeprefix("Bearer "))


@pytest.fixture
def asked(client_of: Clients, shared: IssuerProcess) -> Asked:
    """A client of the shared issuer's tokens."""
    return Asked(client_of, shared)


async def test_a_token_as_clients_get_it_is_let_in(asked: Asked, shared: IssuerProcess) -> None:
    """Issue 4; ADR 0022: the write scope makes it full."""
    reader = await asked.get(shared.issue("memory:read"))
    assert reader.json() == {
        "label": "team-agent",
        "scope": "read_only",
        "project": None,
        "subject": "jwt:team-agent",
    }
    writer = await asked.get(shared.issue("memory:read memory:write"))
    assert writer.json()["scope"] == "full"


CHALLENGE = (
    'Bearer realm="graymatter"{error}, scope="memory:read memory:write",'
    f' resource_metadata="{METADATA}"'
)


async def test_too_little_scope_is_forbidden_and_says_what_is_needed(
    asked: Asked, shared: IssuerProcess
) -> None:
    """Issue 4: 403 insufficient_scope with the scope hint."""
    answer = await asked.get(shared.issue("memory:write"))
    assert answer.status_code == 403
    assert answer.json() == {"error": "insufficient scope"}
    expected = CHALLENGE.format(error=', error="insufficient_scope"')
    assert answer.headers["www-authenticate"] == expected
    assert answer.headers["cache-control"] == "no-store"


HOUR = 3600
REFUSED: dict[str, Callable[[int], dict[str, Any]]] = {
    "another audience": lambda _: {"claims": {"aud": "https://other.example.org/mcp"}},
    "other audiences": lambda _: {"claims": {"aud": ["a", f"{PUBLIC}/mcp/"]}},
    "no audience": lambda _: {"claims": {"aud": None}},
    "empty audience": lambda _: {"claims": {"aud": []}},
    "expired": lambda now: {"claims": {"exp": now - HOUR}},
    "just expired": lambda now: {"claims": {"exp": now - 1}},
    "without an end": lambda _: {"claims": {"exp": None}},
    "ends never": lambda _: {"claims": {"exp": "never"}},
    "not yet": lambda now: {"claims": {"nbf": now + HOUR}},
    "issued later": lambda now: {"claims": {"iat": now + HOUR}},
    "foreign issuer": lambda _: {"claims": {"iss": "https://foreign.example.org"}},
    "no issuer": lambda _: {"claims": {"iss": None}},
    "nobody": lambda _: {"claims": {"sub": None}},
    "odd subject": lambda _: {"claims": {"sub": 7}},
    "odd scope": lambda _: {"claims": {"scope": {"memory:read": True}}},
    "foreign key": lambda _: {"key": "foreign"},
    "alg none": lambda _: {"key": "none", "header": {"alg": "none"}},
    "alg none without kid": lambda _: {"key": "none", "header": {"alg": "none", "kid": None}},
    "public key as secret": lambda _: {"key": "public", "header": {"alg": "HS256"}},
    "unknown key": lambda _: {"key": "foreign", "header": {"kid": "unknown"}},
    "ID token": lambda _: {"header": {"typ": "logout+jwt"}},
}


@pytest.mark.parametrize("why", REFUSED)
async def test_a_token_that_is_not_for_us_or_not_theirs_is_refused(
    asked: Asked, shared: IssuerProcess, why: str
) -> None:
    """Issue 4, F14: iss, aud, exp and nbf always; algorithms pinned; one text for all."""
    answer = await asked.get(shared.sign(**REFUSED[why](int(time.time()))))
    assert (answer.status_code, answer.json()) == (401, {"error": "unauthorized"})
    expected = CHALLENGE.format(error=', error="invalid_token"')
    assert answer.headers["www-authenticate"] == expected


async def test_a_token_changed_on_its_way_is_refused(asked: Asked, shared: IssuerProcess) -> None:
    """Issue 4: the signature is over all of it."""
    header, claims, signature = shared.sign().split(".")
    grown = base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4))
    grown = grown.replace(b'"ana"', b'"bob"')
    other = base64.urlsafe_b64encode(grown).rstrip(b"=").decode()
    assert await asked.status(f"{header}.{claims}.{signature}") == 200
    for changed in (f"{header}.{other}.{signature}", f"{header}.{claims}.", f"{header}.{claims}.A"):
        assert await asked.status(changed) == 401


@pytest.mark.parametrize(
    "asking",
    [
        {"claims": {"aud": ["https://other.example.org", f"{PUBLIC}/mcp"]}},
        {"claims": {"scope": None, "scp": ["memory:read"]}},
        {"header": {"kid": None}},
        {"header": {"typ": None}},
        {"header": {"typ": "application/at+jwt"}},
        {"header": {"alg": "PS256"}},
        {"claims": {"nbf": 1, "iat": None}},
    ],
    ids=str,
)
async def test_spellings_of_large_issuers_are_understood(
    asked: Asked, shared: IssuerProcess, asking: dict[str, Any]
) -> None:
    """Issue 4; ADR 0021, 0022."""
    assert await asked.status(shared.sign(**asking)) == 200


@pytest.mark.parametrize(
    ("subject", "shown"),
    [
        ("ana", "jwt:ana"),
        ("ana\n401 forged line", None),
        ("ü", None),
        ("x" * 65, None),
    ],
)
async def test_a_subject_stays_on_its_line(
    asked: Asked, shared: IssuerProcess, subject: str, shown: str | None
) -> None:
    """ADR 0022: what goes into a log is one short line."""
    got = (await asked.get(shared.sign(claims={"sub": subject}))).json()["subject"]
    if shown is None:
        assert got.startswith("jwt:sha256:")
        assert len(got) == len("jwt:sha256:") + 32
    else:
        assert got == shown


@pytest.mark.parametrize("write_scope", ["", "memory:read"])
async def test_who_may_write_is_a_setting(
    client_of: Clients, shared: IssuerProcess, write_scope: str
) -> None:
    """ADR 0022."""
    asked = Asked(client_of, shared, oauth_write_scope=write_scope)
    assert (await asked.get(shared.issue("memory:read"))).json()["scope"] == "full"


@pytest.mark.parametrize("kind", ["RSA", "EC", "OKP"])
async def test_a_rotated_key_is_found_and_the_old_one_ends(
    client_of: Clients, own: IssuerProcess, kind: str
) -> None:
    """Issue 4: an unknown kid asks again; a key that was taken back is good for a while only."""
    asked = Asked(client_of, own)
    old = own.sign()
    assert await asked.status(old) == 200
    own.rotate("second", kind=kind)
    algorithm = {"RSA": "RS256", "EC": "ES256", "OKP": "EdDSA"}[kind]
    new = own.sign(header={"kid": "second", "alg": algorithm})
    asked.watch.now += oauth_keys.RETRY_S
    assert await asked.status(new) == 200
    assert await asked.status(old) == 401
    assert own.turn() == 2


async def test_keys_are_looked_up_anew_when_they_are_no_longer_fresh(
    client_of: Clients, own: IssuerProcess
) -> None:
    """ADR 0021."""
    asked = Asked(client_of, own)
    old = own.sign()
    assert await asked.status(old) == 200
    own.rotate("second")
    assert await asked.status(old) == 200
    asked.watch.now += oauth_keys.FRESH_S
    assert await asked.status(old) == 401


async def test_tokens_with_unknown_keys_do_not_make_us_ask_and_ask(
    client_of: Clients, own: IssuerProcess
) -> None:
    """Issue 4: refetching is limited, whoever sends what."""
    asked = Asked(client_of, own)
    forged = [own.sign(key="foreign", header={"kid": f"k{n}"}) for n in range(4)]
    async with anyio.create_task_group() as tasks:
        for token in forged * 4:
            tasks.start_soon(asked.status, token)
    assert own.turn() == 1
    assert await asked.status(own.sign()) == 200
    foreign = own.sign(claims={"iss": "https://foreign.example.org"}, header={"kid": "k9"})
    asked.watch.now += oauth_keys.RETRY_S
    unsigned = own.sign(key="none", header={"alg": "none"})
    assert [await asked.status(one) for one in (foreign, unsigned)] == [401, 401]
    assert own.turn() == 1


BROKEN = ["down", "moved", "endless", "{", "[]", '{"keys": 7}', '{"keys": [7]}', "{" * 9000]


@pytest.mark.parametrize("mode", BROKEN, ids=lambda mode: mode[:20])
async def test_while_the_issuer_gives_no_keys_nobody_is_called_a_stranger(
    client_of: Clients, own: IssuerProcess, mode: str
) -> None:
    """ADR 0021: 503 with Retry-After, and good again when the keys are."""
    asked = Asked(client_of, own)
    token = own.sign()
    own.turn(mode)
    answer = await asked.get(token)
    assert answer.status_code == 503
    assert answer.json() == {"error": "tokens cannot be checked now; try again later"}
    assert answer.headers["retry-after"] == "5"
    own.turn("up")
    assert await asked.status(token) == 503
    asked.watch.now += oauth_keys.RETRY_S
    assert await asked.status(token) == 200


async def test_known_keys_outlive_an_outage_but_not_for_ever(
    client_of: Clients, own: IssuerProcess
) -> None:
    """ADR 0021."""
    asked = Asked(client_of, own)
    token = own.sign()
    assert await asked.status(token) == 200
    own.turn("down")
    asked.watch.now += oauth_keys.FRESH_S
    assert await asked.status(token) == 200
    asked.watch.now = oauth_keys.STALE_S
    assert await asked.status(token) == 503


async def test_a_slow_issuer_holds_up_nobody_whose_key_is_known(
    client_of: Clients, own: IssuerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ADR 0021: waited for at most so long, by one caller at a time."""
    monkeypatch.setattr(oauth_keys, "DEADLINE_S", 3600.0)
    asked = Asked(client_of, own)
    token = own.sign()
    assert await asked.status(token) == 200
    fetched = own.turn("slow")
    asked.watch.now += oauth_keys.FRESH_S
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(asked.status, token)
            while own.turn() == fetched:  # noqa: ASYNC110 - it happens in another process
                await anyio.sleep(0.01)
            assert [await asked.status(token) for _ in range(20)] == [200] * 20
            tasks.cancel_scope.cancel()


async def test_an_issuer_that_never_answers_is_given_up(
    client_of: Clients, own: IssuerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ADR 0021: every wait has its end."""
    monkeypatch.setattr(oauth_keys, "DEADLINE_S", 0.2)
    asked = Asked(client_of, own)
    own.turn("slow")
    assert await asked.status(own.sign()) == 503


async def test_an_issuer_that_is_gone_is_an_outage(
    client_of: Clients, shared: IssuerProcess
) -> None:
    """ADR 0021: nothing listens there."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    asked = Asked(client_of, shared, oauth_jwks_url=f"http://127.0.0.1:{port}/jwks")
    assert await asked.status(shared.sign()) == 503


@pytest.mark.parametrize(
    ("options", "algorithm"), [({"kind": "oct"}, "HS256"), ({"bits": 1024}, "RS256")]
)
async def test_a_key_that_proves_nothing_signs_nothing(
    client_of: Clients, own: IssuerProcess, options: dict[str, Any], algorithm: str
) -> None:
    """ADR 0021: a published secret, a short key."""
    own.rotate("odd", **options)
    token = own.sign(header={"kid": "odd", "alg": algorithm})
    assert await Asked(client_of, own).status(token) == 401


@pytest.mark.parametrize(
    ("label", "status"),
    [
        ({}, 200),
        ({"alg": "RS256"}, 200),
        ({"alg": "PS256"}, 401),
        ({"use": "enc"}, 401),
        ({"key_ops": ["encrypt"]}, 401),
        ({"kid": None}, 401),
    ],
    ids=str,
)
async def test_a_key_that_is_published_for_something_else_signs_nothing(
    client_of: Clients, own: IssuerProcess, label: dict[str, Any], status: int
) -> None:
    """ADR 0021: use, operations and algorithm of a key are taken at their word."""
    token = own.sign()
    own.relabel(label)
    assert await Asked(client_of, own).status(token) == status


def served(clients: Clients, directory: Path, settings: Settings) -> AsyncClient:
    """Return a client of a server with these settings."""
    issuer = oauth_config(settings)
    access = open_access(directory, settings, SERVER, issuer)
    assert access.notices == ()
    return clients(access.authenticator, *metadata_routes(issuer))


async def test_static_and_signed_tokens_are_good_side_by_side(
    client_of: Clients, shared: IssuerProcess, tmp_path: Path
) -> None:
    """Issue 4: both on; the metadata is open."""
    client = served(client_of, tmp_path, settings_of(shared))
    made = TokenFile(tmp_path).create(name="ci")
    for token in (SERVER, made.secret, shared.issue("memory:read")):
        answer = await client.get("/who", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 200
    missing = await client.get("/who")
    assert missing.headers["www-authenticate"] == CHALLENGE.format(error="")
    wrong = await client.get("/who", headers={"Authorization": "Bearer gm_wrong"})
    expected = CHALLENGE.format(error=', error="invalid_token"')
    assert (wrong.status_code, wrong.headers["www-authenticate"]) == (401, expected)
    found = await client.get("/.well-known/oauth-protected-resource/mcp")
    assert found.json() == {
        "resource": f"{PUBLIC}/mcp",
        "authorization_servers": [shared.url],
        "bearer_methods_supported": ["header"],
        "resource_name": "graymatter",
        "scopes_supported": ["memory:read", "memory:write"],
    }
    assert (await client.get("/.well-known/oauth-protected-resource")).status_code == 404


async def test_the_metadata_is_right_under_the_prefix_of_a_proxy(
    client_of: Clients, shared: IssuerProcess, tmp_path: Path
) -> None:
    """F14: from the public URL, whatever Host came; with and without the prefix stripped."""
    public = "https://memory.example.org/team/gray/"
    client = served(client_of, tmp_path, settings_of(shared, public_url=public))
    at = "https://memory.example.org/.well-known/oauth-protected-resource/team/gray/mcp"
    challenge = (await client.get("/who")).headers["www-authenticate"]
    assert f'resource_metadata="{at}"' in challenge
    for path in ("/team/gray/mcp", "/mcp"):
        answer = await client.get(f"/.well-known/oauth-protected-resource{path}")
        assert answer.json()["resource"] == "https://memory.example.org/team/gray/mcp"


async def test_without_an_issuer_no_flow_is_started(client_of: Clients, tmp_path: Path) -> None:
    """F14, contract 10.3: no metadata, and a challenge that names none."""
    client = served(client_of, tmp_path, Settings())
    answer = await client.get("/.well-known/oauth-protected-resource/mcp")
    assert answer.status_code == 404
    answer = await client.get("/who")
    assert answer.headers["www-authenticate"] == 'Bearer realm="graymatter"'


HEADERS = st.dictionaries(
    st.sampled_from(["alg", "kid", "typ", "crit", "b64", "jwk", "jku", "x5u"]),
    st.one_of(
        st.none(),
        st.integers(),
        st.sampled_from(["RS256", "none", "HS256", "first", "JWT", "b64"]),
        st.text(max_size=8),
        st.lists(st.text(max_size=3), max_size=2),
    ),
)


@given(header=HEADERS, claims=st.text(max_size=30), tail=st.text("ab-_=", max_size=9))
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_header_that_anybody_invents_is_more_than_refused(
    shared: IssuerProcess, header: dict[str, Any], claims: str, tail: str
) -> None:
    """Issue 4: never a 500, and nothing of a token in the error or in the log."""
    config = config_of(shared)
    tokens = IssuedTokens(config, IssuerKeys(config.jwks_url, Watch()))
    known = json.dumps({"iss": config.issuer, "x": claims}).encode()
    parts = [base64.urlsafe_b64encode(one).decode() for one in (json.dumps(header).encode(), known)]
    token = f"{parts[0]}.{parts[1]}.{tail}"
    for one in (token, token.replace("=", "")):
        with pytest.raises(AuthenticationError) as caught:
            anyio.run(tokens.principal, one)
        assert one not in f"{caught.value!r} {caught.value} {caught.value.challenge}"


@pytest.mark.parametrize("depth", [500, 5000, 10_000])
async def test_a_deep_token_is_refused_like_any_other(asked: Asked, depth: int) -> None:
    """Issue 4: a parser that gives up is no accident of the server."""
    deep = base64.urlsafe_b64encode(b"[" * depth).decode().rstrip("=")
    plain = base64.urlsafe_b64encode(b'{"alg":"RS256","kid":"first"}').decode().rstrip("=")
    for token in (f"{deep}.{deep}.AA", f"{plain}.{deep}.AA"):
        assert await asked.status(token) == 401


async def test_no_log_holds_a_token(
    client_of: Clients,
    asked: Asked,
    shared: IssuerProcess,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Issue 4, F16: at any level, of ours and of the libraries'."""
    client = served(client_of, tmp_path, settings_of(shared))
    secrets = [SERVER, TokenFile(tmp_path).create().secret, shared.sign(), shared.sign(key="f")]
    with caplog.at_level(logging.DEBUG):
        for secret in [*secrets, "gm_" + "x" * 43]:
            await client.get("/who", headers={"Authorization": f"Bearer {secret}"})
            await asked.get(secret)
    assert caplog.records
    for secret in secrets:
        parts = [part for part in (secret, *secret.split(".")) if len(part) > 20]
        assert [part for part in parts if part in caplog.text] == []


BAD: list[tuple[dict[str, str], str]] = [
    ({"public_url": ""}, "PUBLIC_URL"),
    ({"oauth_jwks_url": ""}, "OAUTH_JWKS_URL"),
    ({"oauth_issuer": ""}, "OAUTH_ISSUER"),
    ({"oauth_issuer": "issuer"}, "OAUTH_ISSUER"),
    ({"oauth_issuer": "http://issuer.example.org"}, "OAUTH_ISSUER"),
    ({"oauth_jwks_url": "file:///etc/passwd"}, "OAUTH_JWKS_URL"),
    ({"oauth_jwks_url": "http://issuer.example.org/jwks"}, "OAUTH_JWKS_URL"),
    ({"public_url": "http://memory.example.org"}, "PUBLIC_URL"),
    ({"public_url": "https://u:p@memory.example.org"}, "PUBLIC_URL"),
    ({"public_url": "https://memory.example.org?x=1"}, "PUBLIC_URL"),
    ({"public_url": 'https://memory.example.org/"'}, "PUBLIC_URL"),
    ({"public_url": "https://memory.example.org:x"}, "PUBLIC_URL"),
    ({"oauth_scopes": 'memory:"read"'}, "OAUTH_SCOPES"),
    ({"oauth_write_scope": "two scopes"}, "OAUTH_WRITE_SCOPE"),
]


@pytest.mark.parametrize(("change", "name"), BAD, ids=str)
def test_a_setting_that_cannot_be_is_refused_by_name(
    shared: IssuerProcess, change: dict[str, str], name: str
) -> None:
    """Contract 11.5."""
    from graymatter_mcp.errors import InvalidArgumentError

    with pytest.raises(InvalidArgumentError, match=f"^GRAYMATTER_{name}: "):
        oauth_config(settings_of(shared, **change))
