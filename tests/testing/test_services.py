"""Tokens and the log of calls."""

from jose import jwt

from gateway.testing.memory import Memory
from gateway.testing.services import CallLog, issuer, settings, token
from tests.store.fixtures import MODEL, TABLE, session


def test_a_token_is_for_any_tenant_role_and_subject() -> None:
    claims = jwt.get_unverified_claims(token("umbrella", "support", "ada"))
    assert (claims["tenant"], claims["roles"], claims["sub"]) == ("umbrella", ["support"], "ada")
    assert claims["iss"] == issuer().issuer == settings().issuers[0].issuer


async def test_every_call_is_logged_and_passed_on() -> None:
    log = CallLog(Memory(MODEL.table, TABLE))
    names = {"#a": "thingId"}
    key = {"PK": {"S": "TENANT#acme#THING#1"}, "SK": {"S": "DETAILS"}}
    body = {"TableName": TABLE, "Key": key, "ConsistentRead": False, "ProjectionExpression": "#a"}
    here = session()
    answer = await log.call(
        "GetItem", {**body, "ExpressionAttributeNames": names}, credentials=here.credentials, target=here.tenancy.target
    )
    assert "Item" not in answer
    assert log.operations == ["GetItem"]
