from collections.abc import Callable

import pytest

from gateway.aws.wire.credentials import Credentials
from tests.sandbox.small import Small
from tests.sandbox.wire import Signed, dynamodb, error_name, send, signed

Spoil = Callable[[Signed], Signed]


def _header(name: str, change: Callable[[str], str]) -> Spoil:
    return lambda request: Signed({**request.headers, name: change(request.headers[name])}, request.body)


def _more(name: str, value: str) -> Spoil:
    return lambda request: Signed({**request.headers, name: value}, request.body)


SPOILED: dict[str, tuple[Spoil, str]] = {
    "no authorization": (
        lambda request: Signed({k: v for k, v in request.headers.items() if k != "Authorization"}, request.body),
        "MissingAuthenticationTokenException",
    ),
    "another scheme": (_more("Authorization", "Bearer abc"), "IncompleteSignatureException"),
    "another algorithm": (
        _header("Authorization", lambda text: text.replace("SHA256", "SHA512")),
        "IncompleteSignatureException",
    ),
    "no signature": (
        _header("Authorization", lambda text: text.replace("Signature=", "Sign=")),
        "IncompleteSignatureException",
    ),
    "short scope": (
        _header("Authorization", lambda text: text.replace("/aws4_request", "")),
        "IncompleteSignatureException",
    ),
    "no date": (_more("X-Amz-Date", "yesterday"), "IncompleteSignatureException"),
    "another day": (
        _header("X-Amz-Date", lambda text: "19990101" + text[8:]),
        "IncompleteSignatureException",
    ),
    "another moment": (_header("X-Amz-Date", lambda text: text[:9] + "000000Z"), "InvalidSignatureException"),
    "another body": (lambda request: Signed(request.headers, request.body + b" "), "InvalidSignatureException"),
    "another operation": (_more("X-Amz-Target", "DynamoDB_20120810.Scan"), "InvalidSignatureException"),
    "another signature": (
        _header("Authorization", lambda text: text[:-1] + ("0" if text[-1] != "0" else "1")),
        "InvalidSignatureException",
    ),
    "header signed but not sent": (
        _header("Authorization", lambda text: text.replace("SignedHeaders=", "SignedHeaders=absent;")),
        "InvalidSignatureException",
    ),
    "header signed twice": (
        _header("Authorization", lambda text: text.replace("SignedHeaders=", "SignedHeaders=host;")),
        "InvalidSignatureException",
    ),
    "amz header sent but not signed": (_more("X-Amz-Security-Token", ""), "InvalidSignatureException"),
}


@pytest.mark.parametrize("name", SPOILED)
async def test_a_request_that_was_changed_after_signing_is_refused(small: Small, name: str) -> None:
    spoil, expected = SPOILED[name]
    request = dynamodb(small.admin.credentials, "GetItem", {"TableName": "some-table"})
    answer = await send(small.app, spoil(request))
    assert (answer.status_code, error_name(answer)) == (400, expected)
    assert small.engine.called == []


async def test_a_header_that_is_sent_twice_is_refused(small: Small) -> None:
    names = ("DynamoDB_20120810.GetItem", "DynamoDB_20120810.Scan")
    # the signature is right: two headers are signed as one, with a comma between
    request = dynamodb(small.admin.credentials, ",".join(names), {})
    others = [(name, value) for name, value in request.headers.items() if name != "X-Amz-Target"]
    twice = [*others, *(("X-Amz-Target", name) for name in names)]
    answer = await send(small.app, Signed(twice, request.body))  # type: ignore[arg-type]  # httpx takes pairs too
    assert error_name(answer) == "IncompleteSignatureException"
    assert small.engine.called == []


async def test_another_secret_is_refused(small: Small) -> None:
    keys = Credentials(small.admin.credentials.access_key, "guessed")
    answer = await send(small.app, dynamodb(keys, "GetItem", {}))
    assert error_name(answer) == "InvalidSignatureException"
    assert "does not match the signature you provided" in answer.json()["message"]


@pytest.mark.parametrize(("skew", "accepted"), [(290, True), (-290, True), (310, False), (-310, False)])
async def test_a_signature_is_good_for_five_minutes(small: Small, skew: float, accepted: bool) -> None:
    small.skew = skew
    answer = await send(small.app, dynamodb(small.admin.credentials, "GetItem", {}))
    assert answer.status_code == (200 if accepted else 400)
    if not accepted:
        assert "Signature expired" in answer.text if skew > 0 else "Signature not yet current" in answer.text


async def test_spaces_in_headers_are_signed_as_aws_does(small: Small) -> None:
    headers = {"X-Amz-Target": "DynamoDB_20120810.GetItem", "X-Amz-Meta": "  two   spaces "}
    answer = await send(small.app, signed(small.admin.credentials, b"{}", headers))
    assert answer.status_code == 200
