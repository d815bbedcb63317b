"""What docs/testing-policies.md promises: a test of one's own policies, with one's own table."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gateway.sandbox.iam_sandbox import IamSandbox

POLICY: dict[str, Any] = {
    "Version": "2012-10-17",
    "Statement": {
        "Effect": "Allow",
        "Action": ["dynamodb:GetItem", "dynamodb:PutItem"],
        "Resource": "*",
        "Condition": {
            "ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:PrincipalTag/Customer}"]},
            "Null": {"dynamodb:LeadingKeys": "false"},
        },
    },
}


def _make_notes(iam_sandbox: IamSandbox) -> None:
    iam_sandbox.client("dynamodb", iam_sandbox.admin).create_table(
        TableName="notes",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "customer", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "customer", "AttributeType": "S"}],
    )


def test_a_customer_reads_only_its_own_items(iam_sandbox: IamSandbox) -> None:
    _make_notes(iam_sandbox)
    role = iam_sandbox.role("customer", POLICY)
    client = iam_sandbox.client("dynamodb", iam_sandbox.assume(role, tags={"Customer": "a"}))
    client.put_item(TableName="notes", Item={"customer": {"S": "a"}, "text": {"S": "mine"}})
    assert client.get_item(TableName="notes", Key={"customer": {"S": "a"}})["Item"]["text"] == {"S": "mine"}
    with pytest.raises(client.exceptions.ClientError, match="AccessDenied"):
        client.get_item(TableName="notes", Key={"customer": {"S": "b"}})


def test_a_broken_policy_is_found_here_and_not_in_production(iam_sandbox: IamSandbox) -> None:
    _make_notes(iam_sandbox)
    statement = {key: value for key, value in POLICY["Statement"].items() if key != "Condition"}
    role = iam_sandbox.role("customer", {**POLICY, "Statement": statement})
    client = iam_sandbox.client("dynamodb", iam_sandbox.assume(role, tags={"Customer": "a"}))
    assert "Item" not in client.get_item(TableName="notes", Key={"customer": {"S": "b"}})


def test_the_example_of_the_documentation_works(iam_sandbox: IamSandbox) -> None:
    page = Path(__file__).parents[2].joinpath("docs", "testing-policies.md").read_text()
    example, parts = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {"pytest": pytest}
    exec(parts + example, names)  # noqa: S102  # our own page
    names["test_a_customer_reads_only_its_own_notes"](iam_sandbox)


def test_each_test_starts_with_nothing(iam_sandbox: IamSandbox) -> None:
    assert iam_sandbox.client("dynamodb", iam_sandbox.admin).list_tables()["TableNames"] == []


def test_boundary_session_policy_and_trust_count_too(iam_sandbox: IamSandbox) -> None:
    _make_notes(iam_sandbox)
    allowed = {"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": iam_sandbox.table_arn("notes")}
    reads = json.dumps({"Version": "2012-10-17", "Statement": allowed})
    own = {"customer": {"S": "a"}}
    bounded = iam_sandbox.role("bounded", POLICY, boundary=reads)
    plain = iam_sandbox.role("plain", POLICY)
    for session in (
        iam_sandbox.assume(bounded, tags={"Customer": "a"}),
        iam_sandbox.assume(plain, tags={"Customer": "a"}, policy=reads),
    ):
        client = iam_sandbox.client("dynamodb", session)
        client.get_item(TableName="notes", Key=own)
        with pytest.raises(ClientError, match="AccessDenied"):
            client.put_item(TableName="notes", Item=own)
    somebody = {"AWS": f"arn:aws:iam::{iam_sandbox.account}:role/somebody-else"}
    trusts = {"Effect": "Allow", "Principal": somebody, "Action": "sts:AssumeRole"}
    closed = iam_sandbox.role("closed", POLICY, trusts={"Version": "2012-10-17", "Statement": trusts})
    with pytest.raises(ClientError, match="AccessDenied"):
        iam_sandbox.assume(closed, tags={})
