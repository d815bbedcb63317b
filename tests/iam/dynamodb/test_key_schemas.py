"""Tables by name and by ARN, and nothing that could pass for another resource."""

from typing import Any

import pytest

from gateway.iam.dynamodb.errors import NotUnderstood
from gateway.iam.dynamodb.key_schemas import KeySchema, TableRegistry
from tests.iam.place import ORDERS, PLACE


def test_a_table_is_known_by_name_and_by_arn() -> None:
    assert PLACE.table("orders") == PLACE.table(ORDERS)
    assert PLACE.table("orders").arn == ORDERS


def test_another_partition_has_other_arns() -> None:
    china = TableRegistry("cn-north-1", "123456789012", "aws-cn", {"orders": KeySchema("PK")})
    assert china.table("orders").arn == "arn:aws-cn:dynamodb:cn-north-1:123456789012:table/orders"


@pytest.mark.parametrize("name", ["missing", ORDERS.replace("eu-", "us-"), "", None, 7, "a/b", "arn:aws:s3:::x"])
def test_an_unknown_table_is_not_understood(name: Any) -> None:
    with pytest.raises(NotUnderstood, match="not known here"):
        PLACE.table(name)


@pytest.mark.parametrize("name", ["ab", "a" * 256, "a/b", "a*b", "a b", "abc\n", "\u00e9t\u00e9", None, 7])
def test_a_name_that_could_forge_a_resource_is_refused(name: Any) -> None:
    with pytest.raises(NotUnderstood):
        PLACE.table_arn(name)
    with pytest.raises(NotUnderstood):
        PLACE.index_arn("orders", name)
    with pytest.raises(NotUnderstood):
        TableRegistry("eu-west-1", "123456789012", tables={name: KeySchema("PK")})
