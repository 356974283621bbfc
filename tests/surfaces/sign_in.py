"""How a person signs in at the test's issuer: a code bound to a proof and to one resource.

Whoever asks is let in at once, since no test has a person who could click.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from authlib.oauth2.rfc6749 import ClientMixin, InvalidRequestError
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant
from authlib.oauth2.rfc7636 import CodeChallenge

if TYPE_CHECKING:
    from collections.abc import Collection

PERSON: Final = "team-person"
"""The client of people: an application of theirs, which can keep no secret."""


class Application(ClientMixin):
    """A public client on the machine of whoever uses it."""

    client_id = PERSON

    def __init__(self, scopes: str) -> None:
        self._scopes = scopes

    def get_client_id(self) -> str:
        """Return the id."""
        return PERSON

    def get_allowed_scope(self, scope: Collection[str] | str | None) -> str:
        """Grant what is asked for and known; everything where nothing is asked for."""
        wanted = scope.split() if isinstance(scope, str) else scope or self._scopes.split()
        return " ".join(one for one in wanted if one in self._scopes.split())

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        """Go back to the machine itself, whatever the port."""
        return urlsplit(redirect_uri).hostname == "127.0.0.1"

    def check_response_type(self, response_type: str) -> bool:
        """Hand out codes alone."""
        return response_type == "code"

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        """Take no secret."""
        return (method, endpoint) == ("none", "token")

    def check_grant_type(self, grant_type: str) -> bool:
        """Exchange codes; there is no way to refresh."""
        return grant_type == "authorization_code"


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who signed in, and for which resource."""

    resource: str | None

    def get_user_id(self) -> str:
        """Return the name that the token carries."""
        return "ana"


@dataclass(frozen=True, slots=True)
class Code:
    """What was agreed when a code was handed out."""

    code: str
    redirect_uri: str
    scope: str
    code_challenge: str
    code_challenge_method: str
    visitor: Visitor

    def get_redirect_uri(self) -> str:
        """Return where the code was sent."""
        return self.redirect_uri

    def get_scope(self) -> str:
        """Return what was granted."""
        return self.scope


@dataclass
class Codes:
    """The codes that were not used yet."""

    pending: dict[str, Code] = field(default_factory=dict[str, Code])

    def grant(self) -> type[AuthorizationCodeGrant]:
        """Return the grant that hands these out and takes them back."""
        pending = self.pending

        class Grant(_ProvenCode):
            def save_authorization_code(self, code: str, request: Any) -> None:
                """Remember what was agreed."""
                given = request.payload.data
                pending[code] = Code(
                    code,
                    given["redirect_uri"],
                    request.scope,
                    given["code_challenge"],
                    given.get("code_challenge_method", "plain"),
                    request.user,
                )

            def query_authorization_code(self, code: str, client: Any) -> Code | None:
                """Find it again."""
                return pending.get(code)

            def delete_authorization_code(self, authorization_code: Any) -> None:
                """Take it once."""
                pending.pop(authorization_code.code, None)

        return Grant


class _ProvenCode(AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ("none",)

    def validate_authorization_request(self) -> Any:
        """Insist on a challenge."""
        redirect_uri: Any = super().validate_authorization_request()
        request: Any = self.request  # its types do not know that it was read
        if request.payload.data.get("code_challenge") is None:
            raise InvalidRequestError("Missing 'code_challenge'", redirect_uri=redirect_uri)
        return redirect_uri

    def authenticate_user(self, authorization_code: Any) -> Visitor:
        """Return who agreed."""
        return authorization_code.visitor


class Proof(CodeChallenge):
    """Only proofs that do not travel before the code does."""

    SUPPORTED_CODE_CHALLENGE_METHOD = ["S256"]  # noqa: RUF012 - as theirs
