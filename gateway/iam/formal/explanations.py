"""The theorems and the assumptions in words, for a reader who knows IAM and no solver."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

EXPLAINED: Final[Mapping[str, str]] = {
    "no foreign item": (
        "Take any two tenants, any DynamoDB action and any request of any size that names at least one key of the"
        " other tenant: the role's identity policy, session policy and boundary together never allow it."
    ),
    "no key outside of the prefix": (
        "No request is allowed that names a key which does not begin with the tenant's own prefix: keys of nobody"
        " and the system's own rows included."
    ),
    "nothing without a key": (
        "No DynamoDB request is allowed for which AWS fills in no partition key: nothing that reads or copies "
        "without one."
    ),
    "nothing without a tenant": (
        "A session without the tenant tag, or with an empty one, is allowed nothing of DynamoDB."
    ),
    "only actions on items": (
        "Of DynamoDB, a role is allowed nothing but its item actions: no Scan, PartiQL, streams, exports, "
        "backups, bulk operations, vector search or administration, and no action that AWS adds later."
    ),
    "only data": "Beside DynamoDB a role is allowed nothing but to decrypt with the table's key.",
    "hidden attributes stay hidden": (
        "No allowed request of a role that does not see personal attributes names one, asks for whole items "
        "(`Select`), has an item returned (`ReturnValues`), or uses a partition that is named by one."
    ),
    "roles are ordered as declared": (
        "Whatever the weaker role may do, the stronger may do, for every request; and where no order is declared,"
        " there is a request that only one of them may send."
    ),
    "every granted action is usable": (
        "For every role and every action that it is granted there is a request for the tenant's own rows that "
        "passes: the proof is not of policies that allow nothing."
    ),
    "a session policy cannot widen": (
        "Whatever session policy is passed, even by a gateway that was taken over, the session is allowed nothing"
        " that the role and its boundary do not allow."
    ),
    "only the gateway starts sessions": (
        "Nobody but the gateway's role may assume the tenants' role or tag a session of it."
    ),
    "a session has exactly two tags": (
        "Every session that starts carries the tags TenantId and GatewayRole and no other, and passes none of them on."
    ),
    "the gateway can start a session": (
        "The gateway can start a session with these tags: the trust policy is not empty."
    ),
    "the gateway's role has no data": (
        "Whatever is granted to the gateway's role beside its policy, it is explicitly denied DynamoDB and DAX."
    ),
    "the endpoint serves the tenants' role alone": "The VPC endpoint passes no request of another principal.",
    "the endpoint stops nothing that a role may do": (
        "What a role may do, the VPC endpoint lets through: every access pattern works inside of the network, too."
    ),
    "grants no more than declared": (
        "The document by itself, every other layer open, allows no request outside of its declared meaning."
    ),
    "grants no less than declared": "The document allows every request inside of its declared meaning.",
    "grants hold without denials": (
        "The document's allowing statements alone, without any of its denials, reach nothing outside of what they"
        " are declared to reach: no allowing statement leans on a denial."
    ),
    "denies explicitly": (
        "The document denies explicitly what it does not grant, so that a further policy cannot lift it."
    ),
    "denies by condition": (
        "Denials that look at keys, tags and attributes hold by themselves, whatever action is granted beside them."
    ),
}
"""By the name of a theorem, without the words before its colon."""

AROUND: Final[Mapping[str, str]] = {
    "boundary": "With any policy at all attached to the tenants' role, the boundary alone keeps: ",
    "denials": (
        "With any policy at all attached to the tenants' role and no boundary, its explicit denials alone keep, "
        "for every documented action: "
    ),
    "session": "With any session policy at all, the role and its boundary keep: ",
}

LEMMA: Final = (
    "A key is split into `TENANT`, a part without `#`, and the rest; the patterns `TENANT#${tag}` and "
    "`TENANT#${tag}#*` on the whole key then hold exactly where the part is the tag, for every tag without `#`."
)

Settled = Literal["documented", "aws", "gateway"]


@dataclass(frozen=True, slots=True)
class Assumption:
    """`settled` says who has to be believed: AWS's documentation, AWS itself where that is silent, or our code."""

    text: str
    settled: Settled


ASSUMPTIONS: Final = (
    Assumption(
        "AWS evaluates policies as its documentation says: an explicit denial wins, and identity policy, session "
        "policy and boundary must each allow.",
        "documented",
    ),
    Assumption(
        "AWS fills `dynamodb:LeadingKeys` with every partition key value of the request, for batches and "
        "transactions too, and for a query on an index with the index's partition key.",
        "documented",
    ),
    Assumption(
        "For an index with several partition key attributes, `LeadingKeys` and `FirstPartitionKeyValues` are the first "
        "of them; this model has no such index.",
        "documented",
    ),
    Assumption(
        "AWS fills `dynamodb:Attributes` with the top-level names in the request, `Select` for every read and "
        "`ReturnValues` for every single write.",
        "documented",
    ),
    Assumption(
        "Whether `ReturnValues` covers `ReturnValuesOnConditionCheckFailure` on single writes; the gateway never sets "
        "it and refuses it under such a rule.",
        "aws",
    ),
    Assumption(
        "The value of a session tag holds no `#`: STS takes letters, digits, spaces and `_.:/=+-@`. Nothing else "
        "is assumed of tenant ids: the proof holds for every value that STS takes.",
        "documented",
    ),
    Assumption("A condition key holds several values exactly where AWS documents it as multivalued.", "documented"),
    Assumption(
        "A value that a variable stands for is matched literally; moot for tags, which cannot hold `*` or `?`.", "aws"
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
        "Own rows: a theorem about subjects inside one tenant applies when a role is declared whose rows are a "
        "subject's own; no such role is declared today, and the theorems about rows are stated over a role's "
        "scope so that they cover it."
    ),
)


def explanation(name: str) -> str:
    head, colon, rest = name.partition(": ")
    return AROUND[head] + EXPLAINED[rest] if colon else EXPLAINED[name]
