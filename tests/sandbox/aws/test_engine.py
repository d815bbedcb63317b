import pytest

from gateway.sandbox.aws.engine import EngineRefused, EngineResponse, ask
from tests.sandbox.wire import Recorded


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
        await ask(Recorded(answer), "CreateTable", {})
    assert refused.value.name == name


async def test_a_result_is_returned() -> None:
    engine = Recorded(EngineResponse(200, b'{"TableNames": []}'))
    assert await ask(engine, "ListTables", {"Limit": 1}) == {"TableNames": []}
    assert engine.asked == [("DynamoDB_20120810.ListTables", b'{"Limit": 1}')]
