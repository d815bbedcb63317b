"""Builds the statements of policies; each covers one subject, so that an auditor can check them one by one."""

from collections.abc import Sequence
from typing import Any, Final

from gateway.iam.dynamodb.condition_keys import LEADING_KEYS, PRINCIPAL_SUBJECT, PRINCIPAL_TENANT
from gateway.iam.policies.deployment import BUCKET, KEYS
from gateway.iam.policies.roles import FILE_ACTIONS, ITEM_ACTIONS, FileGrant, Grant
from gateway.model.files.keys import object_prefix
from gateway.model.role_reach import SUBJECT
from gateway.model.tenant import LEASE_PARTITION, TenantId, partition

Clause = dict[str, Any]

DECRYPT: Final = "kms:Decrypt"

# The model writes the prefix; the variable takes the place of the tenant id.
OWN_PREFIX: Final = partition(TenantId(f"${{{PRINCIPAL_TENANT}}}"), "")
OWN_KEYS: Final = (OWN_PREFIX.removesuffix("#"), f"{OWN_PREFIX}*")
"""Two patterns, because `TENANT#a*` would also match the partitions of a tenant `ab`."""

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
"""Actions that LeadingKeys cannot restrict or that no request needs; no pattern matches a granted action."""


STREAM_READS: Final = ("DescribeStream", "GetRecords", "GetShardIterator")
LEASE_ACTIONS: Final = ("GetItem", "PutItem", "Query", "UpdateItem")
"""What the stream reader does with its leases."""


def named(*actions: str) -> list[str]:
    return [f"dynamodb:{action}" for action in actions]


def stream_reader(table: str) -> list[Clause]:
    """The stream reader: the stream's records, which belong to all tenants, and the rows of its leases."""
    leases = {"ForAllValues:StringEquals": {LEADING_KEYS: [LEASE_PARTITION]}, "Null": {LEADING_KEYS: "false"}}
    granted = named(*STREAM_READS, "DescribeTable", *LEASE_ACTIONS)
    return [
        {"Sid": "ReadStream", "Effect": "Allow", "Action": named(*STREAM_READS), "Resource": f"{table}/stream/*"},
        {"Sid": "FindStream", "Effect": "Allow", "Action": named("DescribeTable"), "Resource": table},
        allow("OwnLeases", named(*LEASE_ACTIONS), table, leases),
        table_key(),
        nothing_else(granted),
        deny("NeverTenants", named(*LEASE_ACTIONS), {"ForAnyValue:StringNotEquals": {LEADING_KEYS: [LEASE_PARTITION]}}),
        deny("NeverWithoutKeys", named(*LEASE_ACTIONS), {"Null": {LEADING_KEYS: "true"}}),
    ]


def own_rows() -> Clause:
    """The session has a tenant, and the request has at least one partition key, all of them the tenant's own."""
    return {
        "ForAllValues:StringLike": {LEADING_KEYS: list(OWN_KEYS)},
        "Null": {LEADING_KEYS: "false", PRINCIPAL_TENANT: "false"},
    }


def some_rows(paths: Sequence[str]) -> Clause:
    """Like `own_rows`, for these partitions; a path with the subject needs a session that has one."""
    keys = [f"{OWN_PREFIX}{path}" for path in _with_subject(paths)]
    return {"ForAllValues:StringLike": {LEADING_KEYS: keys}, "Null": {LEADING_KEYS: "false", **_tags(paths)}}


def _with_subject(paths: Sequence[str]) -> list[str]:
    return [path.replace(SUBJECT, f"${{{PRINCIPAL_SUBJECT}}}") for path in paths]


def _tags(paths: Sequence[str]) -> Clause:
    """The tags that a session needs for these paths."""
    subject = {PRINCIPAL_SUBJECT: "false"} if any(SUBJECT in path for path in paths) else {}
    return {PRINCIPAL_TENANT: "false", **subject}


_FILES: Final = object_prefix(TenantId(f"${{{PRINCIPAL_TENANT}}}"))
OWN_FILES: Final = f"{BUCKET}/{_FILES}*"


def own_files() -> Clause:
    """The objects of the bucket whose keys start with the tenant and a slash."""
    return allow("OwnFiles", FILE_ACTIONS, [OWN_FILES], {"Null": {PRINCIPAL_TENANT: "false"}})


def never_foreign_files() -> Clause:
    """Without a tenant the element names no object, so everything is denied."""
    return {"Sid": "NeverForeignFiles", "Effect": "Deny", "Action": ["s3:*"], "NotResource": [OWN_FILES]}


def granted_files(grant: FileGrant, number: int) -> Clause:
    """Files in any bucket that the tenant's role names."""
    paths = ("*",) if grant.paths is None else grant.paths
    resources = [f"arn:*:s3:::*/{_FILES}{path}" for path in _with_subject(paths)]
    return allow(f"Files{number if number > 1 else ''}", grant.actions, resources, {"Null": _tags(paths)})


INDEX_ARN: Final = "arn:*:dynamodb:*:*:table/*/index/"


def granted(grant: Grant) -> Clause:
    """What a role may do with some partitions of any table that the tenant's role names, or of one of its indexes."""
    if grant.paths is None:
        return allow("OwnItems", named(*grant.actions), "*", own_rows())
    rows = some_rows(grant.paths)
    if grant.index is not None:
        return allow(f"Rows{_word(grant.index)}", named(*grant.actions), f"{INDEX_ARN}{grant.index}", rows)
    kind = "Items" if "GetItem" in grant.actions else "Changes" if "PutItem" in grant.actions else "Removals"
    clause = allow(kind, named(*grant.actions), "*", rows)
    if "Query" not in grant.actions:
        return clause
    # `*` in an ARN spans `/`, so only the complement separates the table from its indexes
    return {("NotResource" if key == "Resource" else key): value for key, value in clause.items()} | {
        "NotResource": f"{INDEX_ARN}*"
    }


def _word(index: str) -> str:
    """AWS accepts letters and digits in a statement's id."""
    return "".join(char for char in index if char.isalnum())


def allow(sid: str, actions: Sequence[str], resources: list[str] | str, condition: Clause) -> Clause:
    return {
        "Sid": sid,
        "Effect": "Allow",
        "Action": list(actions),
        "Resource": resources,
        "Condition": condition,
    }


def deny(sid: str, actions: Sequence[str], condition: Clause | None = None) -> Clause:
    """A denial on every resource."""
    clause = {"Sid": sid, "Effect": "Deny", "Action": list(actions), "Resource": "*"}
    return clause if condition is None else {**clause, "Condition": condition}


def table_key() -> Clause:
    """If the table has a customer managed key, DynamoDB decrypts with the permissions of the session that reads the
    table."""
    condition = {
        "StringLike": {"kms:ViaService": "dynamodb.<region>.*"},
        "StringEquals": {"kms:EncryptionContext:aws:dynamodb:tableName": "<table>"},
    }
    return allow("TableKey", [DECRYPT], [KEYS], condition)


def any_table_key() -> Clause:
    return allow("TableKey", [DECRYPT], "*", {"StringLike": {"kms:ViaService": "dynamodb.*"}})


def nothing_else(actions: Sequence[str]) -> Clause:
    """Denies all other actions, including those that AWS adds later."""
    return {"Sid": "NothingElse", "Effect": "Deny", "NotAction": [*actions, DECRYPT], "Resource": "*"}


def never() -> list[Clause]:
    """The explicit denials: three conditions, and every action of `NEVER`, which no further grant can lift."""
    foreign = {"ForAnyValue:StringNotLike": {LEADING_KEYS: list(OWN_KEYS)}}
    return [
        deny("NeverForeignRows", named("*"), foreign),
        deny("NeverWithoutKey", named(*ITEM_ACTIONS), {"Null": {LEADING_KEYS: "true"}}),
        deny("NeverWithoutTenant", named("*"), {"Null": {PRINCIPAL_TENANT: "true"}}),
        *(deny(sid, named(*actions)) for sid, actions in NEVER.items()),
    ]
