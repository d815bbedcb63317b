"""What one session may do: its policies, its principal's context, its place; asked before every DynamoDB call."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from gateway.iam import wire
from gateway.iam.errors import NotUnderstood
from gateway.iam.evaluator import PolicySet, decide, lowered, restricts
from gateway.iam.place import Place
from gateway.iam.requests import authorisations
from gateway.iam.variables import Value
from gateway.iam.verdict import Allow, Authorisation, Deny
from gateway.iam.writes import ON_FAILURE, SINGLE_WRITES

_ANSWERS_KEPT: Final = 2_048
_DISCLOSURE: Final = frozenset(("dynamodb:attributes", "dynamodb:returnvalues"))

Probe = Callable[[str, str, str | None, str, str], Deny | None]


@dataclass(frozen=True, slots=True)
class Permissions:
    """`principal` holds context keys of the caller, such as `aws:PrincipalTag/TenantId`."""

    policies: PolicySet
    principal: Mapping[str, Value]
    place: Place
    fixed: dict[str, Value] = field(init=False, repr=False, compare=False)
    probe: Probe = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        fixed = lowered(self.principal)
        object.__setattr__(self, "fixed", fixed)
        object.__setattr__(self, "probe", lru_cache(maxsize=_ANSWERS_KEPT)(_prober(self.policies, fixed, self.place)))

    @property
    def fingerprint(self) -> str:
        """The hash of the policies: part of the key of whatever is cached by what may be seen."""
        return self.policies.fingerprint

    def check(self, operation: str, body: Mapping[str, Any]) -> Allow | Deny:
        """The verdict on a request as it will be sent. Never raises: trouble while deciding is a denial."""
        try:
            return self._check(operation, body)
        except NotUnderstood as error:
            return self._not_understood(error)
        except Exception as error:  # INVARIANT: trouble while deciding is a denial
            return Deny(f"the decision failed: {type(error).__name__}", "evaluator", action=f"dynamodb:{operation}")

    def attributes_denied(
        self, names: Iterable[str], operation: str, table: str, *, leading_key: str, index: str | None = None
    ) -> dict[str, Deny]:
        """Those attributes that may not be read, each with its denial, for a key that this principal may read.

        `leading_key` is such a key; use one fixed key for a tenant, so that answers are kept.
        """
        answers = {name: self.probe(operation, table, index, leading_key, name) for name in names}
        return {name: answer for name, answer in answers.items() if answer is not None}

    def _check(self, operation: str, body: Mapping[str, Any]) -> Allow | Deny:
        found = authorisations(operation, body, self.place)
        if operation in SINGLE_WRITES and body.get(ON_FAILURE) == "ALL_OLD":
            first = found[0]
            if restricts(self.policies, first.action, first.resource, _DISCLOSURE):
                reason = f"`{ON_FAILURE}` would hand out a whole item under a rule on attributes"
                return Deny(reason, "request", action=first.action, resource=first.resource)
        granted: list[str] = []
        for one in found:
            verdict = _decide(self.policies, self.fixed, one)
            if isinstance(verdict, Deny):
                return verdict
            granted.extend(verdict.statements)
        return Allow(tuple(dict.fromkeys(granted)))

    def _not_understood(self, error: NotUnderstood) -> Deny:
        """Denied in any case; an explicit denial of the action is the better reason."""
        if error.action and error.resource:
            verdict = _explicit(self.policies, error.action, error.resource, self.fixed)
            if verdict is not None:
                return verdict
        reason = f"the request is not understood: {error.message}"
        return Deny(reason, "request", action=error.action, resource=error.resource)


def _decide(policies: PolicySet, fixed: dict[str, Value], one: Authorisation) -> Allow | Deny:
    # INVARIANT: what the principal is, the request cannot overwrite.
    context = {key.lower(): value for key, value in one.context.items()} | fixed
    return decide(policies, one.action, one.resource, context)


def _explicit(policies: PolicySet, action: str, resource: str, fixed: dict[str, Value]) -> Deny | None:
    try:
        verdict = decide(policies, action, resource, fixed)
    except Exception:  # INVARIANT: trouble while looking for a better reason leaves the denial as it is
        return None
    return verdict if isinstance(verdict, Deny) and verdict.explicit else None


def _prober(policies: PolicySet, fixed: dict[str, Value], place: Place) -> Probe:
    """Asks for one attribute beside the keys, as a read that selects specific attributes."""

    def probe(operation: str, table: str, index: str | None, leading_key: str, name: str) -> Deny | None:
        try:
            known = place.table(table)
            keys = (known.keys.pk,) if index is None else known.keys.indexes[index]
            context = wire.leading(*([leading_key] for _ in keys))
            context["dynamodb:Attributes"] = wire.attributes((known.keys.pk,), keys, (name,))
            context["dynamodb:Select"] = "SPECIFIC_ATTRIBUTES"
            context["dynamodb:ReturnConsumedCapacity"] = "NONE"
            resource = known.arn if index is None else place.index_arn(known.arn, index)
            verdict = _decide(policies, fixed, Authorisation(f"dynamodb:{operation}", resource, context))
        except Exception as error:  # INVARIANT: trouble while deciding is a denial
            return Deny(f"the decision failed: {type(error).__name__}", "evaluator", action=f"dynamodb:{operation}")
        return verdict if isinstance(verdict, Deny) else None

    return probe
