"""The statements that policies are made of; each says one thing, so that an auditor can tick it off."""

from collections.abc import Sequence
from typing import Any, Final

from gateway.iam.dynamodb.condition_keys import LEADING_KEYS, PRINCIPAL_TENANT
from gateway.iam.policies.deployment import KEYS
from gateway.iam.policies.roles import ITEM_ACTIONS
from gateway.model.tenant import TenantId, partition

Clause = dict[str, Any]

DECRYPT: Final = "kms:Decrypt"

# The prefix is written by the model's one function; the variable stands where an id does.
_PREFIX: Final = partition(TenantId(f"${{{PRINCIPAL_TENANT}}}"), "")
OWN_KEYS: Final = (_PREFIX.removesuffix("#"), f"{_PREFIX}*")
"""A pair, because `TENANT#a*` would also match the partitions of a tenant `ab`."""

NEVER: Final[dict[str, tuple[str, ...]]] = {
    "NeverWholeTable": ("Scan", "PartiQL*", "SearchVectors"),
    "NeverStreams": ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams", "*KinesisStreamingDestination"),
    "NeverCopies": ("*Backup*", "*Export*", "*Import*", "Restore*", "*Bulk*"),
    "NeverPolicies": ("*ResourcePolicy", "ListTagsOfResource", "TagResource", "UntagResource"),
    "NeverAdministration": (
        *("CreateTable", "DeleteTable", "DescribeTable", "ListTables", "UpdateTable", "*GlobalTable*"),
        *("*TableReplica*", "*TimeToLive", "*ContributorInsights", "DescribeLimits", "DescribeEndpoints"),
    ),
}
"""Actions that LeadingKeys cannot keep apart, or that have no place in a request; no pattern matches a granted one."""


def named(*actions: str) -> list[str]:
    return [f"dynamodb:{action}" for action in actions]


def own_rows() -> Clause:
    """Every partition key of the request is the tenant's own, there is at least one, and there is a tenant."""
    return {
        "ForAllValues:StringLike": {LEADING_KEYS: list(OWN_KEYS)},
        "Null": {LEADING_KEYS: "false", PRINCIPAL_TENANT: "false"},
    }


def allow(sid: str, actions: Sequence[str], resources: list[str] | str, condition: Clause) -> Clause:
    return {
        "Sid": sid,
        "Effect": "Allow",
        "Action": list(actions),
        "Resource": resources,
        "Condition": condition,
    }


def deny(sid: str, actions: Sequence[str], condition: Clause | None = None) -> Clause:
    """On every resource: a denial has no reason to be narrow."""
    clause = {"Sid": sid, "Effect": "Deny", "Action": list(actions), "Resource": "*"}
    return clause if condition is None else {**clause, "Condition": condition}


def table_key() -> Clause:
    """Where the table has a key of the customer, DynamoDB decrypts it in the name of whoever reads the table."""
    condition = {
        "StringLike": {"kms:ViaService": "dynamodb.<region>.*"},
        "StringEquals": {"kms:EncryptionContext:aws:dynamodb:tableName": "<table>"},
    }
    return allow("TableKey", [DECRYPT], [KEYS], condition)


def any_table_key() -> Clause:
    return allow("TableKey", [DECRYPT], "*", {"StringLike": {"kms:ViaService": "dynamodb.*"}})


def nothing_else(actions: Sequence[str]) -> Clause:
    """Denies by complement, so that an action that AWS adds later is denied, too."""
    return {"Sid": "NothingElse", "Effect": "Deny", "NotAction": [*actions, DECRYPT], "Resource": "*"}


def never() -> list[Clause]:
    """Every action of the second line, and three conditions that no further grant can lift."""
    foreign = {"ForAnyValue:StringNotLike": {LEADING_KEYS: list(OWN_KEYS)}}
    return [
        deny("NeverForeignRows", named("*"), foreign),
        deny("NeverWithoutKey", named(*ITEM_ACTIONS), {"Null": {LEADING_KEYS: "true"}}),
        deny("NeverWithoutTenant", named("*"), {"Null": {PRINCIPAL_TENANT: "true"}}),
        *(deny(sid, named(*actions)) for sid, actions in NEVER.items()),
    ]
