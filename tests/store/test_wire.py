"""Plans as the requests that AWS documents."""

from typing import Any

import pytest

from gateway.model.keys import ItemKey
from gateway.model.table import Index
from gateway.store import wire
from gateway.store.key_ranges import KeyRange, starting_with
from gateway.store.plan import QueryPartition
from tests.store.fixtures import ACME, MODEL

SPEC = MODEL.table
NAMES = ("PK", "SK", "name", "status")
KEY = ItemKey("TENANT#acme#THING#1", "DETAILS")
GSI1 = Index("GSI1", "GSI1PK", "GSI1SK")


def plan(bounds: KeyRange, index: Index | None = None, strong: bool = False) -> QueryPartition:
    return QueryPartition(ACME, index, "TENANT#acme#P", bounds, True, 5, frozenset(), strong)


def test_a_get_names_every_attribute_by_an_alias() -> None:
    assert wire.get_item(SPEC, "app", KEY, NAMES, True) == {
        "TableName": "app",
        "Key": {"PK": {"S": KEY.pk}, "SK": {"S": KEY.sk}},
        "ProjectionExpression": "#0,#1,#2,#3",
        "ExpressionAttributeNames": {"#0": "PK", "#1": "SK", "#2": "name", "#3": "status"},
        "ConsistentRead": True,
        "ReturnConsumedCapacity": "TOTAL",
    }


def test_a_batch_get_is_of_one_table() -> None:
    body = wire.batch_get_item("app", [wire.key_of(SPEC, KEY)], ("PK",), False)
    assert body == {
        "RequestItems": {
            "app": {
                "Keys": [{"PK": {"S": KEY.pk}, "SK": {"S": KEY.sk}}],
                "ProjectionExpression": "#0",
                "ExpressionAttributeNames": {"#0": "PK"},
                "ConsistentRead": False,
            }
        },
        "ReturnConsumedCapacity": "TOTAL",
    }


@pytest.mark.parametrize(
    ("bounds", "condition", "values"),
    [
        (KeyRange(), "", {}),
        (starting_with("A#"), " AND begins_with(#sk, :low)", {":low": "A#"}),
        (KeyRange("a"), " AND #sk >= :low", {":low": "a"}),
        (KeyRange(None, "z"), " AND #sk <= :high", {":high": "z"}),
        (KeyRange("a", "z"), " AND #sk BETWEEN :low AND :high", {":low": "a", ":high": "z"}),
    ],
)
def test_a_query_has_the_condition_of_its_bounds(bounds: KeyRange, condition: str, values: dict[str, str]) -> None:
    body = wire.query(SPEC, "app", plan(bounds), ("PK",), 5)
    assert body["KeyConditionExpression"] == f"#pk = :pk{condition}"
    assert body["ExpressionAttributeValues"] == {
        ":pk": {"S": "TENANT#acme#P"},
        **{name: {"S": text} for name, text in values.items()},
    }
    # an alias that no expression uses is a mistake to DynamoDB
    assert ("#sk" in body["ExpressionAttributeNames"]) is ("#sk" in condition)


def test_a_query_of_the_table_says_how_consistently_it_reads() -> None:
    assert wire.query(SPEC, "app", plan(KeyRange(), strong=True), NAMES, 5)["ConsistentRead"] is True
    assert wire.query(SPEC, "app", plan(KeyRange()), NAMES, 5)["ConsistentRead"] is False


def test_a_query_of_an_index_uses_its_keys_and_no_consistent_read() -> None:
    body = wire.query(SPEC, "app", plan(KeyRange("a"), GSI1), ("PK",), 5)
    assert body["IndexName"] == "GSI1"
    assert body["ExpressionAttributeNames"] == {"#0": "PK", "#pk": "GSI1PK", "#sk": "GSI1SK"}
    assert "ConsistentRead" not in body


def test_a_page_has_its_limit_and_direction() -> None:
    body = wire.query(SPEC, "app", plan(KeyRange()), NAMES, 5)
    assert (body["Limit"], body["ScanIndexForward"]) == (5, True)
    assert wire.query(SPEC, "app", plan(KeyRange()), NAMES, 2**40)["Limit"] == 1_000


def test_one_query_does_not_change_the_aliases_of_the_next() -> None:
    first: dict[str, Any] = wire.query(SPEC, "app", plan(KeyRange("a")), NAMES, 5)
    assert "#pk" in first["ExpressionAttributeNames"]
    assert wire.projection(NAMES) == ("#0,#1,#2,#3", {f"#{n}": name for n, name in enumerate(NAMES)})
