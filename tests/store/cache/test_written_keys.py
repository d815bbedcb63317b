"""What a request writes is read from the request itself."""

from typing import Any

import pytest

from gateway.model.keys import ItemKey
from gateway.model.table import TableSpec
from gateway.store.cache.written_keys import Written, WrittenPlace, written
from gateway.store.key_ranges import KeyRange, exactly, starting_with

SPEC = TableSpec()
KEY = {"PK": {"S": "p"}, "SK": {"S": "s"}}
AT = ItemKey("p", "s")
HERE = WrittenPlace(None, "p", "s")


def put(**more: Any) -> dict[str, Any]:
    return {"Item": {**KEY, **more}}


def update(expression: str, names: dict[str, str], values: dict[str, Any]) -> dict[str, Any]:
    return {
        "Key": KEY,
        "UpdateExpression": expression,
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
    }


def one(operation: str, body: dict[str, Any]) -> Written:
    found = written(SPEC, operation, body)
    assert found is not None
    [write] = found
    return write


def test_a_put_shows_the_whole_item_and_all_its_places() -> None:
    body = put(GSI1PK={"S": "i"}, GSI1SK={"S": "j"}, GSI2PK={"S": "half"}, n={"N": "7"})
    assert one("PutItem", body) == Written(AT, (HERE, WrittenPlace("GSI1", "i", "j")), body["Item"])


@pytest.mark.parametrize("text", ["0", "7", "-7", "100", "0.5", "-0.05", "123.456", "9" * 38])
def test_numbers_that_are_read_as_they_are_written_are_exact(text: str) -> None:
    assert one("PutItem", put(n={"N": text})).row is not None


@pytest.mark.parametrize("text", ["1.50", "007", "-0", "1E2", "1e-7", "+1", "0.0", "0.0000001", "9" * 39])
@pytest.mark.parametrize("shape", ["plain", "list", "map", "set"])
def test_numbers_that_dynamodb_writes_in_its_own_way_are_not_exact(text: str, shape: str) -> None:
    value: dict[str, Any] = {"N": text}
    wrapped = {
        "plain": value,
        "list": {"L": [{"S": "x"}, value]},
        "map": {"M": {"N": {"S": "a field of that name"}, "n": value}},
        "set": {"NS": ["1", text]},
    }[shape]
    assert one("PutItem", put(n=wrapped)).row is None


def test_an_update_shows_only_what_changes() -> None:
    names, values = {"#v": "version", "#a": "title"}, {":v": {"N": "1"}, ":w": {"N": "2"}, ":a": {"S": "x"}}
    assert one("UpdateItem", update("SET #v = :w, #a = :a", names, values)) == Written(AT, (HERE,))


@pytest.mark.parametrize(
    ("expression", "place"),
    [
        ("SET #p = :p, #s = :s", WrittenPlace("GSI2", "new", "sort")),
        ("SET #p = :p", WrittenPlace("GSI2", "new", None)),
        ("SET #s = :s", WrittenPlace("GSI2", None, "sort")),
        ("SET #s = if_not_exists(#s, :s)", WrittenPlace("GSI2", None, None)),
        ("SET #t = :s REMOVE #other ADD #p :p", WrittenPlace("GSI2", None, None)),
        ("SET GSI2PK = :p", WrittenPlace("GSI2", None, None)),
    ],
)
def test_an_update_shows_where_on_an_index_the_item_comes(expression: str, place: WrittenPlace) -> None:
    names = {"#p": "GSI2PK", "#s": "GSI2SK", "#t": "title", "#other": "GSI1PK"}
    values = {":p": {"S": "new"}, ":s": {"S": "sort"}}
    assert one("UpdateItem", update(expression, names, values)).places == (HERE, place)


@pytest.mark.parametrize("expression", ["REMOVE #p, #s", "SET #t = :s REMOVE #p, #s", "REMOVE #p, #s SET #t = :s"])
def test_what_leaves_an_index_comes_nowhere_on_it(expression: str) -> None:
    names = {"#p": "GSI2PK", "#s": "GSI2SK", "#t": "title"}
    assert one("UpdateItem", update(expression, names, {":s": {"S": "x"}})).places == (HERE,)


def test_a_delete_shows_that_the_item_is_gone() -> None:
    assert one("DeleteItem", {"Key": KEY}) == Written(AT, gone=True)


def test_transactions_and_batches_are_their_members() -> None:
    members = [{"Put": put()}, {"ConditionCheck": {"Key": KEY}}, {"Delete": {"Key": KEY}}]
    found = written(SPEC, "TransactWriteItems", {"TransactItems": members})
    assert found == (Written(AT, (HERE,), put()["Item"]), Written(AT, gone=True))
    batch = {"RequestItems": {"app": [{"PutRequest": put()}, {"DeleteRequest": {"Key": KEY}}]}}
    assert written(SPEC, "BatchWriteItem", batch) == found


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("ExecuteTransaction", {}),
        ("PutItem", {}),
        ("PutItem", {"Item": {"PK": {"N": "1"}, "SK": {"S": "s"}}}),
        ("PutItem", {"Item": None}),
        ("TransactWriteItems", {"TransactItems": [{"Replace": {}}]}),
        ("BatchWriteItem", {"RequestItems": [1]}),
        ("UpdateItem", {"Key": KEY, "UpdateExpression": "SET #a = :a"}),
        ("UpdateItem", {"Key": KEY}),
    ],
)
def test_what_is_not_understood_is_said_to_be(operation: str, body: dict[str, Any]) -> None:
    assert written(SPEC, operation, body) is None


@pytest.mark.parametrize(
    ("place", "inside"),
    [
        (WrittenPlace("GSI1", "p", "b"), True),
        (WrittenPlace("GSI1", "p", None), True),
        (WrittenPlace("GSI1", None, "b"), True),
        (WrittenPlace("GSI1", None, None), True),
        (WrittenPlace("GSI1", "q", "b"), False),
        (WrittenPlace("GSI2", "p", "b"), False),
        (WrittenPlace(None, "p", "b"), False),
        (WrittenPlace("GSI1", "p", "a"), False),
        (WrittenPlace("GSI1", None, "d"), False),
    ],
)
def test_a_place_is_on_a_page_or_not(place: WrittenPlace, inside: bool) -> None:
    assert place.within("GSI1", "p", KeyRange("b", "c")) is inside


def test_ends_belong_to_a_page_and_open_ends_have_no_end() -> None:
    assert WrittenPlace(None, "p", "x").within(None, "p", KeyRange())
    assert WrittenPlace(None, "p", "x").within(None, "p", exactly("x"))
    assert WrittenPlace(None, "p", "ORDER#1").within(None, "p", starting_with("ORDER#"))
    assert not WrittenPlace(None, "p", "ORDERS").within(None, "p", starting_with("ORDER#"))
