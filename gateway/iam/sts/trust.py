"""Decides whether a caller may assume a role: the role's trust policy and the caller's own policies must allow it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.iam.language import arn
from gateway.iam.language.document import PolicyDocument
from gateway.iam.language.errors import PolicyError
from gateway.iam.language.evaluator import PolicySet, evaluate, explicit_denial, implicit_denial, lowered
from gateway.iam.language.rules import Rule, RuleCompiler
from gateway.iam.language.variables import Context, Value
from gateway.iam.language.verdict import Allow, Authorisation, Deny
from gateway.iam.sts.assume_role import ASSUME_ACTIONS, Invalid, RoleRequest, validate


@dataclass(frozen=True, slots=True)
class AssumingCaller:
    """`arn` is the user or role; `session_arn` is set if the caller is an assumed role, so this is chaining."""

    arn: str
    policies: PolicySet
    session_arn: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    transitive_tags: Mapping[str, str] = field(default_factory=dict)
    source_identity: str | None = None


@dataclass(frozen=True, slots=True)
class AssumableRole:
    arn: str
    trust: PolicyDocument
    max_session_seconds: int = 3_600
    tags: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[Rule, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.trust.kind != "trust":
            raise PolicyError(f"a document of kind {self.trust.kind} cannot be a trust policy")
        object.__setattr__(self, "rules", RuleCompiler().rules(self.trust, "trust"))


def assume(request: RoleRequest, role: AssumableRole, caller: AssumingCaller) -> Allow | Deny | Invalid:
    """The verdict on an AssumeRole call. Never raises: if deciding fails, the call is denied."""
    try:
        return _assume(request, role, caller)
    except Exception as error:  # INVARIANT: if deciding fails, the call is denied
        return Deny(f"the decision failed: {type(error).__name__}", "evaluator", action=ASSUME_ACTIONS[0])


def session_tags(request: RoleRequest, role: AssumableRole, caller: AssumingCaller) -> dict[str, str]:
    """The tags of the new session: those of the role, overridden by inherited tags, overridden by passed tags."""
    merged: dict[str, tuple[str, str]] = {}
    for tags in (role.tags.items(), caller.transitive_tags.items(), request.tags):
        merged.update({key.lower(): (key, value) for key, value in tags})
    return dict(merged.values())


def _assume(request: RoleRequest, role: AssumableRole, caller: AssumingCaller) -> Allow | Deny | Invalid:
    chained = caller.session_arn is not None
    fault = validate(request, chained=chained, inherited=caller.transitive_tags)
    if fault is not None:
        return fault
    if request.role_arn != role.arn:
        return Deny("the request names another role", "request", action=ASSUME_ACTIONS[0], resource=request.role_arn)
    if caller.source_identity is not None and request.source_identity not in (None, caller.source_identity):
        return Invalid("ValidationError", "the source identity is already set and cannot change")
    context = lowered(_context(request, caller))
    granted: list[str] = []
    for action in _needed(request, caller):
        for verdict in (_trusts(role, caller, action, context), _may(caller, action, role, context)):
            if isinstance(verdict, Deny):
                return verdict
            granted.extend(verdict.statements)
    if request.duration_seconds > role.max_session_seconds:
        return Invalid("ValidationError", "DurationSeconds exceeds the MaxSessionDuration set for this role")
    return Allow(tuple(dict.fromkeys(granted)))


def _needed(request: RoleRequest, caller: AssumingCaller) -> tuple[str, ...]:
    """Inherited tags and source identities are set again on the new session and need the same permission."""
    tagged = bool(request.tags or caller.transitive_tags)
    identified = bool(request.source_identity or caller.source_identity)
    conditions = (True, tagged, identified)
    return tuple(action for action, needed in zip(ASSUME_ACTIONS, conditions, strict=True) if needed)


def _context(request: RoleRequest, caller: AssumingCaller) -> dict[str, Value]:
    source = request.source_identity or caller.source_identity
    single = {
        "sts:RoleSessionName": request.session_name,
        "sts:ExternalId": request.external_id,
        "sts:SourceIdentity": source,
        "aws:SourceIdentity": caller.source_identity,
        "aws:PrincipalArn": caller.arn,
        "aws:PrincipalAccount": arn.account(caller.arn),
    }
    context: dict[str, Value] = {key: value for key, value in single.items() if value is not None}
    context |= {f"aws:PrincipalTag/{key}": value for key, value in caller.tags.items()}
    context |= {f"aws:RequestTag/{key}": value for key, value in request.tags}
    if request.tags:
        context["aws:TagKeys"] = tuple(key for key, _ in request.tags)
    if request.transitive_tag_keys:
        context["sts:TransitiveTagKeys"] = tuple(dict.fromkeys(request.transitive_tag_keys))
    return context


def _trusts(role: AssumableRole, caller: AssumingCaller, action: str, context: Context) -> Allow | Deny:
    """Only statements that name the caller apply, denials first."""
    near = tuple(rule for rule in role.rules if any(_is(caller, *named) for named in rule.statement.principals))
    applying = [rule for rule in near if rule.acts(action.lower()) and rule.failed(context) is None]
    for rule in applying:
        if rule.statement.effect == "Deny":
            return explicit_denial(rule, action, role.arn)
    for rule in applying:
        return Allow((rule.name,))
    if not near:
        return Deny("the trust policy does not name the caller", "trust", action=action, resource=role.arn)
    return implicit_denial("trust", near, action, role.arn, context)


def _may(caller: AssumingCaller, action: str, role: AssumableRole, context: Context) -> Allow | Deny:
    # If the trust policy names a caller of the same account exactly, AWS does not need the caller's own policies to
    # allow it. Here they must always allow it, as AWS requires across accounts.
    return evaluate(caller.policies, Authorisation(action, role.arn, context))


def _is(caller: AssumingCaller, kind: str, named: str) -> bool:
    if kind != "AWS":
        return False
    parts = arn.segments(caller.arn)
    partition, account = (parts[1], parts[4]) if parts else ("", "")
    whole_account = (account, f"arn:{partition}:iam::{account}:root")
    return named in ("*", caller.arn, caller.session_arn, *whole_account)
