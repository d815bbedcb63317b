import json

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.sandbox.aws.engine import EngineRefused, EngineResponse, Forwarded, call_engine
from gateway.sandbox.aws.responses import AwsFault
from gateway.sandbox.server import free_port
from tests.sandbox.wire import Recorded, listening, serving


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (
            EngineResponse(400, b'{"__type": "a.b#ResourceInUseException", "message": "exists"}'),
            "ResourceInUseException",
        ),
        (EngineResponse(400, b'{"__type": "AccessDeniedException", "Message": "no"}'), "AccessDeniedException"),
        (EngineResponse(200, b"<html>"), "NotDynamoDB"),
        (EngineResponse(200, b"[]"), ""),
    ],
)
async def test_an_answer_that_is_no_result_raises(answer: EngineResponse, name: str) -> None:
    with pytest.raises(EngineRefused) as refused:
        await call_engine(Recorded(answer), "CreateTable", {})
    assert refused.value.name == name


async def test_a_result_is_returned() -> None:
    engine = Recorded(EngineResponse(200, b'{"TableNames": []}'))
    assert await call_engine(engine, "ListTables", {"Limit": 1}) == {"TableNames": []}
    assert engine.called == [("DynamoDB_20120810.ListTables", b'{"Limit": 1}')]


async def _engine(request: Request) -> Response:
    """Says what it was asked, and by whom."""
    said = {
        "target": request.headers["x-amz-target"],
        "signed": request.headers["authorization"].partition(",")[0],
        "body": json.loads(await request.body()),
    }
    return JSONResponse(said, 400 if said["target"].endswith("Fail") else 200)


async def test_a_request_is_signed_again_for_the_other_engine() -> None:
    with listening() as (found, url), serving(Starlette(routes=[Route("/", _engine, methods=["POST"])]), found):
        engine = Forwarded(url, "eu-west-1")
        answer = await engine.call("DynamoDB_20120810.GetItem", b'{"TableName": "t"}')
        failed = await engine.call("DynamoDB_20120810.Fail", b"{}")
        await engine.close()
    said = json.loads(answer.body)
    assert (said["target"], said["body"]) == ("DynamoDB_20120810.GetItem", {"TableName": "t"})
    assert said["signed"].startswith("AWS4-HMAC-SHA256 Credential=sandbox/")
    assert failed.status == 400


async def test_an_engine_that_is_not_there_is_named() -> None:
    url = f"http://127.0.0.1:{free_port(0)}"
    engine = Forwarded(url, "eu-west-1")
    with pytest.raises(AwsFault, match=f"engine at {url}/ does not respond") as refused:
        await engine.call("DynamoDB_20120810.GetItem", b"{}")
    await engine.close()
    assert refused.value.status == 503
