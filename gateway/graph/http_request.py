"""GraphQL over HTTP, the way in: what a request must look like before anything else happens to it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request

JSON = "application/json"
GRAPHQL_JSON = "application/graphql-response+json"

_QUALITY = re.compile(r"q=(0(\.\d{0,3})?|1(\.0{0,3})?)")


class HttpError(Exception):
    """A request that is no GraphQL request; `message` is for the caller."""

    def __init__(self, status: HTTPStatus, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}


@dataclass(frozen=True, slots=True)
class GraphQLRequest:
    query: str
    variables: dict[str, Any] = field(default_factory=dict)
    operation_name: str | None = None
    extensions: dict[str, Any] = field(default_factory=dict)


def answer_type(accept: str | None) -> str:
    """The media type of the answer: the one the caller likes best, plain JSON where it does not say."""
    if not accept:
        return JSON
    weights = {JSON: 0.0, GRAPHQL_JSON: 0.0}
    for part in accept.split(","):
        name, *params = (word.strip().lower() for word in part.split(";"))
        quality = next((float(found[1]) for param in params if (found := _QUALITY.fullmatch(param))), 1.0)
        for known, weight in weights.items():
            if name in (known, "application/*", "*/*"):
                weights[known] = max(weight, quality)
    best = max(weights.values())
    if best == 0:
        raise HttpError(HTTPStatus.NOT_ACCEPTABLE, f"the answer is {GRAPHQL_JSON} or {JSON}; accept one of them")
    if weights[GRAPHQL_JSON] == weights[JSON]:
        # equal: what is named first, and plain JSON behind a wildcard, as old clients expect
        named = [name for name in (JSON, GRAPHQL_JSON) if name in accept]
        return min(named, key=accept.index) if named else JSON
    return max(weights, key=lambda name: weights[name])


async def read(request: Request, limit: int) -> GraphQLRequest:
    if request.method == "GET":
        return _request(_from_query(request))
    if request.method != "POST":
        raise HttpError(HTTPStatus.METHOD_NOT_ALLOWED, "GraphQL is asked by GET or POST", {"Allow": "GET, POST"})
    _check_content_type(request.headers.get("content-type", ""))
    body = await _body(request, limit)
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise HttpError(HTTPStatus.BAD_REQUEST, "the body is not valid JSON") from error
    if isinstance(content, list):
        raise HttpError(HTTPStatus.BAD_REQUEST, "batches are not supported; send one operation in a request")
    return _request(content)


def _check_content_type(text: str) -> None:
    name, _, params = text.partition(";")
    charset = params.strip().lower().removeprefix("charset=").strip('"') if params.strip() else "utf-8"
    if name.strip().lower() != JSON or charset not in ("utf-8", "utf8"):
        raise HttpError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"the body must be {JSON} in UTF-8")


async def _body(request: Request, limit: int) -> bytes:
    """The body, read only as far as it may be long."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit:
        raise _too_large(limit)
    chunks, size = [], 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                raise _too_large(limit)
            chunks.append(chunk)
    except ClientDisconnect as error:
        raise HttpError(HTTPStatus.BAD_REQUEST, "the body ended too early") from error
    return b"".join(chunks)


def _too_large(limit: int) -> HttpError:
    # the rest of the body is not read, so the connection cannot be used again
    message = f"the body is larger than {limit} bytes"
    return HttpError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message, {"Connection": "close"})


def _from_query(request: Request) -> dict[str, Any]:
    names = ("query", "operationName", "variables", "extensions")
    for name in names:
        if len(request.query_params.getlist(name)) > 1:
            raise HttpError(HTTPStatus.BAD_REQUEST, f"`{name}` is given twice")
    given: dict[str, Any] = {name: request.query_params[name] for name in names if name in request.query_params}
    for name in ("variables", "extensions"):
        if given.get(name):
            try:
                given[name] = orjson.loads(given[name])
            except orjson.JSONDecodeError as error:
                raise HttpError(HTTPStatus.BAD_REQUEST, f"`{name}` is not valid JSON") from error
        else:
            given.pop(name, None)
    if not given.get("operationName"):
        given.pop("operationName", None)
    return given


def _request(content: Any) -> GraphQLRequest:
    if not isinstance(content, dict):
        raise HttpError(HTTPStatus.BAD_REQUEST, "the body must be a JSON object")
    query, name = content.get("query"), content.get("operationName")
    if not isinstance(query, str) or not query.strip():
        raise HttpError(HTTPStatus.BAD_REQUEST, "`query` is missing; it must be a text")
    if name is not None and not isinstance(name, str):
        raise HttpError(HTTPStatus.BAD_REQUEST, "`operationName` must be a text")
    maps = {}
    for key in ("variables", "extensions"):
        value = content.get(key)
        if value is not None and not isinstance(value, dict):
            raise HttpError(HTTPStatus.BAD_REQUEST, f"`{key}` must be an object")
        maps[key] = value or {}
    return GraphQLRequest(query, maps["variables"], name, maps["extensions"])
