"""The gateway's roles, strongest first, each with the session policy that limits the tenant's role to it."""

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType

from gateway.errors import ConfigurationError, Forbidden
from gateway.iam.language.document import PolicyDocument
from gateway.iam.language.policy_text import SESSION_LIMIT
from gateway.identity.principal import subject_id

# INVARIANT: no '@', so that role and tenant can be told apart in the name of a session.
_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")


class Roles:
    """A request acts in one role: the first declared role that its token carries."""

    def __init__(
        self, policies: Mapping[str, PolicyDocument], own: Collection[str] = (), acting: Collection[str] = ()
    ) -> None:
        """`own` are the roles with a session per subject; `acting` are the roles that no token can carry."""
        faults = [fault for name, policy in policies.items() for fault in _faults(name, policy)]
        if not set(policies) - set(acting):
            faults.append("there is no gateway role")
        if faults:
            raise ConfigurationError(faults)
        self._policies = MappingProxyType(dict(policies))
        self._own = frozenset(own)
        self._acting = frozenset(acting)

    def role_of(self, carried: Collection[str]) -> str:
        # INVARIANT: no token opens a session in an acting role.
        for name in self.names:
            if name in carried:
                return name
        raise Forbidden("the token carries no role that this gateway knows")

    def subject_of(self, role: str, subject: str) -> str | None:
        """Returns the subject that a session in this role is for; None if all callers of the tenant share one session.

        Raises `Forbidden` for a subject that is not safe in a key.
        """
        return subject_id(subject, f"the role `{role}`") if role in self._own else None

    @property
    def names(self) -> tuple[str, ...]:
        """The roles that a token can carry."""
        return tuple(name for name in self._policies if name not in self._acting)

    @property
    def acting(self) -> frozenset[str]:
        return self._acting

    def policy(self, role: str) -> str:
        """Returns the policy text for STS, exactly the one that the evaluator uses."""
        return self._policies[role].text


def _faults(name: str, policy: PolicyDocument) -> list[str]:
    faults = []
    if not _NAME.fullmatch(name):
        faults.append(f"a gateway role is named with a-z, 0-9 and -, at most 32 characters: `{name}`")
    if policy.kind != "session":
        faults.append(f"role `{name}` needs a session policy, not a document of kind {policy.kind}")
    if len(policy.text) > SESSION_LIMIT:
        faults.append(f"the session policy of `{name}` has {len(policy.text)} characters, more than {SESSION_LIMIT}")
    return faults
