"""Consistency tokens over HTTP: a request may send one, and the response to a mutation contains one."""

from collections.abc import Mapping
from typing import Any

from gateway.errors import BadUserInput
from gateway.graph.http.request import GraphQLRequest
from gateway.graph.http.responses import HttpResponse
from gateway.store.access import Access
from gateway.store.consistency_token import ConsistencyTokens

CONSISTENCY_HEADER = "x-consistency-token"
CONSISTENCY = "consistency"  # the name of the extension in requests and responses
SENT_TOKEN = CONSISTENCY_HEADER.encode()


def sent_token(headers: Mapping[bytes, bytes], request: GraphQLRequest) -> str | None:
    """Returns the token of the request; the header wins, because client libraries set it on every request."""
    if SENT_TOKEN in headers:
        return headers[SENT_TOKEN].decode("latin-1") or None
    extension = request.extensions.get(CONSISTENCY) if request.extensions else None
    if extension is None:
        return None
    token = extension.get("token") if isinstance(extension, Mapping) else None
    if token is not None and not isinstance(token, str):
        raise BadUserInput(f"`extensions.{CONSISTENCY}.token` must be a string")
    return token


def add_consistency(answer: HttpResponse, access: Access, tokens: ConsistencyTokens) -> None:
    """Adds the token of a mutation, and the lists that may not show its changes yet."""
    extension: dict[str, Any] = {}
    if access.wrote and access.own_writes is not None:
        extension["token"] = tokens.seal(access.session.tenant, access.subject, access.own_writes)
        answer.headers = (*answer.headers, (CONSISTENCY_HEADER, extension["token"]))
    if access.lagging:
        extension["mayLag"] = sorted(access.lagging)
    answer.content.setdefault("extensions", {})[CONSISTENCY] = extension
