"""Consistency tokens over HTTP: a request may send one, and a change is answered with one."""

from collections.abc import Mapping
from typing import Any

from gateway.errors import BadUserInput
from gateway.graph.http.request import GraphQLRequest
from gateway.graph.http.responses import HttpResponse
from gateway.store.access import Access
from gateway.store.consistency_token import ConsistencyTokens

CONSISTENCY_HEADER = "x-consistency-token"
CONSISTENCY = "consistency"  # the extension of requests and answers
SENT_TOKEN = CONSISTENCY_HEADER.encode()


def sent_token(headers: Mapping[bytes, bytes], asked: GraphQLRequest) -> str | None:
    """The header counts more: a client library sets it for every request."""
    if SENT_TOKEN in headers:
        return headers[SENT_TOKEN].decode("latin-1") or None
    given = asked.extensions.get(CONSISTENCY) if asked.extensions else None
    if given is None:
        return None
    token = given.get("token") if isinstance(given, Mapping) else None
    if token is not None and not isinstance(token, str):
        raise BadUserInput(f"`extensions.{CONSISTENCY}.token` must be a string")
    return token


def add_consistency(answer: HttpResponse, access: Access, tokens: ConsistencyTokens) -> None:
    """What a change is seen by, and which lists may not show it yet."""
    told: dict[str, Any] = {}
    if access.wrote and access.own_writes is not None:
        told["token"] = tokens.seal(access.session.tenant, access.subject, access.own_writes)
        answer.headers = (*answer.headers, (CONSISTENCY_HEADER, told["token"]))
    if access.lagging:
        told["mayLag"] = sorted(access.lagging)
    answer.content.setdefault("extensions", {})[CONSISTENCY] = told
