from gateway.aws.wire.credentials import Credentials
from tests.sandbox.small import Small
from tests.sandbox.wire import Signed, dynamodb, error_name, send, sts


async def _refusal(small: Small, request: Signed) -> str:
    answer = await send(small.app, request)
    assert answer.status_code == 400
    assert small.engine.asked == []
    return error_name(answer)


async def test_an_unknown_key_is_refused(small: Small) -> None:
    request = dynamodb(Credentials("AKIAUNKNOWN", "secret"), "GetItem", {})
    assert await _refusal(small, request) == "UnrecognizedClientException"


async def test_a_session_works_until_it_ends(small: Small) -> None:
    session = small.session(seconds=200)
    assert (await send(small.app, dynamodb(session.credentials, "GetItem", {}))).status_code == 200
    small.engine.asked.clear()
    small.skew = 201
    assert await _refusal(small, dynamodb(session.credentials, "GetItem", {})) == "ExpiredTokenException"


async def test_a_session_key_without_its_token_is_nothing(small: Small) -> None:
    keys = small.session().credentials
    for token in (None, "another", small.session().credentials.session_token):
        request = dynamodb(Credentials(keys.access_key, keys.secret_key, token), "GetItem", {})
        assert await _refusal(small, request) == "UnrecognizedClientException"


async def test_a_lasting_key_takes_no_token(small: Small) -> None:
    keys = small.admin.credentials
    request = dynamodb(Credentials(keys.access_key, keys.secret_key, "token"), "GetItem", {})
    assert await _refusal(small, request) == "UnrecognizedClientException"


async def test_a_signature_for_another_region_is_refused(small: Small) -> None:
    request = dynamodb(small.admin.credentials, "GetItem", {}, region="us-east-1")
    assert await _refusal(small, request) == "InvalidSignatureException"


async def test_a_signature_for_another_api_is_refused(small: Small) -> None:
    request = dynamodb(small.admin.credentials, "GetItem", {}, api="sts")
    assert await _refusal(small, request) == "InvalidSignatureException"


async def test_sts_names_the_same_faults_in_its_own_way(small: Small) -> None:
    cases = {
        "InvalidClientTokenId": sts(Credentials("AKIAUNKNOWN", "secret"), Action="GetCallerIdentity"),
        "SignatureDoesNotMatch": sts(
            Credentials(small.admin.credentials.access_key, "guessed"), Action="GetCallerIdentity"
        ),
        "MissingAuthenticationToken": Signed({}, b"Action=GetCallerIdentity"),
    }
    for name, request in cases.items():
        answer = await send(small.app, request)
        assert (answer.status_code, f"<Code>{name}</Code>" in answer.text) == (403, True)
