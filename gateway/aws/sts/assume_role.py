"""The AssumeRole request for one tenant in one gateway role, and the names that CloudTrail shows for the session.

All callers that act for a tenant in a role share one session, because its permissions depend on nothing else. This
takes one STS call per hour for each tenant and role, whatever the number of users. Only own-rows roles have a session
per subject, named by a session tag.

A shared session cannot name a subject: RoleSessionName is `<role>@<tenant>`, and SourceIdentity is the tenant. The
gateway's own log line has the hash of the subject next to the request id; an event in CloudTrail is matched to it by
session name and time. If CloudTrail itself must name the subject, sessions are opened per subject: SourceIdentity
becomes `<tenant>.<subject hash>`. This takes one STS call per hour for each subject and role (an account has 600 per
second), and as many cached sessions.

Support access always has its own session for each person: SourceIdentity is `<tenant>+<person>`. CloudTrail shows it in
every event, while it shows session tags only in the event of AssumeRole.
"""

import hashlib
from dataclasses import dataclass, field
from typing import Protocol

from gateway.aws.wire.credentials import Credentials
from gateway.model.tenant import TenantId

# AWS's limit for session names and source identities
_LONGEST_NAME = 64
# the part of it for the person with support access; the rest is enough for a shortened tenant name
_LONGEST_ACTOR = 40


@dataclass(frozen=True, slots=True)
class AssumeRole:
    role_arn: str
    session_name: str
    source_identity: str
    tags: tuple[tuple[str, str], ...]
    policy: str = field(repr=False)
    seconds: int
    region: str
    external_id: str | None = None


class Sts(Protocol):
    """Calls AssumeRole; tests and other engines replace it."""

    async def assume_role(self, request: AssumeRole) -> Credentials:
        """Returns the credentials of exactly the requested session; raises a gateway error otherwise."""
        ...


def session_name(tenant: TenantId, role: str) -> str:
    # INVARIANT: neither part can contain '@', so two pairs of role and tenant never share a name.
    return _fit(f"{role}@{tenant}", _LONGEST_NAME)


def session_arn(role_arn: str, session_name: str) -> str:
    """Returns the ARN of the session: the role's partition and account, and the role's name without its path."""
    _, partition, _, _, account, role = role_arn.split(":", 5)
    return f"arn:{partition}:sts::{account}:assumed-role/{role.rpartition('/')[2]}/{session_name}"


def source_identity(tenant: TenantId, subject: str | None = None) -> str:
    """Names the tenant, and the subject if sessions are opened per subject."""
    if subject is None:
        return tenant
    digest = subject_hash(subject)
    return f"{_fit(tenant, _LONGEST_NAME - len(digest) - 1)}.{digest}"


def support_identity(tenant: TenantId, actor: str) -> str:
    """Names the tenant and the person who has support access; every event in CloudTrail shows it.

    '+' distinguishes it from the identities of a tenant's own subjects.
    """
    person = _fit(actor, _LONGEST_ACTOR)
    return f"{_fit(tenant, _LONGEST_NAME - len(person) - 1)}+{person}"


def subject_hash(subject: str) -> str:
    """Hashes a subject for logs and CloudTrail: it can be found by those who know it, but not read."""
    return hashlib.sha256(subject.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _fit(name: str, length: int) -> str:
    """Shortens a long name; a hash distinguishes it from other long names, and '=' from short ones."""
    if len(name) <= length:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:20]
    return f"{name[: length - 21]}={digest}"
