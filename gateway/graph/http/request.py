"""GraphQL over HTTP, the way in: what a request must look like before anything else happens to it."""

import re
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import orjson
from starlette.requests import Request

from gateway.graph.http.body import read_body
from gateway.graph.http.http_error import HttpError

JSON = "application/json"
GRAPHQL_JSON = "application/graphql-response+json"

# the ways in which clients name a document that was stored before
DOCUMENT_IDS = ("documentId", "id")

_QUALITY = re.compile(r"q=(0(\.\d{0,3})?|1(\.0{0,3})?)")


@dataclass(frozen=True, slots=True)
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


async def read(request: Request, limit: int) -> GraphQLRequest:
    if request.method == "GET":
        return _request(_from_query(request))
    if request.method != "POST":
        raise HttpError(HTTPStatus.METHOD_NOT_ALLOWED, "GraphQL is asked by GET or POST", {"Allow": "GET, POST"})
    _check_content_type(request.headers.get("content-type", ""))
    body = await read_body(request, limit)
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise HttpError(HTTPStatus.BAD_REQUEST, "the body is not valid JSON") from error
    if isinstance(content, list):
        raise HttpError(HTTPStatus.BAD_REQUEST, "batches are not supported; send one operation in a request")
    return _request(content)


def _check_content_type(text: str) -> None:
    name, *params = (word.strip().lower() for word in text.split(";"))
    charsets = {param.removeprefix("charset=").strip('"') for param in params if param.startswith("charset=")}
    if name != JSON or not charsets <= {"utf-8", "utf8"}:
        raise HttpError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"the body must be {JSON} in UTF-8")


def _from_query(request: Request) -> dict[str, Any]:
    names = ("query", *DOCUMENT_IDS, "operationName", "variables", "extensions")
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
    return given


def _request(content: Any) -> GraphQLRequest:
    if not isinstance(content, dict):
        raise HttpError(HTTPStatus.BAD_REQUEST, "the body must be a JSON object")
    texts = {}
    for key in ("query", *DOCUMENT_IDS, "operationName"):
        value = content.get(key)
        if value is not None and not isinstance(value, str):
            raise HttpError(HTTPStatus.BAD_REQUEST, f"`{key}` must be a text")
        texts[key] = value
    maps = {}
    for key in ("variables", "extensions"):
        value = content.get(key)
        if value is not None and not isinstance(value, dict):
            raise HttpError(HTTPStatus.BAD_REQUEST, f"`{key}` must be an object")
        maps[key] = value or {}
    query = texts["query"] if texts["query"] and not texts["query"].isspace() else None
    document_id = texts["documentId"] or texts["id"]
    if query is None and document_id is None and "persistedQuery" not in maps["extensions"]:
        raise HttpError(HTTPStatus.BAD_REQUEST, "`query` is missing; it must be a text")
    # some tools send an empty name where there is none
    return GraphQLRequest(query, maps["variables"], texts["operationName"] or None, maps["extensions"], document_id)
