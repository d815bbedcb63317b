"""Tokens become values, and no value can become more than a value."""

import pytest

from gateway.errors import ConfigurationError
from gateway.iam.language.errors import PolicyError
from gateway.iam.policies.deployment import LONGEST, TABLE, Deployment, render, render_text

ROLE = "arn:aws:iam::123456789012:role/path/gateway-tenant"
PLACE = Deployment.of_role(ROLE, "eu-west-1", "orders")


def test_the_arn_of_a_role_holds_its_partition_and_account() -> None:
    assert Deployment("aws", "eu-west-1", "123456789012", "orders", ROLE) == PLACE
    with pytest.raises(ConfigurationError, match="is not the ARN of a role"):
        Deployment.of_role("arn:aws:iam::123456789012:user/x", "eu-west-1", "orders")


def test_every_token_is_replaced_wherever_it_stands() -> None:
    document = {"Statement": [{"Resource": [TABLE], "Principal": {"AWS": "<tenant-role-arn>"}, "Limit": 3}]}
    assert render(document, PLACE) == {
        "Statement": [
            {
                "Resource": ["arn:aws:dynamodb:eu-west-1:123456789012:table/orders"],
                "Principal": {"AWS": ROLE},
                "Limit": 3,
            }
        ]
    }


@pytest.mark.parametrize("text", ["<gateway-role-arn>", "arn:<unknown>", "<table>/<tenant>"])
def test_a_token_without_a_value_is_refused(text: str) -> None:
    with pytest.raises(PolicyError, match="has no value for"):
        render_text(text, PLACE)


@pytest.mark.parametrize(
    "changed",
    [
        {"table": "*"},
        {"table": "orders/index/*"},
        {"table": "a" * 256},
        {"table": 'x", "y'},
        {"account": "12345"},
        {"account": "*"},
        {"region": "*"},
        {"region": "eu-west"},
        {"partition": "*"},
        {"partition": ""},
        {"tenant_role": "*"},
        {"tenant_role": "arn:aws:iam::123456789012:role/*"},
        {"gateway_role": "arn:aws:iam::123456789012:root"},
        {"table": "${aws:PrincipalTag/Table}"},
        {"table": "orders\n"},
    ],
)
def test_a_value_that_could_widen_a_policy_is_refused(changed: dict[str, str]) -> None:
    given = {"partition": "aws", "region": "eu-west-1", "account": "123456789012", "table": "orders", **changed}
    with pytest.raises(ConfigurationError, match="is not a valid value in a policy"):
        Deployment(**given)


def test_the_longest_names_are_names() -> None:
    assert len(LONGEST.table) == 255
    assert len(LONGEST.tenant_role.rpartition("/")[2]) == 64
