"""The rules of STS, each at its bound and one beyond."""

import random
from dataclasses import replace
from typing import Any

import pytest

from gateway.iam.sts.assume_role import Invalid, RoleRequest, packed_percent, validate

ROLE = "arn:aws:iam::123456789012:role/tenant"
POLICY = '{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"dynamodb:GetItem","Resource":"*"}}'
GOOD = RoleRequest(ROLE, "gateway", policy=POLICY, tags=(("TenantId", "acme"),), transitive_tag_keys=("tenantid",))


def fault(chained: bool = False, inherited: dict[str, str] | None = None, **more: Any) -> Invalid | None:
    return validate(replace(GOOD, **more), chained=chained, inherited=inherited)


def padded(length: int) -> str:
    return POLICY + " " * (length - len(POLICY))


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"session_name": "ab"},
        {"session_name": "a" * 64},
        {"session_name": "a_+=,.@-Z9"},
        {"duration_seconds": 900},
        {"duration_seconds": 43_200},
        {"policy": None},
        {"policy": padded(2_048)},
        {"policy_arns": tuple(f"arn:aws:iam::aws:policy/P{n}" for n in range(10))},
        {"tags": tuple((f"k{n}", "v") for n in range(50)), "transitive_tag_keys": ()},
        {"tags": (("k" * 128, "v" * 256),), "transitive_tag_keys": ()},
        {"tags": (("Stra\u00dfe \u4e2d", "a b\u00a0c_.:/=+-@"),), "transitive_tag_keys": ()},
        {"tags": (("TenantId", ""),)},
        {"source_identity": "ab"},
        {"external_id": "a:/b" * 306},
    ],
)
def test_what_sts_takes(more: dict[str, Any]) -> None:
    assert fault(**more) is None


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"session_name": "a"}, "RoleSessionName"),
        ({"session_name": "a" * 65}, "RoleSessionName"),
        ({"session_name": "a b"}, "RoleSessionName"),
        ({"session_name": "acme\n"}, "RoleSessionName"),
        ({"session_name": "\u00e9t\u00e9"}, "RoleSessionName"),
        ({"role_arn": "tenant"}, "RoleArn"),
        ({"role_arn": "arn:aws:iam::1:r"}, "RoleArn"),
        ({"source_identity": "a"}, "SourceIdentity"),
        ({"source_identity": "a" * 65}, "SourceIdentity"),
        ({"source_identity": "a#b"}, "SourceIdentity"),
        ({"external_id": "a"}, "ExternalId"),
        ({"external_id": "a" * 1_225}, "ExternalId"),
        ({"external_id": "a b"}, "ExternalId"),
        ({"duration_seconds": 899}, "DurationSeconds"),
        ({"duration_seconds": 43_201}, "DurationSeconds"),
        ({"policy": padded(2_049)}, "2048"),
        ({"policy_arns": tuple(f"arn:aws:iam::aws:policy/P{n}" for n in range(11))}, "10 managed"),
        ({"policy_arns": ("ReadOnly",)}, "by its ARN"),
        ({"tags": tuple((f"k{n}", "v") for n in range(51)), "transitive_tag_keys": ()}, "50"),
        ({"tags": (("", "v"),), "transitive_tag_keys": ()}, "tag key"),
        ({"tags": (("k" * 129, "v"),), "transitive_tag_keys": ()}, "tag key"),
        ({"tags": (("k*", "v"),), "transitive_tag_keys": ()}, "tag key"),
        ({"tags": (("AWS:x", "v"),), "transitive_tag_keys": ()}, "begin with `aws:`"),
        ({"tags": (("k", "v" * 257),), "transitive_tag_keys": ()}, "tag value"),
    ],
)
def test_what_sts_refuses_as_invalid(more: dict[str, Any], word: str) -> None:
    found = fault(**more)
    assert found is not None
    assert found.code == "ValidationError"
    assert word in found.message


@pytest.mark.parametrize("char", [*"*?#$%&{}", '"', "'", "\\", "\n", "\x00", "\ud800"])
def test_a_tag_value_cannot_hold_what_has_power_in_a_policy(char: str) -> None:
    found = fault(tags=(("TenantId", f"a{char}"),))
    assert found is not None
    assert found.code == "ValidationError"


@pytest.mark.parametrize("policy", ["", "{}", "not json", "[]", POLICY.replace("Effect", "Affect"), '{"\u4e2d": 1}'])
def test_a_policy_that_does_not_parse_is_malformed(policy: str) -> None:
    found = fault(policy=policy)
    assert found is not None
    assert found.code == "MalformedPolicyDocument"


def test_chaining_ends_after_an_hour() -> None:
    assert fault(chained=True, duration_seconds=3_600) is None
    found = fault(chained=True, duration_seconds=3_601)
    assert found is not None
    assert "role chaining" in found.message


@pytest.mark.parametrize(
    ("more", "inherited"),
    [
        ({"tags": (("TenantId", "a"), ("tenantid", "b"))}, {}),
        ({"transitive_tag_keys": ("Other",)}, {}),
        ({}, {"TENANTID": "globex"}),
    ],
)
def test_tags_that_contradict_each_other_are_refused(more: dict[str, Any], inherited: dict[str, str]) -> None:
    found = fault(inherited=inherited, **more)
    assert found is not None
    assert found.code == "InvalidParameterValue"


def test_the_packed_size_grows_with_what_is_passed_and_has_an_end() -> None:
    noise = random.Random(7)
    tags = tuple((f"k{n}", "".join(noise.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=256))) for n in range(50))
    large = replace(GOOD, tags=tags, transitive_tag_keys=())
    assert 0 < packed_percent(GOOD) < 100 < packed_percent(large)
    found = validate(large, chained=False)
    assert found is not None
    assert found.code == "PackedPolicyTooLarge"


def test_an_external_id_is_not_shown() -> None:
    assert "s3cret" not in repr(replace(GOOD, external_id="s3cret"))
