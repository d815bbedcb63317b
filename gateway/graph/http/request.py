"""Reads a GraphQL request from HTTP: its headers, body and parameters, with limits on each."""

import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from math import isinf
from typing import Any
from urllib.parse import parse_qsl

import msgspec
import orjson

from gateway.errors import LimitExceeded
from gateway.graph.background import checkpoint
from gateway.graph.http.compression import GZIP, NotGzip, TooLong, unpacked
from gateway.graph.http.http_error import BodyTooLarge, CallerLeft, HttpError, NumberTooLarge

JSON = "application/json"
GRAPHQL_JSON = "application/graphql-response+json"
EVENT_STREAM = b"text/event-stream"

# the names that clients use for the id of a persisted document
DOCUMENT_IDS = ("documentId", "id")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

# INVARIANT: a request with two tokens is refused, because it would be arbitrary which one counts.
TWICE = b"two authorization headers"

_JSON = JSON.encode()
_MEMBERS: dict[str, type] = {
    **dict.fromkeys(("query", *DOCUMENT_IDS, "operationName"), str),
    **dict.fromkeys(("variables", "extensions"), dict),
}
# what nearly all clients send
ANSWER_TYPES: Mapping[bytes | None, str] = {None: JSON, b"*/*": JSON, _JSON: JSON, GRAPHQL_JSON.encode(): GRAPHQL_JSON}
LARGE = 65_536  # bytes from which a body is read in its tenant's turn and off the event loop
_DIGITS = 18  # of a content length; a longer text is not parsed as a number
_PARAMETERS = 100  # in a query string; only six have a meaning
_ACCEPT = 2_000  # characters of an `Accept` header; browsers send fewer than 200
# the members of nearly all request bodies
_USUAL = ({"query", "variables"}, {"query", "variables", "operationName"})
_ENVELOPE = 100  # values in a body besides its variables
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_QUALITY = re.compile(r"q=(0(\.\d{0,3})?|1(\.0{0,3})?)")


class GraphQLRequest(msgspec.Struct):
    """`document_id` names a persisted document; it replaces `query`, or is compared with it."""

    query: str | None
    variables: dict[str, Any] = {}
    operation_name: str | None = None
    extensions: dict[str, Any] = {}
    document_id: str | None = None


class EventStreamWanted(Exception):
    """The caller wants an event stream instead of one response; `request` is set if it was already read."""

    def __init__(self, request: GraphQLRequest | None = None) -> None:
        super().__init__()
        self.request = request


def answer_type(accept: str | None) -> str:
    """Returns the media type of the response: the one the caller prefers, or plain JSON without a preference."""
    if not accept:
        return JSON
    if len(accept) > _ACCEPT:
        raise HttpError(HTTPStatus.BAD_REQUEST, f"the header `Accept` is longer than {_ACCEPT} characters")
    qualities = _qualities(accept)
    # a weight given for a type by name wins over one given by a wildcard
    weights = {
        media_type: next((qualities[name] for name in (media_type, "application/*", "*/*") if name in qualities), 0.0)
        for media_type in (JSON, GRAPHQL_JSON)
    }
    best = max(weights.values())
    if best == 0:
        raise HttpError(HTTPStatus.NOT_ACCEPTABLE, f"the answer is {GRAPHQL_JSON} or {JSON}; accept one of them")
    if weights[GRAPHQL_JSON] == weights[JSON]:
        # equal weights: the type that is named first; for wildcards plain JSON, as old clients expect
        named = [name for name in (JSON, GRAPHQL_JSON) if name in accept]
        return min(named, key=accept.index) if named else JSON
    return max(weights, key=lambda name: weights[name])


def _qualities(accept: str) -> dict[str, float]:
    """Returns the weights of the media types in an `Accept` header."""
    qualities: dict[str, float] = {}
    for part in accept.split(","):
        name, *params = (word.strip().lower() for word in part.split(";"))
        quality = next(
            (float(quality_match[1]) for param in params if (quality_match := _QUALITY.fullmatch(param))), 1.0
        )
        qualities[name] = max(qualities.get(name, 0.0), quality)
    return qualities


def accepts_event_stream(headers: Mapping[bytes, bytes]) -> bool:
    """Whether an event stream is accepted by name: a client that accepts everything expects JSON."""
    return _qualities(headers.get(b"accept", b"").decode("latin-1")).get(EVENT_STREAM.decode(), 0.0) > 0


def merged_headers(raw: Sequence[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Returns headers by name: values of `Accept` are joined, two tokens become `TWICE`, otherwise the first wins."""
    headers = dict(reversed(raw))
    accepted = [value for name, value in raw if name == b"accept"]
    if accepted:
        headers[b"accept"] = b",".join(accepted)
    if sum(name == b"authorization" for name, _ in raw) > 1:
        headers[b"authorization"] = TWICE
    return headers


def answer_type_of(headers: Mapping[bytes, bytes]) -> str:
    try:
        return answer_type(headers.get(b"accept", b"").decode("latin-1"))
    except HttpError as error:
        # some clients always accept event streams besides JSON; then only a subscription gets one
        if error.status == HTTPStatus.NOT_ACCEPTABLE and accepts_event_stream(headers):
            raise EventStreamWanted from error
        raise


@dataclass(frozen=True, slots=True)
class LargeBody:
    """A body that takes a while to parse, as it was sent."""

    sent: bytes
    packed: bool

    @property
    def size(self) -> int | None:
        """The size of the body; None if it is only known after decompression."""
        return None if self.packed else len(self.sent)

    def read(self, limit: int, values: int) -> GraphQLRequest:
        """Parses a body of at most `limit` bytes, with at most `values` values in its variables."""
        body = _unpacked(self.sent, limit) if self.packed else self.sent
        # refuse it before it becomes a million objects
        check_values(body, values)
        checkpoint()
        return graphql_request(strict_json(body, "the body", checkpoint))


async def read_request(
    scope: Scope, headers: Mapping[bytes, bytes], receive: Receive, limit: int
) -> GraphQLRequest | LargeBody:
    if scope["method"] != "POST":
        return _request_of_get(scope)
    content_type = headers.get(b"content-type", b"")
    if content_type != _JSON:
        _check_content_type(content_type.decode("latin-1"))
    packed = b"content-encoding" in headers and _is_packed(headers)
    body = await _sent(headers, receive, limit)
    if packed:
        # the size that its end declares; whoever declares less is only read here, up to the same size
        if int.from_bytes(body[-4:], "little") > LARGE:
            return LargeBody(body, packed=True)
        try:
            body = unpacked(body, min(LARGE, limit))
        except TooLong:
            return LargeBody(body, packed=True)
        except NotGzip as error:
            raise _not_gzip() from error
    elif len(body) > LARGE:
        return LargeBody(body, packed=False)
    return graphql_request(strict_json(body, "the body"))


def _request_of_get(scope: Scope) -> GraphQLRequest:
    if scope["method"] == "GET":
        return graphql_request(_from_query(scope["query_string"]))
    raise HttpError(HTTPStatus.METHOD_NOT_ALLOWED, "GraphQL requests are sent by GET or POST", {"Allow": "GET, POST"})


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, limit: int) -> bytes:
    """Reads the body; the limit applies both to the bytes sent and to the decompressed body."""
    packed = _is_packed(headers)
    sent = await _sent(headers, receive, limit)
    return _unpacked(sent, limit) if packed else sent


async def _sent(headers: Mapping[bytes, bytes], receive: Receive, limit: int) -> bytes:
    """Reads the bytes as they were sent, without decompressing them."""
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


def strict_json(raw: bytes, what: str, between: Callable[[], None] | None = None) -> Any:
    """Raises `HttpError` if the text is not JSON, has a number that is too large, or an object with a name twice.

    Calls `between` between its passes through the text, which take a while if it is large.
    """
    try:
        content = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        # orjson stops where the number begins, and does not say by its type what is wrong
        number = _NUMBER.match(error.doc, error.pos)
        if number is not None and isinf(float(number[0])):
            place = f"line {error.lineno} column {error.colno}"
            raise NumberTooLarge(f"{what} has a number that is too large, at {place}") from error
        raise HttpError(HTTPStatus.BAD_REQUEST, f"{what} is not valid JSON: {error}") from error
    # Parsers disagree on duplicate members: the last one wins here, but the first may win in a proxy that inspects the
    # body. Each member has one colon, and strings may contain more. If the parsed value, written again, has fewer
    # colons than the text, members were dropped.
    if between is not None:
        between()
    colons = raw.count(b":") if b"\\" not in raw else _colons(raw)
    try:
        kept = orjson.dumps(content).count(b":")
    except orjson.JSONEncodeError as error:  # orjson reads deeper nesting than it writes
        raise HttpError(HTTPStatus.BAD_REQUEST, f"{what} is nested too deeply") from error
    if between is not None:
        between()
    if colons != kept:
        raise HttpError(HTTPStatus.BAD_REQUEST, f"{what} has a name twice in one JSON object")
    return content


def _colons(raw: bytes) -> int:
    """Counts the colons in a JSON text, including escaped ones; with C functions, because a body may be a megabyte."""
    # an escaped backslash does not escape what follows it
    single = raw.replace(b"\\\\", b"") if b"\\\\" in raw else raw
    return raw.count(b":") + single.count(b"\\u003a") + single.count(b"\\u003A")


def check_values(raw: bytes, values: int) -> None:
    """Raises `LimitExceeded` if there are too many values, counted by commas and opening brackets.

    A list or object of n values has n - 1 commas and one bracket. Those inside strings are not counted.
    """
    most = 2 * (values + _ENVELOPE)  # an empty list or object is one value with a bracket of its own
    if _marks(raw) <= most:
        return
    if b"\\" in raw:
        raw = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    # each value and each name may be a string between two quotes
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
    parameters: dict[str, Any] = {}
    if query_string.count(b"&") >= _PARAMETERS:
        raise HttpError(HTTPStatus.BAD_REQUEST, f"the address has more than {_PARAMETERS} parameters")
    for name, value in parse_qsl(query_string.decode("latin-1"), keep_blank_values=True):
        if name in parameters:
            raise HttpError(HTTPStatus.BAD_REQUEST, f"`{name}` is given twice")
        if name in names:
            parameters[name] = value
    for name in ("variables", "extensions"):
        if parameters.get(name):
            parameters[name] = strict_json(parameters[name].encode(errors="replace"), f"`{name}`")
        else:
            parameters.pop(name, None)
    return parameters


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
    if query is None and document_id is None and extensions.get("persistedQuery") is None:
        raise HttpError(HTTPStatus.BAD_REQUEST, "`query` is missing; it must be a string")
    # some tools send an empty operation name if there is none
    return GraphQLRequest(query, get("variables") or {}, get("operationName") or None, extensions, document_id)
