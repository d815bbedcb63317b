import pytest

from gateway.sandbox.aws.responses import AwsFault
from gateway.sandbox.aws.sts_form import read_form, role_request


def test_a_form_becomes_a_request() -> None:
    form = {
        "Action": "AssumeRole",
        "Version": "2011-06-15",
        "RoleArn": "arn:aws:iam::222233334444:role/tenant",
        "RoleSessionName": "viewer@acme",
        "DurationSeconds": "900",
        "Policy": "{}",
        "ExternalId": "shared",
        "SourceIdentity": "acme",
        "Tags.member.1.Key": "TenantId",
        "Tags.member.1.Value": "acme",
        "Tags.member.2.Key": "GatewayRole",
        "Tags.member.2.Value": "viewer",
        "TransitiveTagKeys.member.1": "TenantId",
        "PolicyArns.member.1.arn": "arn:aws:iam::aws:policy/ReadOnlyAccess",
    }
    request = role_request(form)
    assert request.tags == (("TenantId", "acme"), ("GatewayRole", "viewer"))
    assert request.transitive_tag_keys == ("TenantId",)
    assert request.policy_arns == ("arn:aws:iam::aws:policy/ReadOnlyAccess",)
    assert (request.duration_seconds, request.policy, request.external_id) == (900, "{}", "shared")


@pytest.mark.parametrize("body", [b"Action=A&Action=B", b"Action", b"\xff=1", b"Action=%ff"])
def test_a_form_that_can_be_read_in_two_ways_is_refused(body: bytes) -> None:
    with pytest.raises(AwsFault) as refused:
        read_form(body)
    assert refused.value.name == "MalformedQueryString"


def test_an_empty_list_is_sent_as_a_name_without_a_value() -> None:
    request = role_request({"RoleArn": "arn", "RoleSessionName": "me", "Tags": "", "PolicyArns": ""})
    assert (request.tags, request.policy_arns) == ((), ())
    with pytest.raises(AwsFault, match="the parameter Tags"):
        role_request({"Tags": "TenantId"})


def test_an_empty_form_asks_for_nothing() -> None:
    assert read_form(b"") == {}
