"""The question to STS: a role for one tenant in one gateway role, and the names that CloudTrail shows for it.

A session is shared by everybody who acts for a tenant in a role, because its rights depend on nothing else: one STS
call an hour for each, whatever the number of users. Only a role of own rows has sessions of one subject, which their
tag names. A shared session cannot name a subject. RoleSessionName is `<role>@<tenant>`,
SourceIdentity is the tenant; the gateway's own log line carries the subject hash beside the request id, and an event in
CloudTrail is joined to it by session name and time. Where CloudTrail itself has to name the subject, sessions are kept
per subject: SourceIdentity becomes `<tenant>.<subject hash>`, at the price of one STS call an hour for each subject and
role (an account has 600 a second) and of as many cached sessions.

Support access always has a session of its own for each person: SourceIdentity is `<tenant>+<person>`. It is in every
event of CloudTrail, where a session tag is in the event of AssumeRole only.
"""

import hashlib
from dataclasses import dataclass, field
from typing import Protocol

from gateway.aws.wire.credentials import Credentials
from gateway.model.tenant import TenantId

# what AWS takes as a session name and as a source identity
_LONGEST_NAME = 64
# of it, for the person who has support access; the rest is enough for a tenant's name that is cut
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
    """The seam that tests and other engines replace."""

    async def assume_role(self, request: AssumeRole) -> Credentials:
        """Credentials of the very session that was asked for, or one of the gateway's errors."""
        ...


def session_name(tenant: TenantId, role: str) -> str:
    # INVARIANT: neither part can contain '@', so two pairs of role and tenant never share a name.
    return _fit(f"{role}@{tenant}", _LONGEST_NAME)


def session_arn(role_arn: str, session_name: str) -> str:
    """The ARN of the session: it has the role's partition and account, and the role's name without its path."""
    _, partition, _, _, account, role = role_arn.split(":", 5)
    return f"arn:{partition}:sts::{account}:assumed-role/{role.rpartition('/')[2]}/{session_name}"


def source_identity(tenant: TenantId, subject: str | None = None) -> str:
    """Names the tenant, and the subject where sessions are kept per subject."""
    if subject is None:
        return tenant
    digest = subject_hash(subject)
    return f"{_fit(tenant, _LONGEST_NAME - len(digest) - 1)}.{digest}"


def support_identity(tenant: TenantId, actor: str) -> str:
    """Names the tenant and the person who has support access there; each event in CloudTrail shows it.

    '+' keeps it apart from the identities of a tenant's own subjects.
    """
    person = _fit(actor, _LONGEST_ACTOR)
    return f"{_fit(tenant, _LONGEST_NAME - len(person) - 1)}+{person}"


def subject_hash(subject: str) -> str:
    """A subject as logs and CloudTrail show it: who knows the subject finds it, nobody reads it there."""
    return hashlib.sha256(subject.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _fit(name: str, length: int) -> str:
    """A long name is cut; a hash keeps it apart from other long ones, '=' from short ones."""
    if len(name) <= length:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:20]
    return f"{name[: length - 21]}={digest}"
