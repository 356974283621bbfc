"""An authorization server as a process of its own, which prints where it listens.

Run as a module. Clients find their way by its metadata, sign in and get tokens as anywhere; what
only a test asks of an issuer is under `/test`.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import socket
import sys
import time
from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING, Any

import uvicorn
from authlib.oauth2.rfc6749 import AuthorizationServer, ClientMixin, OAuth2Error, OAuth2Request
from authlib.oauth2.rfc6749.grants import ClientCredentialsGrant
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc9068 import JWTBearerTokenGenerator
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey, OKPKey, RSAKey
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.surfaces.sign_in import Application, Codes, Proof, Visitor

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.requests import Request

AUDIENCE = "http://127.0.0.1:8137/mcp"
SCOPES = "memory:read memory:write"
CLIENT = "team-agent"


class Client(ClientMixin):
    """The one registered client; its secret is its name."""

    client_id = CLIENT

    def get_client_id(self) -> str:
        """Return the id."""
        return CLIENT

    def get_allowed_scope(self, scope: Collection[str] | str) -> str:
        """Grant what is asked for and known."""
        wanted = scope.split() if isinstance(scope, str) else scope
        return " ".join(one for one in wanted if one in SCOPES.split())

    def check_client_secret(self, client_secret: str) -> bool:
        """Compare."""
        return client_secret == CLIENT

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        """Take the secret in the body of a token request."""
        return (method, endpoint) == ("client_secret_post", "token")

    def check_grant_type(self, grant_type: str) -> bool:
        """Let the client act for itself."""
        return grant_type == "client_credentials"


class FormRequest(OAuth2Request):
    """A request whose form was read before."""

    def __init__(
        self, url: str, headers: dict[str, str], form: dict[str, str], method: str = "POST"
    ) -> None:
        super().__init__(method, url, headers=headers)  # pyright: ignore[reportUnknownMemberType] - an overload of theirs has no types
        self.payload = BasicOAuth2Payload(form)
        self._fields = form

    @property
    def form(self) -> dict[str, str]:
        """Return the fields."""
        return self._fields


class PostedSecret(ClientCredentialsGrant):
    """The grant of machines, with the secret in the body."""

    TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_post",)


class Issuer(AuthorizationServer):
    """The library's server, joined to our framework."""

    def __init__(self, url: str) -> None:
        super().__init__(scopes_supported=SCOPES.split())
        self.url = url
        self._first: Any = RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})
        self.reset()
        issuer = self

        class Generator(JWTBearerTokenGenerator):
            def get_jwks(self) -> Any:
                return KeySet([issuer.key])

            def get_audiences(self, client: Any, user: Any, scope: Any) -> str:
                return AUDIENCE if user is None else user.resource or AUDIENCE

        self.register_token_generator("default", Generator(url))
        self.register_grant(PostedSecret)
        self.register_grant(Codes().grant(), [Proof(required=True)])

    def reset(self) -> None:
        """Be as at the start."""
        self.key = self._first
        self.published: list[dict[str, Any]] = [self.key.as_dict(private=False)]
        self.mode = "up"
        self.fetched = 0

    def query_client(self, client_id: str) -> Any:
        """Return the client."""
        clients: tuple[ClientMixin, ...] = (Client(), Application(SCOPES))
        return next((one for one in clients if one.get_client_id() == client_id), None)

    def save_token(self, token: Any, request: Any) -> None:
        """Keep none."""

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Nobody listens."""

    def create_oauth2_request(self, request: Any) -> OAuth2Request:
        """Hand over method, URL, headers and form."""
        return FormRequest(*request)

    def handle_response(self, status: int, body: Any, headers: Any) -> Response:
        """Return what the framework sends."""
        return JSONResponse(body, status, dict(headers))


class Routes:
    """What the issuer answers."""

    def __init__(self, issuer: Issuer) -> None:
        self._issuer = issuer

    def app(self) -> Starlette:
        """Return the application."""
        return Starlette(
            routes=[
                Route("/.well-known/oauth-authorization-server", self.metadata),
                Route("/authorize", self.authorize),
                Route("/token", self.token, methods=["POST"]),
                Route("/jwks", self.jwks),
                Route("/elsewhere", self.published),
                Route("/test/sign", self.sign, methods=["POST"]),
                Route("/test/rotate", self.rotate, methods=["POST"]),
                Route("/test/relabel", self.relabel, methods=["POST"]),
                Route("/test/reset", self.reset, methods=["POST"]),
                Route("/test/mode", self.mode, methods=["POST"]),
            ]
        )

    async def metadata(self, _: Request) -> Response:
        """Say what there is (RFC 8414)."""
        url = self._issuer.url
        return JSONResponse(
            {
                "issuer": url,
                "authorization_endpoint": f"{url}/authorize",
                "token_endpoint": f"{url}/token",
                "jwks_uri": f"{url}/jwks",
                "scopes_supported": SCOPES.split(),
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code", "client_credentials"],
                "token_endpoint_auth_methods_supported": ["none", "client_secret_post"],
                "code_challenge_methods_supported": ["S256"],
            }
        )

    async def authorize(self, request: Request) -> Response:
        """Let whoever asks sign in, for the resource that is named."""
        asked = dict(request.query_params)
        made = FormRequest(str(request.url), dict(request.headers), asked, request.method)
        library: Any = self._issuer
        try:
            grant = library.get_authorization_grant(made)
        except OAuth2Error as error:
            return library.handle_error_response(made, error)
        visitor = Visitor(asked.get("resource"))
        return library.create_authorization_response(made, grant_user=visitor, grant=grant)

    async def token(self, request: Request) -> Response:
        """Issue a token to a client."""
        form = {name: str(value) for name, value in (await request.form()).items()}
        library: Any = self._issuer  # its types know no framework
        made = (str(request.url), dict(request.headers), form)
        answer: Response = library.create_token_response(made)
        return answer

    async def jwks(self, request: Request) -> Response:
        """Publish the keys, unless the test wants otherwise."""
        self._issuer.fetched += 1
        mode = self._issuer.mode
        if mode == "slow":
            await asyncio.sleep(3600)
        if mode == "moved":
            return Response(status_code=302, headers={"Location": f"{self._issuer.url}/elsewhere"})
        if mode == "endless":
            return Response(b" " * 1_000_000 + b'{"keys": []}')
        if mode == "down":
            return Response("out of order", 500)
        return await self.published(request) if mode == "up" else Response(mode)

    async def published(self, _: Request) -> Response:
        """Publish the keys."""
        return JSONResponse({"keys": self._issuer.published})

    async def sign(self, request: Request) -> Response:
        """Sign whatever the test asks for, with a key that it names."""
        asked = await request.json()
        now = int(time.time())
        claims = _set({**self._claims(now), **asked.get("claims", {})})
        header = _set({"alg": "RS256", "kid": "first", **asked.get("header", {})})
        key = asked.get("key", "issuer")
        if key == "public":
            return JSONResponse({"token": _confused(header, claims, self._issuer.key)})
        keys = {"issuer": self._issuer.key, "none": OctKey.generate_key(256)}
        signer = keys.get(key) or RSAKey.generate_key(2048)
        algorithms = [header["alg"]]
        return JSONResponse({"token": jwt.encode(header, claims, signer, algorithms=algorithms)})

    def _claims(self, now: int) -> dict[str, Any]:
        return {
            "iss": self._issuer.url,
            "aud": AUDIENCE,
            "sub": "ana",
            "exp": now + 600,
            "iat": now,
            "scope": SCOPES,
        }

    async def rotate(self, request: Request) -> Response:
        """Sign with a new key from now on, and publish it alone or beside the old ones."""
        asked = await request.json()
        options: Any = {"kid": asked["kid"]}
        kinds: dict[str, Any] = {
            "RSA": lambda: RSAKey.generate_key(asked.get("bits", 2048), options),
            "EC": lambda: ECKey.generate_key("P-256", options),
            "OKP": lambda: OKPKey.generate_key("Ed25519", options),
            "oct": lambda: OctKey.generate_key(256, options),
        }
        kind = asked.get("kind", "RSA")
        self._issuer.key = kinds[kind]()
        kept = self._issuer.published if asked.get("keep") else []
        self._issuer.published = [*kept, self._issuer.key.as_dict(private=kind == "oct")]
        return JSONResponse({})

    async def relabel(self, request: Request) -> Response:
        """Publish the present key as one for something else."""
        label = await request.json()
        self._issuer.published = [{**self._issuer.key.as_dict(private=False), **label}]
        return JSONResponse({})

    async def reset(self, _: Request) -> Response:
        """Forget what the last test wanted."""
        self._issuer.reset()
        return JSONResponse({})

    async def mode(self, request: Request) -> Response:
        """Change how the keys are published; say how often they were asked for."""
        self._issuer.mode = (await request.json()).get("mode", self._issuer.mode)
        return JSONResponse({"fetched": self._issuer.fetched})


def _set(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _confused(header: dict[str, Any], claims: dict[str, Any], key: Any) -> str:
    """Return a token whose shared secret is the text of the public key."""
    parts = [urlsafe_b64encode(json.dumps(one).encode()).rstrip(b"=") for one in (header, claims)]
    signature = hmac.digest(key.as_pem(private=False), b".".join(parts), "sha256")
    return b".".join([*parts, urlsafe_b64encode(signature).rstrip(b"=")]).decode()


def main() -> None:
    """Serve on a free port until killed."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        sys.stdout.write(json.dumps({"issuer": url}) + "\n")
        sys.stdout.flush()
        config = uvicorn.Config(Routes(Issuer(url)).app(), log_level="warning", lifespan="off")
        uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
