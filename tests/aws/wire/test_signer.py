"""Our signatures are botocore's, whatever is signed."""

import random
import string
import sys
import time
from datetime import UTC, datetime

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotocoreCredentials

from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.endpoint import AwsTarget, endpoint
from gateway.aws.wire.signer import MOST_OPENINGS, Form, Signer

PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))


SIGNED = ("X-Amz-Date", "X-Amz-Security-Token", "Authorization")


def parsed(request: bytes, body: bytes) -> dict[str, str]:
    """The headers that sign a request."""
    head = request.removesuffix(body).decode("ascii")
    assert len(head) == len(request) - len(body)
    assert head.endswith(f"\r\nContent-Length: {len(body)}\r\n\r\n")
    lines = head.removesuffix("\r\n\r\n").split("\r\n")[1:]
    headers = dict(line.split(": ", 1) for line in lines)
    return {name: headers[name] for name in SIGNED if name in headers}


def by_botocore(url: str, region: str, form: Form, credentials: Credentials, body: bytes) -> dict[str, str]:
    headers = {"Content-Type": form.content_type}
    if form.operation is not None:
        headers["X-Amz-Target"] = form.operation
    request = AWSRequest("POST", url, headers=headers, data=body)
    signing = BotocoreCredentials(credentials.access_key, credentials.secret_key, credentials.session_token)
    SigV4Auth(signing, "dynamodb", region).add_auth(request)
    return {name: request.headers[name] for name in SIGNED if name in request.headers}


def text(chance: random.Random, letters: str, longest: int) -> str:
    return "".join(chance.choices(letters, k=chance.randint(1, longest)))


def some_url(chance: random.Random) -> str:
    host = chance.choice(
        [text(chance, string.ascii_lowercase, 20), "dynamodb.eu-west-1.amazonaws.com", "10.0.0.1", "[::1]"]
    )
    port = chance.choice(["", ":80", ":443", ":8000", f":{chance.randint(1, 65535)}"])
    return f"{chance.choice(['http', 'https'])}://{host}{port}{chance.choice(['', '/'])}"


def some_credentials(chance: random.Random) -> Credentials:
    # few access keys, so that the same one comes with several secrets and tokens
    token = chance.choice([None, "", text(chance, PRINTABLE, 900), " a   b ", "x/+=" * 200])
    return Credentials(
        chance.choice(["AKID", "A/K,ID", text(chance, PRINTABLE, 20)]), text(chance, PRINTABLE, 50), token
    )


def some_region(chance: random.Random) -> str:
    return chance.choice(["eu-west-1", "us-gov-east-1", "local", text(chance, string.ascii_lowercase + "-0", 12)])


def some_form(chance: random.Random, url: str) -> Form:
    content_type = chance.choice(["application/x-amz-json-1.0", "a  b", " x ", "application/json; charset=utf-8"])
    operation = f"DynamoDB_20120810.{text(chance, string.ascii_letters + ' .~', 20)}"
    named = operation if chance.random() < 0.8 else None
    return Form(endpoint(AwsTarget(url, "local")).authority, content_type, named)


def some_body(chance: random.Random) -> bytes:
    return chance.choice([b"", b"{}", chance.randbytes(chance.randint(0, 3000)), '{"é":"\\u0000😀"}'.encode()])


@pytest.mark.no_cover
def test_thousands_of_random_requests_are_signed_as_botocore_signs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(4)
    now = datetime.fromtimestamp(0, UTC)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda: now)
    signers: dict[str, Signer] = {}
    known: list[Credentials] = []
    for _ in range(3000):
        credentials = chance.choice(known) if known and chance.random() < 0.7 else some_credentials(chance)
        known = [*known[-20:], credentials]
        url, region = some_url(chance), some_region(chance)
        signer = signers.setdefault(region, Signer("dynamodb", region))
        form, body = some_form(chance, url), some_body(chance)
        moment = chance.choice([chance.uniform(0, 4e9), 1_772_409_600 + chance.uniform(-2, 2)])
        now = datetime.fromtimestamp(int(moment), UTC)
        signed = parsed(signer.request(form, credentials, body, moment), body)
        assert signed == by_botocore(url, region, form, credentials, body)


def test_credentials_that_differ_in_one_part_never_share_a_key() -> None:
    signer = Signer("dynamodb", "eu-west-1")
    form = Form("host", "application/x-amz-json-1.0", "DynamoDB_20120810.GetItem")
    variants = [
        Credentials("A", "secret", "token"),
        Credentials("A", "other", "token"),
        Credentials("A", "secret", "other"),
        Credentials("A", "secret"),
        Credentials("B", "secret", "token"),
    ]
    signed = {signer.request(form, credentials, b"{}", 1e9) for credentials in variants for _ in range(2)}
    assert len(signed) == len(variants)


def test_a_key_of_yesterday_is_not_used_today() -> None:
    form = Form("host", "application/x-amz-json-1.0", "DynamoDB_20120810.GetItem")
    credentials = Credentials("A", "secret")
    kept, fresh = Signer("dynamodb", "eu-west-1"), Signer("dynamodb", "eu-west-1")
    midnight = 1_772_409_600
    kept.request(form, credentials, b"{}", midnight - 1)
    assert kept.request(form, credentials, b"{}", midnight) == fresh.request(form, credentials, b"{}", midnight)


def test_a_key_is_derived_once_a_day_and_kept_by_the_credentials() -> None:
    form = Form("host", "application/x-amz-json-1.0", "DynamoDB_20120810.GetItem")
    credentials, signer = Credentials("A", "secret"), Signer("dynamodb", "eu-west-1")
    signer.request(form, credentials, b"{}", 1e9)
    first = credentials.signing_key
    signer.request(form, credentials, b"other", 1e9 + 1)
    assert credentials.signing_key is first
    signer.request(form, credentials, b"{}", 1e9 + 86_400)
    assert credentials.signing_key != first


def test_credentials_that_two_signers_use_are_never_signed_with_the_key_of_the_other() -> None:
    form = Form("host", "application/x-amz-json-1.0", None)
    shared = Credentials("A", "secret", "token")
    signers = [Signer("dynamodb", "eu-west-1"), Signer("sts", "eu-west-1")]
    for _ in range(2):
        for name, signer in zip(("dynamodb", "sts"), signers, strict=True):
            fresh = Signer(name, "eu-west-1").request(form, Credentials("A", "secret", "token"), b"{}", 1e9)
            assert signer.request(form, shared, b"{}", 1e9) == fresh


def test_a_kept_key_is_no_part_of_what_credentials_are_and_is_not_shown() -> None:
    form = Form("host", "application/x-amz-json-1.0", None)
    used, unused = Credentials("A", "secret"), Credentials("A", "secret")
    Signer("sts", "eu-west-1").request(form, used, b"{}", 1e9)
    assert (used, hash(used), repr(used)) == (unused, hash(unused), repr(unused))


def test_a_clock_moves_to_the_time_of_aws() -> None:
    signer = Signer("dynamodb", "eu-west-1")
    assert signer.correct(time.time() + 3600, signed_with=0.0)
    assert abs(signer.offset - 3600) < 60


def test_a_small_difference_is_no_reason() -> None:
    signer = Signer("dynamodb", "eu-west-1")
    assert not signer.correct(time.time() + 5, signed_with=0.0)
    assert signer.offset == 0.0


def test_an_answer_without_a_date_is_no_reason() -> None:
    assert not Signer("dynamodb", "eu-west-1").correct(None, signed_with=0.0)


def test_a_request_signed_before_another_call_corrected_the_clock_is_worth_another_attempt() -> None:
    signer = Signer("dynamodb", "eu-west-1")
    signer.offset = 3600.0
    assert signer.correct(time.time() + 3600, signed_with=0.0)
    assert signer.offset == 3600.0


def test_what_requests_share_is_written_once_a_second_for_each_form_and_credentials() -> None:
    signer, forms = Signer("dynamodb", "eu-west-1"), [Form("localhost", "application/json", name) for name in "AB"]
    tenants = [Credentials("AKID", "secret", token) for token in ("one", "two")]
    signed = {}
    for body in (b"{}", b"[]"):
        for form in forms:
            for number, tenant in enumerate(tenants):
                request = signer.request(form, tenant, body, 1_000.0)
                alone = Signer("dynamodb", "eu-west-1").request(form, tenant, body, 1_000.9)
                assert request == alone
                signed[form.operation, number, body] = parsed(request, body)["Authorization"]
    assert len(set(signed.values())) == len(signed)
    assert parsed(signer.request(forms[0], tenants[0], b"{}", 1_001.0), b"{}")["X-Amz-Date"] == "19700101T001641Z"


def test_credentials_are_not_kept_longer_than_a_second_of_requests_and_not_without_bound() -> None:
    signer, form = Signer("dynamodb", "eu-west-1"), Form("localhost", "application/json", "Query")
    first = Credentials("AKID", "secret", "first")
    held = sys.getrefcount(first)
    signer.request(form, first, b"", 1_000.0)
    assert sys.getrefcount(first) == held + 1
    signer.request(form, Credentials("AKID", "secret", "next"), b"", 1_001.0)
    assert sys.getrefcount(first) == held
    signer.request(form, first, b"", 1_001.0)
    for number in range(MOST_OPENINGS):
        signer.request(form, Credentials("AKID", "secret", f"token-{number}"), b"", 1_001.0)
    assert sys.getrefcount(first) == held
