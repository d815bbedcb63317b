"""The gateway's roles, strongest first, each with the session policy that narrows the tenant's role to it."""

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType

from gateway.errors import ConfigurationError, Forbidden
from gateway.iam.language.document import PolicyDocument
from gateway.iam.language.policy_text import SESSION_LIMIT

# INVARIANT: no '@', so that a role and a tenant stay apart in the name of a session.
_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")


class Roles:
    """A request acts in one role: the strongest that its token carries and the gateway knows."""

    def __init__(self, policies: Mapping[str, PolicyDocument]) -> None:
        faults = [fault for name, policy in policies.items() for fault in _faults(name, policy)]
        if not policies:
            faults.append("there is no gateway role")
        if faults:
            raise ConfigurationError(faults)
        self._policies = MappingProxyType(dict(policies))

    def role_of(self, carried: Collection[str]) -> str:
        for name in self._policies:
            if name in carried:
                return name
        raise Forbidden("the token carries no role that this gateway knows")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._policies)

    def policy(self, role: str) -> str:
        """The text that goes to STS: the very one that the evaluator judges by."""
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
