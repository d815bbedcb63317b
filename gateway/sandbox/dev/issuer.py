"""A token issuer for development, with an RS256 key that is generated at start and published at a JWKS address."""

import asyncio
import base64
import http.client
import json
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import time
from typing import Any
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from jose import jwt
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.errors import BadUserInput, Unavailable
from gateway.graph.http.http_error import HttpError
from gateway.graph.http.request import read_body, strict_json
from gateway.model.role import STANDARD_ROLES
from gateway.model.tenant import tenant_id

PATH = "/issuer"
JWKS_PATH = f"{PATH}/.well-known/jwks.json"
AUDIENCE = "gateway"

_ALGORITHM = "RS256"
LIFE_SECONDS = 8 * 3_600
_LONGEST_SECONDS = 24 * 3_600
_MAX_BODY = 4_096
_BODY_SECONDS = 5


@dataclass(frozen=True, slots=True)
class TokenIssuer:
    """Signs any token for these tenants, or for any tenant if it is None; it must listen on loopback only."""

    issuer: str
    tenants: frozenset[str] | None
    key: RSAPrivateKey = field(default_factory=lambda: generate_private_key(65_537, 2_048), repr=False)
    key_id: str = field(default_factory=lambda: secrets.token_hex(8))
    clock: Callable[[], float] = time
    roles: tuple[str, ...] = tuple(role.name for role in STANDARD_ROLES)

    def jwks(self) -> dict[str, Any]:
        numbers = self.key.public_key().public_numbers()
        public = {"n": _base64url(numbers.n), "e": _base64url(numbers.e)}
        return {"keys": [{"kty": "RSA", "use": "sig", "alg": _ALGORITHM, "kid": self.key_id, **public}]}

    def token(self, tenant: object, role: object, subject: object = None, seconds: object = LIFE_SECONDS) -> str:
        """A token that is valid for `seconds`; 0 or less makes one that expired so long ago, to test clients."""
        self.check_tenant(tenant)
        _check("role", role, self.roles)
        life = _life(seconds)
        # an expired token had the usual lifetime: only its expiry is wrong
        now = int(self.clock()) if life > 0 else int(self.clock()) + life - LIFE_SECONDS
        claims = {
            "iss": self.issuer,
            "aud": AUDIENCE,
            "sub": _subject(subject) or f"{role}@{tenant}.example",
            "tenant": tenant,
            "roles": [role],
            "iat": now,
            "exp": now + (life if life > 0 else LIFE_SECONDS),
        }
        return self.sign(claims)

    def check_tenant(self, tenant: object) -> None:
        if self.tenants is None:
            tenant_id(tenant)
        else:
            _check("tenant", tenant, sorted(self.tenants))

    def sign(self, claims: dict[str, Any]) -> str:
        key: Any = self.key  # jose accepts it although its types do not say so; parsing it from text takes 40 ms
        return jwt.encode(claims, key, _ALGORITHM, {"kid": self.key_id})


def routes(issuer: TokenIssuer) -> list[Route]:
    async def keys(request: Request) -> Response:
        return JSONResponse(issuer.jwks())

    def token(body: bytes) -> dict[str, Any]:
        values = token_request(body)
        life = values.get("seconds", LIFE_SECONDS)
        signed = issuer.token(values["tenant"], values["role"], values.get("subject"), life)
        return {"token": signed, "expires_in": life}

    return [Route(JWKS_PATH, keys), signing_route("token", token)]


def signing_route(name: str, sign: Callable[[bytes], dict[str, Any]]) -> Route:
    """Answers a body with what is signed for it, or with the `BadUserInput` that it raises."""

    async def answer(request: Request) -> Response:
        try:
            content = sign(await small_body(request))
        except BadUserInput as error:
            return JSONResponse({"error": error.message}, 400)
        return JSONResponse(content, headers={"Cache-Control": "no-store"})

    return Route(f"{PATH}/{name}", answer, methods=["POST"])


async def small_body(request: Request) -> bytes:
    """Reads a body; raises `BadUserInput` if it is too long or too slow."""
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            return await read_body(dict(request.scope["headers"]), request.receive, _MAX_BODY)
    except (TimeoutError, HttpError) as error:
        raise BadUserInput(f"send a JSON object of at most {_MAX_BODY} bytes within {_BODY_SECONDS} seconds") from error


def token_request(body: bytes) -> dict[str, Any]:
    """The tenant, the role, and the optional members of a token request; raises `BadUserInput`."""
    request = json_object(body)
    known = request.keys() <= {"tenant", "role", "subject", "seconds"}
    if not known or not all(isinstance(request.get(name), str) for name in ("tenant", "role")):
        raise BadUserInput('send a JSON object such as {"tenant": "acme", "role": "viewer"}')
    return request


def json_object(body: bytes) -> dict[str, Any]:
    """The object in the body; an empty one if it is anything else, which lacks what a request needs."""
    try:
        request = strict_json(body, "the body")
    except HttpError:
        return {}
    return request if isinstance(request, dict) else {}


def _check(name: str, value: object, choices: Iterable[str]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise BadUserInput(f"unknown {name} `{value}`: use one of {', '.join(choices)}")


def _subject(subject: object) -> str | None:
    if subject is None:
        return None
    if not isinstance(subject, str) or not 0 < len(subject) <= 255 or not subject.isprintable():
        raise BadUserInput("subject must have 1 to 255 printable characters")
    return subject


def _life(seconds: object) -> int:
    if isinstance(seconds, bool) or not isinstance(seconds, int) or abs(seconds) > _LONGEST_SECONDS:
        raise BadUserInput(f"seconds must be a whole number between -{_LONGEST_SECONDS} and {_LONGEST_SECONDS}")
    return seconds


def _base64url(number: int) -> str:
    raw = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


# The client of the issuer: requests a token from a running sandbox.

_SECONDS = 5.0
_MAX_ANSWER = 65_536


def ask_for_token(url: str, tenant: str, role: str, subject: str | None = None, seconds: int | None = None) -> str:
    values = {"tenant": tenant, "role": role, "subject": subject, "seconds": seconds}
    match ask_issuer(url, "token", {name: value for name, value in values.items() if value is not None}):
        case {"token": str(token)}:
            return token
    raise Unavailable(f"the server at {url} is not a sandbox")


def ask_issuer(url: str, path: str, request: dict[str, Any]) -> Any:
    """The issuer's response; raises `BadUserInput` if it refuses."""
    address = urlsplit(url)
    if address.scheme != "http" or not address.hostname:
        raise BadUserInput(f"`{url}` is not the address of a sandbox, such as http://127.0.0.1:8001")
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=_SECONDS)
    try:
        connection.request("POST", f"{PATH}/{path}", json.dumps(request), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        content = json.loads(answer.read(_MAX_ANSWER))
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Unavailable(f"no sandbox answers at {url}: start one with `gateway dev`") from error
    finally:
        connection.close()
    match content:
        case {"error": str(message)}:
            raise BadUserInput(message)
    return content
