"""Explains the theorems and their assumptions to readers who know IAM but not solvers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

EXPLAINED: Final[Mapping[str, str]] = {
    "no foreign item": (
        "Take any two tenants, any DynamoDB action and any request of any size that names at least one key of the"
        " other tenant: the role's identity policy, session policy and boundary together never allow it."
    ),
    "no key outside of the prefix": (
        "No request is allowed that names a key which does not begin with the tenant's own prefix, including keys"
        " of no tenant and the system's own rows."
    ),
    "nothing without a key": (
        "No DynamoDB request is allowed for which AWS sets no partition key, so nothing can be read or copied "
        "without a key."
    ),
    "nothing without a tenant": (
        "A session without the tenant tag, or with an empty one, is allowed nothing in DynamoDB."
    ),
    "no foreign file": (
        "Whatever the action in S3, no request is allowed for an object that is not below the tenant's own prefix of "
        "the bucket, nor for the bucket itself or another one; in a model without files, nothing in S3 is allowed."
    ),
    "only actions on items": (
        "In DynamoDB, a role is allowed only its item actions: no Scan, PartiQL, streams, exports, "
        "backups, bulk operations, vector search or administration, and no action that AWS adds later."
    ),
    "only data": (
        "Outside of DynamoDB, a role is only allowed to decrypt with the table's key and, where it has files, to read, "
        "write and mark them."
    ),
    "hidden attributes stay hidden": (
        "No allowed request of a role that does not see personal attributes names one, requests whole items "
        "(`Select`), has an item returned (`ReturnValues`), or uses a partition whose key contains one."
    ),
    "confidential rows stay closed": (
        "No allowed request of a role that is not declared to read a confidential entity has a key in one of its "
        "partitions."
    ),
    "roles are ordered as declared": (
        "For every request, the stronger role may do what the weaker role may do. Where no order is declared,"
        " there is a request that only one of the two roles may send."
    ),
    "every granted action is usable": (
        "For every role and every action that it is granted there is a request for the tenant's own rows that "
        "is allowed, so the proof is not about policies that allow nothing."
    ),
    "a session policy cannot widen": (
        "Whatever session policy is passed, even by a gateway that was taken over, the session is allowed nothing"
        " that the role and its boundary do not allow."
    ),
    "only the gateway starts sessions": (
        "Only the gateway's role may assume the tenants' role or tag a session of it."
    ),
    "no item of another subject": (
        "Take a role of own rows and any two subjects of one tenant: no request is allowed that names a partition "
        "which holds the other subject."
    ),
    "a session has exactly its tags": (
        "Every session that starts carries the tags TenantId and GatewayRole, in a role of own rows Subject as well, "
        "and no other, and passes none of them on."
    ),
    "the gateway can start a session": (
        "The gateway can start a session with these tags, so the trust policy is not empty."
    ),
    "the gateway's role has no data": (
        "Whatever else is granted to the gateway's role, it is explicitly denied DynamoDB and DAX, and S3 where the "
        "model has files."
    ),
    "the stream's reader reaches no tenant's row": (
        "Whatever else is granted to the role that reads the table's stream, its item actions reach the rows of its "
        "own leases and no row of a tenant."
    ),
    "the endpoint serves the tenants' role alone": "The VPC endpoint accepts no request of another principal.",
    "the endpoint stops nothing that a role may do": (
        "The VPC endpoint accepts every request that a role may send, so every access pattern works in the network."
    ),
    "grants no more than declared": (
        "The document by itself, without the other layers, allows no request outside of its specification."
    ),
    "grants no less than declared": "The document allows every request inside of its specification.",
    "grants hold without denials": (
        "The Allow statements of the document, without its denials, allow nothing outside of their specification:"
        " no Allow statement depends on a denial."
    ),
    "denies explicitly": (
        "The document denies explicitly what it does not grant, so that a further policy cannot lift it."
    ),
    "denies by condition": ("Denials with conditions on keys, tags and attributes apply whatever else is granted."),
}
"""Explanations by the name of the theorem, without the part before its colon."""

AROUND: Final[Mapping[str, str]] = {
    "boundary": "With any policy attached to the tenants' role, the boundary alone guarantees: ",
    "denials": (
        "With any policy attached to the tenants' role and no boundary, its explicit denials alone guarantee, "
        "for every documented action: "
    ),
    "session": "With any session policy, the role and its boundary guarantee: ",
}

LEMMA: Final = (
    "A key is split into `TENANT`, a part without `#`, and the rest; the patterns `TENANT#${tag}` and "
    "`TENANT#${tag}#*` on the whole key then hold exactly where the part is the tag, for every tag without `#`."
)

Settled = Literal["documented", "aws", "gateway"]


@dataclass(frozen=True, slots=True)
class Assumption:
    """`settled` says what confirms it: AWS's documentation, AWS itself, or the gateway's code."""

    text: str
    settled: Settled


ASSUMPTIONS: Final = (
    Assumption(
        "AWS evaluates policies as its documentation says: an explicit denial wins, and identity policy, session "
        "policy and boundary must each allow.",
        "documented",
    ),
    Assumption(
        "AWS sets `dynamodb:LeadingKeys` to every partition key value of the request, for batches and "
        "transactions too, and for a query on an index with the index's partition key.",
        "documented",
    ),
    Assumption(
        "For an index with several partition key attributes, `LeadingKeys` and `FirstPartitionKeyValues` are the first "
        "of them; this model has no such index.",
        "documented",
    ),
    Assumption(
        "AWS sets `dynamodb:Attributes` to the top-level names in the request, `Select` for every read and "
        "`ReturnValues` for every single write.",
        "documented",
    ),
    Assumption(
        "Whether `ReturnValues` covers `ReturnValuesOnConditionCheckFailure` on single writes; the gateway never sets "
        "it and refuses it under such a rule.",
        "aws",
    ),
    Assumption(
        "The value of a session tag contains no `#`: STS accepts letters, digits, spaces and `_.:/=+-@`. Nothing else "
        "is assumed about tenant ids: the proof holds for every value that STS accepts.",
        "documented",
    ),
    Assumption("A tenant id has no `/`, so that one tenant's files never lie below another's.", "gateway"),
    Assumption("A condition key holds several values exactly where AWS documents it as multivalued.", "documented"),
    Assumption(
        "The value of a variable is matched literally; this does not matter for tags, which cannot contain `*` or `?`.",
        "aws",
    ),
    Assumption(
        "Values of a deployment (region, account, table, roles) hold no wildcard; `gateway` refuses others. So "
        "what is proved for one deployment holds for all.",
        "gateway",
    ),
    Assumption(
        "IAM sees the table's partition key of a write and no index key: that index keys are the tenant's own is "
        "kept by the model and by row checks, not by policies (docs/isolation.md).",
        "gateway",
    ),
)

NOT_CLAIMED: Final = (
    "Organisation policies and resource policies are outside of the proof; the table has no resource policy.",
    (
        "A personal attribute in a sort key: IAM hides attributes and partitions, not sort keys. A caller of "
        "AWS with the credentials of a session that hides the attribute can read it in the sort keys of a partition "
        "that the session reads. The gateway does not show it; policies/README.md lists these keys."
    ),
)


def explanation(name: str) -> str:
    head, colon, rest = name.partition(": ")
    return AROUND[head] + EXPLAINED[rest] if colon else EXPLAINED[name]
