"""What each statement of each policy file means, as text for its README."""

from collections.abc import Mapping
from typing import Final

from gateway.iam.policies.generate import (
    BOUNDARY_FILE,
    ENDPOINT_FILE,
    FILES_ENDPOINT_FILE,
    GATEWAY_FILE,
    STREAM_FILE,
    TENANT_FILE,
    TRUST_FILE,
    session_file,
)
from gateway.model.model import Model

_OWN = (
    "Every partition key of the request (`dynamodb:LeadingKeys`, which DynamoDB fills from the request itself) must be "
    "`TENANT#<tenant>` or begin with `TENANT#<tenant>#`. Two patterns, because `TENANT#a*` would also match the rows "
    "of a tenant `ab`. `ForAllValues` makes one foreign key deny a whole batch; it also holds for an empty set, so "
    "`Null` requires that there is a key. The tenant is the session's tag, never text pasted into a policy; the second "
    "`Null` requires that there is a tag."
)
_KEY = (
    "If the table is encrypted with a customer managed key, DynamoDB decrypts the table's key on behalf of the caller "
    "that reads the table. Granted only through DynamoDB (`kms:ViaService`); with a key owned by AWS it is never used."
)
_NOTHING_ELSE = (
    "Denies every action that is not granted here. It is a complement, so it covers actions that AWS adds later, and "
    "it is explicit, so no further policy, and no resource policy of a table, can lift it."
)

_ABOUT: Final[Mapping[str, str]] = {
    TENANT_FILE: "The identity policy of the one role that all tenants' sessions assume: where, and whose rows.",
    TRUST_FILE: "The trust policy of that role: who may assume it, and with which tags.",
    BOUNDARY_FILE: "The permissions boundary of that role: the most it can ever do, whatever else is attached.",
    GATEWAY_FILE: "The identity policy of the role that the gateway itself runs in.",
    STREAM_FILE: "The identity policy of the role of `gateway stream`, which reads the table's stream and no row.",
    ENDPOINT_FILE: "The policy of the VPC's gateway endpoint for DynamoDB: what may leave the network.",
    FILES_ENDPOINT_FILE: "A part of the policy of the VPC's gateway endpoint for S3: what may pass to the bucket.",
}

_FILES = (
    "Objects of the bucket whose keys start with the session's tenant and a slash, as the gateway writes every key. "
    "Deleting is not allowed: a tag marks objects for the bucket's lifecycle. `Null` requires that there is a tenant."
)

_SOME = (
    "The partitions follow from the role's declaration; `*` matches an attribute, and `Subject` is the subject of the "
    "session, which is its tag. A partition with the subject belongs to that subject alone."
)
_INDEX_ROWS = "What this role may query on this index, by the index's partition key. " + _SOME

_SESSION: Final = {
    "Items": (
        "What this role may do with items of the table; `NotResource` leaves out its indexes, which have statements of "
        "their own. " + _SOME
    ),
    "Changes": "What this role may write. IAM sees partitions, not sort keys. " + _SOME,
    "Removals": (
        "What this role may remove. If it may write but not remove items, only the markers of unique values, which a "
        "change of such a value releases."
    ),
    "OwnItems": (
        "What this role may do with items. It names no table: the role and its boundary do, and a session policy can "
        "only take away. So the text is the same for a tenant with a table of its own. " + _OWN
    ),
    "Files": (
        "What this role may do with files. It names no bucket: the role and its boundary do. A key starts with tenant, "
        "entity and attribute, followed by the owner if the entity has one; so a role has the same access to the files "
        "of an attribute as to the attribute."
    ),
    "TableKey": _KEY,
    "NothingElse": _NOTHING_ELSE,
    "NeverHidden": (
        "Denies every request that names an attribute which the role does not see: in a projection, a filter, a "
        "condition or an update. `ForAnyValue`: one such name is enough. IAM sees attributes by name only, so a name "
        "that is hidden in one entity is hidden in all."
    ),
    "NeverWholeItems": (
        "IAM compares `dynamodb:Attributes` with the request, never with the response: a read without a projection "
        "would return everything. So reads must name their attributes, or count."
    ),
    "NeverReturnedItems": (
        "The same for writes, which can return the item. A role that writes nothing does not need it."
    ),
    "NeverByHiddenKey": (
        "Denies the partitions whose keys contain a hidden attribute: a role that may not read e-mail addresses may "
        "not guess them either."
    ),
    "NeverConfidential": (
        "Denies the partitions of entities that are declared as confidential, on the table and on every index: this "
        "role reads everything else."
    ),
}
_FINDS: Final = (
    "The partitions whose keys contain a hidden attribute by which this role may find an item (`finds`). A partition "
    "key must be complete, so a caller who knows an e-mail address finds its user, but prefixes cannot be tried. A "
    "request there may name the id and the keys, and no other attribute."
)

_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    TENANT_FILE: {
        "OwnItems": "Items of the table. " + _OWN,
        "OwnIndexRows": (
            "Queries on the indexes of the model, each by its name, never `/index/*`: an index that is not keyed by "
            "tenant could not be isolated. The condition is that of `OwnItems`, on the index's partition key."
        ),
        "OwnFiles": _FILES,
        "NeverForeignFiles": (
            "Denies everything in S3 except the tenant's own objects: the bucket itself, other buckets, and objects of "
            "other tenants. Without a tenant, the denial covers all objects."
        ),
        "TableKey": _KEY,
        "NeverForeignRows": (
            "Denies a request as soon as one of its partition keys is not the tenant's own. It is the reverse of "
            "`OwnItems`, and still applies if another policy is attached to the role, or if a resource policy of the "
            "table names a session, which implicit denials do not stop."
        ),
        "NeverWithoutKey": "Denies item operations for which DynamoDB does not provide the partition key.",
        "NeverWithoutTenant": "Denies everything to a session without the tag of a tenant.",
        "NeverWholeTable": (
            "Scan has no leading keys: a condition on them does not restrict it. PartiQL and vector search are other "
            "ways to the same rows, and the gateway uses neither."
        ),
        "NeverStreams": "Streams carry the changes of every tenant and have no leading keys.",
        "NeverCopies": "Backups, exports, imports, restores and bulk operations move whole tables.",
        "NeverPolicies": "A resource policy or a tag could give others access to the table.",
        "NeverAdministration": "No request of a tenant changes or describes a table.",
    },
    TRUST_FILE: {
        "GatewayAssumes": (
            "Only the gateway's own role may assume this role, only with a tenant (at least two characters, as every "
            "tenant id has) and one of the known gateway roles as tags, and only with a source identity. The tags are "
            "required here as well as for `sts:TagSession`, because AWS does not check that action if no tag is passed."
        ),
        "OneTenantOneRole": (
            "`sts:TagSession` with exactly the tags `TenantId` and `GatewayRole`; no others, and none "
            "that would be passed on to another role."
        ),
        "OneSubject": (
            "The same for the roles of own rows, whose sessions carry the tag `Subject` as well. Sessions of other "
            "roles have no subject, and sessions of these roles must have one."
        ),
        "NamesItsTenant": "`sts:SetSourceIdentity`, so that CloudTrail names the tenant on every later call.",
    },
    BOUNDARY_FILE: {
        "OwnItems": "As in the role's own policy; a grant counts only if both agree. " + _OWN,
        "OwnIndexRows": "As in the role's own policy: named indexes only.",
        "OwnFiles": "As in the role's own policy. " + _FILES,
        "TableKey": _KEY,
        "NothingElse": _NOTHING_ELSE,
    },
    GATEWAY_FILE: {
        "AssumeTenantRole": (
            "The only thing that the gateway can do by itself: assume the tenants' role, with tags and a source "
            "identity. For a tenant with its own role, render this document once more with that role."
        ),
        "NoDataOfItsOwn": (
            "No tenant session, no data: whatever else is attached to the gateway's role, it reaches neither DynamoDB "
            "nor DAX, which does not isolate tenants at all."
        ),
    },
    STREAM_FILE: {
        "ReadStream": (
            "The records of all tenants: IAM sees neither keys nor attributes of a stream. So only the stream reader "
            "has this role, it passes on names and keys but no values, and web processes never have it."
        ),
        "FindStream": "The name of the table's stream, which changes when the stream is switched off and on.",
        "OwnLeases": "Which process reads which shard, in a partition of no tenant. `Null` requires a key.",
        "TableKey": _KEY,
        "NothingElse": _NOTHING_ELSE,
        "NeverTenants": "Explicitly denies every row except the leases, so that no further policy opens a tenant's "
        "rows.",
        "NeverWithoutKeys": "Explicitly denies a request for which AWS sets no partition key.",
    },
    ENDPOINT_FILE: {
        "TenantRoleOnly": (
            "Only sessions of the tenants' role, with a tenant's tag, only item operations, only this table and its "
            "named indexes. A gateway endpoint accepts only the principal `*`, so the role is a condition. "
            "Credentials of another account cannot move data out through this endpoint."
        ),
    },
    FILES_ENDPOINT_FILE: {
        "TenantFilesOnly": (
            "Only sessions of the tenants' role, with a tenant's tag, only on objects of this bucket. Terraform adds "
            "it to what the endpoint allows for container images."
        ),
    },
}
"""(file, Sid) -> text; a test fails if one is missing or unused."""


def about(model: Model, name: str) -> str:
    """What a file is for."""
    sessions = {session_file(role.name): role for role in model.all_roles.values()}
    if name not in sessions:
        return _ABOUT[name]
    role = sessions[name]
    if role.acting:
        names = [f"`{mutation.name}`" for mutation in model.mutations if mutation.acts_as == role.name]
        return (
            f"Sent with AssumeRole for the acting role `{role.name}`, which {role.description}. No token carries it: "
            f"{' and '.join(names)} act in it for callers who may call them and do not write what they change."
        )
    return f"Sent with AssumeRole for the gateway role `{role.name}`, which {role.description}."


def words(name: str, sid: str) -> str | None:
    """What a statement means; None if nothing is written about it."""
    if name in _WORDS:
        return _WORDS[name].get(sid)
    if sid.startswith("OnlyFinds"):
        return _FINDS
    if sid.startswith("Files"):
        return _SESSION["Files"]
    return _INDEX_ROWS if sid.startswith("Rows") else _SESSION.get(sid)
