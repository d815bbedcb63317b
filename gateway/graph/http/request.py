"""GraphQL over HTTP, the way in: what a request must look like before anything else happens to it."""

import re
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

import orjson

from gateway.graph.http.body import Receive, read_body
from gateway.graph.http.http_error import HttpError

JSON = "application/json"
GRAPHQL_JSON = "application/graphql-response+json"

# the ways in which clients name a document that was stored before
DOCUMENT_IDS = ("documentId", "id")

Scope = MutableMapping[str, Any]

# INVARIANT: a request with two tokens is refused: which of them counts would be chance.
TWICE = b"two authorization headers"

_JSON = JSON.encode()
_MEMBERS: dict[str, type] = {
    **dict.fromkeys(("query", *DOCUMENT_IDS, "operationName"), str),
    **dict.fromkeys(("variables", "extensions"), dict),
}
# what nearly all clients send
_ANSWER_TYPES = {None: JSON, b"*/*": JSON, _JSON: JSON, GRAPHQL_JSON.encode(): GRAPHQL_JSON}
_QUALITY = re.compile(r"q=(0(\.\d{0,3})?|1(\.0{0,3})?)")


@dataclass(slots=True)
class GraphQLRequest:
    """`document_id` names a document that the gateway knows, in place of `query` or to be compared with it."""

    query: str | None
    variables: dict[str, Any] = field(default_factory=dict)
    operation_name: str | None = None
    extensions: dict[str, Any] = field(default_factory=dict)
    document_id: str | None = None


def answer_type(accept: str | None) -> str:
    """The media type of the answer: the one the caller likes best, plain JSON where it does not say."""
    if not accept:
        return JSON
    given: dict[str, float] = {}
    for part in accept.split(","):
        name, *params = (word.strip().lower() for word in part.split(";"))
        quality = next((float(found[1]) for param in params if (found := _QUALITY.fullmatch(param))), 1.0)
        given[name] = max(given.get(name, 0.0), quality)
    # what is said of a type by its name counts more than what is said by a wildcard
    weights = {
        known: next((given[name] for name in (known, "application/*", "*/*") if name in given), 0.0)
        for known in (JSON, GRAPHQL_JSON)
    }
    best = max(weights.values())
    if best == 0:
        raise HttpError(HTTPStatus.NOT_ACCEPTABLE, f"the answer is {GRAPHQL_JSON} or {JSON}; accept one of them")
    if weights[GRAPHQL_JSON] == weights[JSON]:
        # equal: what is named first, and plain JSON behind a wildcard, as old clients expect
        named = [name for name in (JSON, GRAPHQL_JSON) if name in accept]
        return min(named, key=accept.index) if named else JSON
    return max(weights, key=lambda name: weights[name])


def read_headers(raw: Sequence[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """By their names, which ASGI gives in lower case; of one that is sent twice the first counts, but see below."""
    headers = dict(raw)
    if len(headers) == len(raw):
        return headers
    headers = dict(reversed(raw))
    accepted = [value for name, value in raw if name == b"accept"]
    if accepted:
        headers[b"accept"] = b",".join(accepted)
    if sum(name == b"authorization" for name, _ in raw) > 1:
        headers[b"authorization"] = TWICE
    return headers


def answer_type_of(headers: Mapping[bytes, bytes]) -> str:
    accept = headers.get(b"accept")
    return _ANSWER_TYPES.get(accept) or answer_type((accept or b"").decode("latin-1"))


async def read_request(scope: Scope, headers: Mapping[bytes, bytes], receive: Receive, limit: int) -> GraphQLRequest:
    method = scope["method"]
    if method == "POST":
        content_type = headers.get(b"content-type", b"")
        if content_type != _JSON:
            _check_content_type(content_type.decode("latin-1"))
        return graphql_request(_json(await read_body(headers, receive, limit), "the body"))
    if method == "GET":
        return graphql_request(_from_query(scope["query_string"]))
    raise HttpError(HTTPStatus.METHOD_NOT_ALLOWED, "GraphQL is asked by GET or POST", {"Allow": "GET, POST"})


def _json(raw: bytes, what: str) -> Any:
    try:
        content = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise HttpError(HTTPStatus.BAD_REQUEST, f"{what} is not valid JSON") from error
    # Of two members with one name the last would win here and perhaps the first in a proxy that looks for something.
    # Each member has a colon; a text has its own. Where some are missing from the value, members were left out of it.
    if _colons(raw) != orjson.dumps(content).count(b":"):
        raise HttpError(HTTPStatus.BAD_REQUEST, f"{what} has a name twice in one JSON object")
    return content


def _colons(raw: bytes) -> int:
    """Those of a JSON text, also where they are escaped; by what C does at once, since a body may be a megabyte."""
    # an escaped backslash escapes nothing behind it
    single = raw.replace(b"\\\\", b"") if b"\\\\" in raw else raw
    return raw.count(b":") + single.count(b"\\u003a") + single.count(b"\\u003A")


def _check_content_type(text: str) -> None:
    name, *params = (word.strip().lower() for word in text.split(";"))
    charsets = {param.removeprefix("charset=").strip('"') for param in params if param.startswith("charset=")}
    if name != JSON or not charsets <= {"utf-8", "utf8"}:
        raise HttpError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"the body must be {JSON} in UTF-8")


def _from_query(query_string: bytes) -> dict[str, Any]:
    names = ("query", *DOCUMENT_IDS, "operationName", "variables", "extensions")
    given: dict[str, Any] = {}
    for name, value in parse_qsl(query_string.decode("latin-1"), keep_blank_values=True):
        if name in given:
            raise HttpError(HTTPStatus.BAD_REQUEST, f"`{name}` is given twice")
        if name in names:
            given[name] = value
    for name in ("variables", "extensions"):
        if given.get(name):
            given[name] = _json(given[name].encode(errors="replace"), f"`{name}`")
        else:
            given.pop(name, None)
    return given


def graphql_request(content: Any) -> GraphQLRequest:
    if isinstance(content, list):
        raise HttpError(HTTPStatus.BAD_REQUEST, "batches are not supported; send one operation in a request")
    if not isinstance(content, dict):
        raise HttpError(HTTPStatus.BAD_REQUEST, "the body must be a JSON object")
    for key, value in content.items():
        kind = _MEMBERS.get(key)
        if kind is not None and value is not None and not isinstance(value, kind):
            raise HttpError(HTTPStatus.BAD_REQUEST, f"`{key}` must be {'an object' if kind is dict else 'a string'}")
    get = content.get
    query, extensions = get("query") or None, get("extensions") or {}
    if query is not None and query.isspace():
        query = None
    document_id = get("documentId") or get("id")
    if query is None and document_id is None and "persistedQuery" not in extensions:
        raise HttpError(HTTPStatus.BAD_REQUEST, "`query` is missing; it must be a string")
    # some tools send an empty name where there is none
    return GraphQLRequest(query, get("variables") or {}, get("operationName") or None, extensions, document_id)
