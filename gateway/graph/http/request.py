"""GraphQL over HTTP, the way in: what a request must look like before anything else happens to it."""

import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

import msgspec
import orjson

from gateway.errors import LimitExceeded
from gateway.graph.http.compression import GZIP, NotGzip, TooLong, unpacked
from gateway.graph.http.http_error import BodyTooLarge, CallerLeft, HttpError

JSON = "application/json"
GRAPHQL_JSON = "application/graphql-response+json"
EVENT_STREAM = b"text/event-stream"

# the ways in which clients name a document that was stored before
DOCUMENT_IDS = ("documentId", "id")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

# INVARIANT: a request with two tokens is refused: which of them counts would be chance.
TWICE = b"two authorization headers"

_JSON = JSON.encode()
_MEMBERS: dict[str, type] = {
    **dict.fromkeys(("query", *DOCUMENT_IDS, "operationName"), str),
    **dict.fromkeys(("variables", "extensions"), dict),
}
# what nearly all clients send
ANSWER_TYPES: Mapping[bytes | None, str] = {None: JSON, b"*/*": JSON, _JSON: JSON, GRAPHQL_JSON.encode(): GRAPHQL_JSON}
LARGE = 65_536  # bytes of a body that is read in its tenant's turn and beside the loop
_DIGITS = 18  # of a length that is certainly a number
_PARAMETERS = 100  # of an address; six mean something
_ACCEPT = 2_000  # characters of the media types that a caller accepts; browsers send fewer than 200
# the members that nearly all clients send
_USUAL = ({"query", "variables"}, {"query", "variables", "operationName"})
_ENVELOPE = 100  # values of a body beside its variables
_QUALITY = re.compile(r"q=(0(\.\d{0,3})?|1(\.0{0,3})?)")


class GraphQLRequest(msgspec.Struct):
    """`document_id` names a document that the gateway knows, in place of `query` or to be compared with it."""

    query: str | None
    variables: dict[str, Any] = {}
    operation_name: str | None = None
    extensions: dict[str, Any] = {}
    document_id: str | None = None


class EventStreamWanted(Exception):
    """The caller wants events instead of one answer; `asked` is the request, where it was read already."""

    def __init__(self, asked: GraphQLRequest | None = None) -> None:
        super().__init__()
        self.asked = asked


def answer_type(accept: str | None) -> str:
    """The media type of the answer: the one the caller likes best, plain JSON where it does not say."""
    if not accept:
        return JSON
    if len(accept) > _ACCEPT:
        raise HttpError(HTTPStatus.BAD_REQUEST, f"the header `Accept` is longer than {_ACCEPT} characters")
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


def merged_headers(raw: Sequence[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Of a header that is sent twice the first counts, but see below."""
    headers = dict(reversed(raw))
    accepted = [value for name, value in raw if name == b"accept"]
    if accepted:
        headers[b"accept"] = b",".join(accepted)
    if sum(name == b"authorization" for name, _ in raw) > 1:
        headers[b"authorization"] = TWICE
    return headers


def answer_type_of(headers: Mapping[bytes, bytes]) -> str:
    accepted = headers.get(b"accept", b"").lower()
    # some clients accept events beside JSON for whatever they send; then only a subscription gets them
    if EVENT_STREAM in accepted and b"json" not in accepted and b"*/*" not in accepted:
        raise EventStreamWanted
    return answer_type(headers.get(b"accept", b"").decode("latin-1"))


@dataclass(frozen=True, slots=True)
class LargeBody:
    """A body that takes a while to read, as it was sent."""

    sent: bytes
    packed: bool

    @property
    def size(self) -> int | None:
        """None where only unpacking it tells."""
        return None if self.packed else len(self.sent)

    def read(self, limit: int, values: int) -> GraphQLRequest:
        """Of at most so many bytes, with at most so many values in its variables."""
        body = _unpacked(self.sent, limit) if self.packed else self.sent
        # what would be refused later is refused before it is made into a million objects
        _check_values(body, values)
        return graphql_request(strict_json(body, "the body"))


async def read_request(
    scope: Scope, headers: Mapping[bytes, bytes], receive: Receive, limit: int
) -> GraphQLRequest | LargeBody:
    if scope["method"] != "POST":
        return _asked_by_get(scope)
    content_type = headers.get(b"content-type", b"")
    if content_type != _JSON:
        _check_content_type(content_type.decode("latin-1"))
    packed = b"content-encoding" in headers and _is_packed(headers)
    body = await _sent(headers, receive, limit)
    if packed:
        try:
            body = unpacked(body, min(LARGE, limit))
        except TooLong:
            return LargeBody(body, packed=True)
        except NotGzip as error:
            raise _not_gzip() from error
    elif len(body) > LARGE:
        return LargeBody(body, packed=False)
    return graphql_request(strict_json(body, "the body"))


def _asked_by_get(scope: Scope) -> GraphQLRequest:
    if scope["method"] == "GET":
        return graphql_request(_from_query(scope["query_string"]))
    raise HttpError(HTTPStatus.METHOD_NOT_ALLOWED, "GraphQL is asked by GET or POST", {"Allow": "GET, POST"})


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, limit: int) -> bytes:
    """The limit holds for what is sent and for what it unpacks to."""
    packed = _is_packed(headers)
    sent = await _sent(headers, receive, limit)
    return _unpacked(sent, limit) if packed else sent


async def _sent(headers: Mapping[bytes, bytes], receive: Receive, limit: int) -> bytes:
    """The body as it is sent."""
    declared = headers.get(b"content-length")
    if declared is not None and declared.isdigit() and (len(declared) > _DIGITS or int(declared) > limit):
        raise _too_large(limit)
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise CallerLeft
        piece = message.get("body", b"")
        size += len(piece)
        if size > limit:
            raise _too_large(limit)
        if not message.get("more_body"):
            return b"".join((*pieces, piece)) if pieces else piece
        pieces.append(piece)


def _is_packed(headers: Mapping[bytes, bytes]) -> bool:
    encoding = headers.get(b"content-encoding", b"").strip().lower()
    if encoding not in (b"", b"identity", b"gzip", b"x-gzip"):
        message = "a body is sent as it is or packed with gzip"
        raise HttpError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message, {"Accept-Encoding": GZIP})
    return encoding.endswith(b"gzip")


def _unpacked(body: bytes, limit: int) -> bytes:
    try:
        return unpacked(body, limit)
    except TooLong as error:
        raise _too_large(limit) from error
    except NotGzip as error:
        raise _not_gzip() from error


def _not_gzip() -> HttpError:
    return HttpError(HTTPStatus.BAD_REQUEST, "the body is not valid gzip")


def _too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(f"the body is larger than {limit} bytes")


def strict_json(raw: bytes, what: str) -> Any:
    """Raises `HttpError` where it is not JSON, or names something twice."""
    try:
        content = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise HttpError(HTTPStatus.BAD_REQUEST, f"{what} is not valid JSON") from error
    # Of two members with one name the last would win here and perhaps the first in a proxy that looks for something.
    # Each member has a colon; a text has its own. Where some are missing from the value, members were left out of it.
    colons = raw.count(b":") if b"\\" not in raw else _colons(raw)
    try:
        kept = orjson.dumps(content).count(b":")
    except orjson.JSONEncodeError as error:  # it reads deeper than it writes
        raise HttpError(HTTPStatus.BAD_REQUEST, f"{what} is nested too deeply") from error
    if colons != kept:
        raise HttpError(HTTPStatus.BAD_REQUEST, f"{what} has a name twice in one JSON object")
    return content


def _colons(raw: bytes) -> int:
    """Those of a JSON text, also where they are escaped; by what C does at once, since a body may be a megabyte."""
    # an escaped backslash escapes nothing behind it
    single = raw.replace(b"\\\\", b"") if b"\\\\" in raw else raw
    return raw.count(b":") + single.count(b"\\u003a") + single.count(b"\\u003A")


def _check_values(raw: bytes, values: int) -> None:
    """A list or an object of n values has n - 1 commas and a bracket; strings may have them too, and count no value."""
    most = 2 * (values + _ENVELOPE)  # empty ones have a bracket each, and are a value
    if _marks(raw) <= most:
        return
    if b"\\" in raw:
        raw = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    # each value and each name may be a string, between two quotes
    if raw.count(b'"') > 2 * most or _marks(b"".join(raw.split(b'"')[::2])) > most:
        raise LimitExceeded(f"the variables have more than {values} values")


def _marks(raw: bytes) -> int:
    return raw.count(b",") + raw.count(b"[") + raw.count(b"{")


def _check_content_type(text: str) -> None:
    name, *params = (word.strip().lower() for word in text.split(";"))
    charsets = {param.removeprefix("charset=").strip('"') for param in params if param.startswith("charset=")}
    if name != JSON or not charsets <= {"utf-8", "utf8"}:
        raise HttpError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"the body must be {JSON} in UTF-8")


def _from_query(query_string: bytes) -> dict[str, Any]:
    names = ("query", *DOCUMENT_IDS, "operationName", "variables", "extensions")
    given: dict[str, Any] = {}
    if query_string.count(b"&") >= _PARAMETERS:
        raise HttpError(HTTPStatus.BAD_REQUEST, f"the address has more than {_PARAMETERS} parameters")
    for name, value in parse_qsl(query_string.decode("latin-1"), keep_blank_values=True):
        if name in given:
            raise HttpError(HTTPStatus.BAD_REQUEST, f"`{name}` is given twice")
        if name in names:
            given[name] = value
    for name in ("variables", "extensions"):
        if given.get(name):
            given[name] = strict_json(given[name].encode(errors="replace"), f"`{name}`")
        else:
            given.pop(name, None)
    return given


def graphql_request(content: Any) -> GraphQLRequest:
    if type(content) is dict and content.keys() in _USUAL:
        query, variables, name = content["query"], content["variables"], content.get("operationName")
        usual = type(query) is str and type(variables) is dict and (name is None or type(name) is str)
        if usual and query and not query.isspace():
            return GraphQLRequest(query, variables, name or None)
    return _graphql_request(content)


def _graphql_request(content: Any) -> GraphQLRequest:
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
