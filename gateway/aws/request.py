"""How a call to DynamoDB is written as an HTTP request."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import orjson

from gateway import __version__
from gateway.aws.credentials import Credentials
from gateway.aws.errors import InvalidRequest
from gateway.aws.signer import Form, Signer
from gateway.aws.target import Target, endpoint

_CONTENT_TYPE = "application/x-amz-json-1.0"
_OPERATION = re.compile(r"[A-Z][A-Za-z]{1,60}")
# the member that makes a repeated request the same request: filled in where it is missing, as the SDKs do
_CLIENT_TOKENS = {
    "TransactWriteItems": "ClientRequestToken",
    "ExecuteTransaction": "ClientRequestToken",
    "ExportTableToPointInTime": "ClientToken",
    "ImportTable": "ClientToken",
    "StartBulkPutItems": "ClientToken",
}


@dataclass(frozen=True, slots=True)
class Draft:
    """The part of a request that is the same for every call of one operation at one target."""

    form: Form
    head: str


def draft(target: Target, operation: str) -> Draft:
    # INVARIANT: an operation is letters only, so that its header cannot be followed by another.
    if not _OPERATION.fullmatch(operation):
        raise InvalidRequest(f"not an operation: `{operation}`")
    form = Form(target.region, endpoint(target).authority, _CONTENT_TYPE, f"DynamoDB_20120810.{operation}")
    head = (
        f"POST / HTTP/1.1\r\nHost: {form.authority}\r\nContent-Type: {form.content_type}\r\n"
        f"X-Amz-Target: {form.operation}\r\nUser-Agent: tenant-graphql-gateway/{__version__}\r\n"
        # compression would cost more time than it saves next to AWS
        "Accept-Encoding: identity\r\n"
    )
    return Draft(form, head)


def payload(operation: str, body: Mapping[str, Any]) -> bytes:
    token = _CLIENT_TOKENS.get(operation)
    if token is not None and token not in body:
        body = {**body, token: str(uuid4())}
    try:
        return orjson.dumps(body, default=_plain)
    except orjson.JSONEncodeError as error:
        raise InvalidRequest("a request that cannot be written as json") from error


def written(draft: Draft, content: bytes, signer: Signer, credentials: Credentials, moment: float) -> bytes:
    """The bytes of one attempt, signed for `moment`."""
    signed = signer.headers(draft.form, credentials, content, moment)
    return f"{draft.head}{signed}Content-Length: {len(content)}\r\n\r\n".encode("ascii") + content


def _plain(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError
