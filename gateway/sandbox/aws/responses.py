"""Responses in the formats of AWS: JSON for DynamoDB, XML for STS, errors in both."""

import json
import secrets
from xml.sax.saxutils import escape
from zlib import crc32

from starlette.responses import Response

from gateway.errors import Internal

_STS_NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/"
# the names that STS uses for errors that DynamoDB names differently
_STS_NAMES = {
    "UnrecognizedClientException": "InvalidClientTokenId",
    "InvalidSignatureException": "SignatureDoesNotMatch",
    "IncompleteSignatureException": "IncompleteSignature",
    "MissingAuthenticationTokenException": "MissingAuthenticationToken",
    "ExpiredTokenException": "ExpiredToken",
    "AccessDeniedException": "AccessDenied",
    "ValidationException": "ValidationError",
}
_FORBIDDEN = frozenset(_STS_NAMES) - {"IncompleteSignatureException", "ValidationException"}
_CORAL = "com.amazon.coral.service#"
_DYNAMODB = "com.amazonaws.dynamodb.v20120810#"
_OF_DYNAMODB = frozenset(
    (
        *("ResourceNotFoundException", "IdempotentParameterMismatchException", "InternalServerError"),
        *("LimitExceededException", "ExpiredIteratorException", "TrimmedDataAccessException"),
    )
)


class AwsFault(Internal):
    """An error response of AWS; `name` is DynamoDB's name for it."""

    def __init__(self, name: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.name = name
        self.status = status


def json_answer(status: int, body: bytes) -> Response:
    headers = {"x-amzn-RequestId": request_id(), "x-amz-crc32": str(crc32(body))}
    return Response(body, status, headers, media_type="application/x-amz-json-1.0")


def json_fault(fault: AwsFault) -> Response:
    space = _DYNAMODB if fault.name in _OF_DYNAMODB else _CORAL
    # errors of IAM have `Message`, those of DynamoDB itself `message`
    key = "Message" if fault.name == "AccessDeniedException" else "message"
    return json_answer(fault.status, json.dumps({"__type": space + fault.name, key: fault.message}).encode())


def xml_answer(action: str, result: str) -> Response:
    ending = f"<ResponseMetadata><RequestId>{request_id()}</RequestId></ResponseMetadata>"
    return _xml(200, f"{action}Response", f"<{action}Result>{result}</{action}Result>{ending}")


def xml_fault(fault: AwsFault) -> Response:
    status = 403 if fault.name in _FORBIDDEN else fault.status
    side = "Sender" if status < 500 else "Receiver"
    name = _STS_NAMES.get(fault.name, fault.name)
    error = f"<Type>{side}</Type><Code>{escape(name)}</Code><Message>{escape(fault.message)}</Message>"
    return _xml(status, "ErrorResponse", f"<Error>{error}</Error><RequestId>{request_id()}</RequestId>")


def element(name: str, text: str) -> str:
    return f"<{name}>{escape(text)}</{name}>"


def request_id() -> str:
    return secrets.token_hex(26).upper()


def _xml(status: int, root: str, content: str) -> Response:
    return Response(f'<{root} xmlns="{_STS_NAMESPACE}">{content}</{root}>', status, media_type="text/xml")
