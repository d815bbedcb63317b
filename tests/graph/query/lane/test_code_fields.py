"""Fields with code inside a lane: which are columns of the rows, which are filled in later, and when it falls back."""

from functools import cache
from typing import Any

import orjson
import pytest

from gateway.graph.query.lane.code_fields import is_column, refused_attribute
from gateway.graph.query.lane.fallback import Reason
from gateway.graph.query.lane.lane import LaneRules
from gateway.graph.query.tree import CodeField
from gateway.model.code import Computed, Loaded
from gateway.model.types import Integer, Text
from tests.graph.fixtures import MemoryEndpoint, ServedModel
from tests.graph.query.coded_shop import calls, coded_model, coded_shop, served_model


def field(api: MemoryEndpoint, text: str) -> CodeField:
    """The only field of a user."""
    document = api.endpoint.documents.get(f'{{ user(userId: "u-1001") {{ {text} }} }}')
    operation = document.operation(None)
    assert operation is not None
    [(item, _)] = operation.variant({}).tree.items
    [found] = item.code
    return found


@pytest.mark.parametrize(
    ("text", "denied", "column"),
    [
        ("initials", set(), True),
        ("initials", {"name"}, True),
        ("card { title }", set(), False),
        ("card { title }", {"name"}, True),
        ("score(factor: 1)", set(), False),
        ("score(factor: 1)", {"userId"}, True),
    ],
)
def test_what_the_rows_alone_decide_is_a_column(text: str, denied: set[str], column: bool) -> None:
    found = field(MemoryEndpoint(served=coded_shop()), text)
    assert is_column(found, frozenset(denied)) is column
    assert refused_attribute(found, frozenset(denied)) == (min(denied) if denied else None)


async def answer_for_user(api: MemoryEndpoint, fields: str, token: str = "acme/viewer") -> Any:
    return (await api.post(f'{{ user(userId: "u-1003") {{ userId {fields} }} }}', token=token)).json()


async def test_a_failure_leaves_the_query_to_the_reference_which_reads_and_loads_nothing_again() -> None:
    api = MemoryEndpoint(served=coded_shop())
    calls.clear()
    answer = await answer_for_user(api, "fragile score(factor: 3)")
    assert answer["data"]["user"] == {"userId": "u-1003", "fragile": None, "score": 18}
    assert api.lanes == {Reason.CODE: 1}
    assert api.calls == ["GetItem"]
    assert len(calls) <= 1


async def test_what_the_code_of_a_field_has_read_is_not_read_again_after_a_fallback() -> None:
    """The lane fails before it reads the stocks; the code of `inStock` has read them already."""
    stock = "stock { available productId updatedAt version }"
    text = f'{{ order(orderId: "o-1006") {{ inStock user {{ fragile }} lines {{ product {{ {stock} }} }} }} }}'
    lane, plain = (
        MemoryEndpoint(served=coded_shop()),
        MemoryEndpoint(served=coded_shop(), lane_rules=LaneRules(uses=1_000)),
    )
    for api in (lane, plain):
        assert "errors" in (await api.post(text)).json()
    assert lane.lanes == {Reason.CODE: 1}
    assert _stock_reads(lane) == _stock_reads(plain) == 1


def _stock_reads(api: MemoryEndpoint) -> int:
    return sum('"STOCK"' in str(orjson.dumps(body)) for _, body in api.memory.sent)


async def test_a_list_up_to_now_is_not_read_again_after_a_fallback() -> None:
    """It ends at the same time for the lane and for the reference executor, so that their calls are equal."""
    failing_late = 'order(orderId: "o-1006") { lines { order { user { fragile } } } }'
    text = f'{{ {failing_late} device(deviceId: "d-1001") {{ readings {{ nodes {{ deviceId }} }} }} }}'
    lane, plain = (
        MemoryEndpoint(served=coded_shop()),
        MemoryEndpoint(served=coded_shop(), lane_rules=LaneRules(uses=1_000)),
    )
    for api in (lane, plain):
        assert "errors" in (await api.post(text)).json()
    assert lane.lanes == {Reason.CODE: 1}
    assert plain.lanes == {"reference": 1}
    assert lane.calls.count("Query") == plain.calls.count("Query") > 1


loaded: list[Any] = []  # the rows of each load of `secret` since it was cleared


async def _load_secret(reader: Any, rows: list[Any]) -> list[Any]:
    loaded.append(rows)
    return [1 for _ in rows]


@cache
def more_fields() -> ServedModel:
    """Two that are required and always null, and one that needs a personal attribute."""
    required = (
        Computed("length", Integer(), "", True, needs=("createdAt",), run=lambda values: None),
        Computed("shown", Text(), "", True, needs=("name",), run=lambda values: None),
    )
    secret = Loaded("secret", Integer(), "", needs=("userId", "email"), load=_load_secret)
    return served_model(coded_model(more={"User": {"computed": required, "loaded": (secret,)}}))


async def test_a_required_field_that_is_refused_or_null_takes_its_item_along() -> None:
    api = MemoryEndpoint(served=more_fields())
    assert (await answer_for_user(api, "length"))["data"] == {"user": None}
    assert (await answer_for_user(api, "shown"))["data"]["user"]["shown"] is None, (
        "what needs personal attributes may be null"
    )


async def test_a_refused_field_is_not_loaded() -> None:
    api = MemoryEndpoint(served=more_fields())
    loaded.clear()
    answer = await answer_for_user(api, "secret", "acme/support")
    assert answer["data"]["user"] == {"userId": "u-1003", "secret": None}
    assert answer["errors"][0]["message"] == "the role `support` may not read `email`"
    assert (api.lanes, loaded) == ({"lane": 1}, [])
