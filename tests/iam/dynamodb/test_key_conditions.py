"""Key conditions: found however they are written, refused when they do not pin the key."""

import pytest

from gateway.iam.dynamodb.errors import NotUnderstood
from gateway.iam.dynamodb.key_conditions import key_condition
from tests.iam.request_context import (
    LK,
    query,
)


@pytest.mark.parametrize(
    "condition",
    [
        "PK = :v",
        ":v = PK",
        "#pk=:v",
        "(PK = :v)",
        "((PK = :v))",
        "( PK\t=\n:v )\r\nand ( SK >= :w )",
        "SK < :w AND PK = :v",
        ":w <= SK AND :v = #pk",
        "SK between :w and :x And PK = :v",
        "PK = :v AND BEGINS_WITH (SK, :w)",
        "(PK = :v) AND (begins_with(SK,:w))",
        "(PK = :v AND SK = :w)",
    ],
)
def test_the_pinned_key_is_found_however_the_condition_is_written(condition: str) -> None:
    assert query(condition, ExpressionAttributeNames={"#pk": "PK"}).context[LK] == ("a#1",)


@pytest.mark.parametrize(
    "condition",
    [
        "",
        "   ",
        "SK = :v",
        "PK > :v",
        "PK <> :v",
        "begins_with(PK, :v)",
        "PK BETWEEN :v AND :w",
        "PK BETWEEN :v AND SK",
        "PK BETWEEN :v , :w",
        "PK IN (:v)",
        "PK = :v OR PK = :w",
        "NOT PK = :v",
        "PK = :v AND PK = :w",
        "PK = :v AND #pk = :w",
        "PK = :v AND PK > :w",
        "PK.x = :v",
        "PK[0] = :v",
        "PK = SK",
        "= :v",
        "PK = )",
        ":v = :v",
        "PK = :missing",
        "#missing = :v",
        "PK = :v AND",
        "PK = :v)",
        "(PK = :v",
        "PK = :v SK = :w",
        "begins_with(SK :w) AND PK = :v",
        "begins_with(:w, SK) AND PK = :v",
        "PK = ':v'",
        "PK = :v -- comment",
        "P\u212a = :v",
        "PK = :v AND size(SK) = :w",
        "(" * 40 + "PK = :v" + ")" * 40,
        "PK = :v AND " + "SK" * 4_096 + " = :w",
    ],
)
def test_a_condition_that_does_not_pin_the_key_is_not_understood(condition: str) -> None:
    with pytest.raises(NotUnderstood):
        query(condition, ExpressionAttributeNames={"#pk": "PK"})


def test_an_alias_is_looked_up_once() -> None:
    with pytest.raises(NotUnderstood, match="does not fix"):
        query("#a = :v", ExpressionAttributeNames={"#a": "#b", "#b": "PK"})


def test_a_comparison_is_read_from_either_side() -> None:
    condition = key_condition(":v = PK AND :w <= SK")
    assert condition.comparisons == (("PK", "=", (":v",)), ("SK", ">=", (":w",)))
    between = key_condition("PK = :v AND SK BETWEEN :w AND :x")
    assert between.comparisons[1] == ("SK", "BETWEEN", (":w", ":x"))
