"""Partial evaluation: decides policies for a kind of request before its tenant and its leading keys are known.

The request is an example, parsed by `authorisations` like any other, so a wire form that the evaluator does not
understand cannot be prepared. Its leading keys and the tenant's tag are left open. A condition on neither is decided
immediately. A condition on them is either decided for all keys that start with the tenant's own prefix, or becomes
part of the residual. Anything else is not prepared.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

from gateway.iam.dynamodb.condition_keys import LEADING_KEYS, PRINCIPAL_SUBJECT, PRINCIPAL_TENANT
from gateway.iam.dynamodb.key_schemas import TableRegistry
from gateway.iam.dynamodb.requests import authorisations
from gateway.iam.dynamodb.residual import END, Residual
from gateway.iam.dynamodb.residual import SUBJECT as SUBJECT_MARK
from gateway.iam.dynamodb.writes import ON_FAILURE
from gateway.iam.language import glob, variables
from gateway.iam.language.conditions import Check
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.language.glob import Pattern, Wild
from gateway.iam.language.operators import ConditionOperation, operation
from gateway.iam.language.rules import Rule
from gateway.iam.language.variables import Context, Template, Value, Variable
from gateway.iam.language.verdict import Allow, Authorisation
from gateway.model.tenant import TenantId, partition

TENANT: Final = PRINCIPAL_TENANT.lower()
LEADING: Final = frozenset((LEADING_KEYS.lower(), "dynamodb:firstpartitionkeyvalues"))
SUBJECT: Final = PRINCIPAL_SUBJECT.lower()
OPEN: Final = LEADING | {TENANT, SUBJECT}
"""The context keys that are not known yet, in lower case."""

_SECOND: Final = "dynamodb:secondpartitionkeyvalues"
_WILDCARDS: Final = {"StringEquals": False, "StringNotEquals": False, "StringLike": True, "StringNotLike": True}
_OWN: Final = variables.template(partition(TenantId(f"${{{PRINCIPAL_TENANT}}}"), ""), wildcards=False, variables=True)
_CHECKS_KEPT: Final = 4_096
# Any non-empty set: for conditions that only test for presence.
_SOME: Final = ("some",)

# The part of a pattern after the tenant's own prefix; False: it matches no key with that prefix.
Tail = Pattern | Literal[False]


@dataclass(frozen=True, slots=True)
class PreparedPermission:
    """The verdict on every request like the example whose leading keys satisfy the residual."""

    verdict: Allow
    residual: Residual

    @property
    def statements(self) -> tuple[str, ...]:
        return self.verdict.statements


@dataclass(frozen=True, slots=True)
class Undecided:
    """A condition on the leading keys: what makes it hold, and what makes it fail; None if nothing is known to."""

    holds: Residual | None
    fails: Residual | None


def prepare(
    policies: PolicySet, operation: str, body: Mapping[str, Any], place: TableRegistry, principal: Context
) -> PreparedPermission | None:
    """None if it is not understood or never allowed; then the evaluator decides. Never raises.

    `principal` is what the tenants have in common, with lower-case keys: everything but the tenant's tag.
    """
    try:
        return _prepare(policies, operation, body, place, principal)
    except Exception:  # INVARIANT: trouble while preparing leaves the decision to the evaluator
        return None


def depends_on_tenant(policies: PolicySet, action: str) -> bool:
    """Whether verdicts on this action may differ between tenants for the same request below their own prefix."""
    rules = (rule for layer in policies.layers for rule in layer if rule.acts(action.lower()))
    return not all(rule.fixed and all(outcome(row, {}) is not None for row in rule.checks) for rule in rules)


def _prepare(
    policies: PolicySet, operation: str, body: Mapping[str, Any], place: TableRegistry, principal: Context
) -> PreparedPermission | None:
    # Returning a whole item on failure has its own rule in `Permissions`.
    if not OPEN.isdisjoint(principal) or body.get(ON_FAILURE) == "ALL_OLD":
        return None
    left, granted = Residual(), list[str]()
    for one in authorisations(operation, body, place):
        permission = _authorised(policies, one, principal)
        if permission is None:
            return None
        # Checked for the keys of the whole request, which is never less strict than for each part.
        left = left.also(permission.residual)
        granted.extend(permission.statements)
    return PreparedPermission(Allow(tuple(dict.fromkeys(granted))), left)


def _authorised(policies: PolicySet, one: Authorisation, principal: Context) -> PreparedPermission | None:
    context = {key.lower(): value for key, value in one.context.items()}
    if not context.keys() >= LEADING or _SECOND in context:
        return None
    decided: dict[str, Value] = {key: value for key, value in context.items() if key not in LEADING} | dict(principal)
    candidates = policies.candidates(one.action, one.resource)
    left, granted = Residual(), list[str]()
    for rule in candidates.denies:
        avoided = _avoided(rule, decided)
        if avoided is None:
            return None
        left = left.also(avoided)
    for allows in candidates.allows:
        granting = _first(allows, decided)
        if granting is None:
            return None
        granted.append(granting[0])
        left = left.also(granting[1])
    return PreparedPermission(Allow(tuple(granted)), left)


def _avoided(rule: Rule, known: Context) -> Residual | None:
    """What keeps a denial from applying, whatever its resources are: one of its conditions fails."""
    outcomes = [outcome(row, known) for row in rule.checks]
    if False in outcomes:
        return Residual()
    open_ones = (undecided.fails for undecided in outcomes if isinstance(undecided, Undecided))
    return next((residual for residual in open_ones if residual is not None), None)


def _first(allows: tuple[Rule, ...], known: Context) -> tuple[str, Residual] | None:
    """The name of the statement that grants, and what makes it the first one that does."""
    for rule in allows:
        outcomes = [outcome(row, known) for row in rule.checks]
        if False in outcomes:
            continue
        # Some tenants reach a resource with a variable and others do not.
        residual = _all_hold(outcomes) if rule.fixed else None
        return None if residual is None else (rule.name, residual)
    return None


def _all_hold(outcomes: list[bool | Undecided | None]) -> Residual | None:
    left = Residual()
    for condition in outcomes:
        needed = Residual() if condition is True else condition.holds if isinstance(condition, Undecided) else None
        if needed is None:
            return None
        left = left.also(needed)
    return left


def outcome(row: Check, known: Context) -> bool | Undecided | None:
    """The outcome of a condition, if there is a tenant and all leading keys start with its own prefix.

    None if it cannot be determined.
    """
    result = _outcome_of_open(row)
    return row.holds(known) if result == "closed" else result


@lru_cache(maxsize=_CHECKS_KEPT)
def _outcome_of_open(row: Check) -> bool | Undecided | Literal["closed"] | None:
    """Like `outcome`, for a condition on an open key; such a condition involves nothing else."""
    kind = None if row.row is None else operation(row.row.operator)
    if row.row is None or kind is None:
        return None
    wildcards = _WILDCARDS.get(kind.name, False)
    templates = tuple(
        variables.template(text, wildcards=wildcards, variables=row.with_variables) for text in row.row.values
    )
    if OPEN.isdisjoint((row.key, *variables.keys(templates))):
        return "closed"
    if kind.name == "Null" and row.key == SUBJECT:
        # Not every session has a subject, so the residual requires one.
        with_subject = Residual(subject=True)
        held = row.holds({SUBJECT: "somebody"})
        return Undecided(with_subject, None) if held else Undecided(None, with_subject)
    # Neither depends on a value: one tests for presence, the other cannot be determined for a set.
    if kind.name == "Null" or (row.key in LEADING and kind.quantifier is None):
        return row.holds({row.key: _SOME})
    # INVARIANT: a condition that refers to the tenant in any other way than as the prefix of a key is not understood.
    if row.key not in LEADING or kind.name not in _WILDCARDS:
        return None
    return _on_keys(kind, [_tail(parts) for parts in templates])


def _on_keys(kind: ConditionOperation, tails: list[Tail | None]) -> bool | Undecided | None:
    """A set operator on the leading keys. If all keys match, or none does, the quantifier makes no difference."""
    if None in tails:
        return None
    negated = kind.operator.negated
    matching = [tail for tail in tails if tail]
    exact = () in tails
    if (Wild.MANY,) in matching:
        return not negated
    if not matching and not exact:
        return negated
    all_match = _all_match(matching)
    none_match = None if exact else _none_match(matching)
    return Undecided(none_match, all_match) if negated else Undecided(all_match, none_match)


def _all_match(tails: list[Pattern]) -> Residual | None:
    """Sufficient: each key starts with one of the patterns that are plain prefixes, or equals one of the others."""
    prefixes = [tail[0] for tail in tails if len(tail) == 2 and tail[1] is Wild.MANY]
    whole = [f"{tail[0]}{END}" for tail in tails if len(tail) == 1 and isinstance(tail[0], str)]
    plain = (*(prefix for prefix in prefixes if isinstance(prefix, str)), *whole)
    return Residual(required=(plain,)) if plain else None


def _none_match(tails: list[Pattern]) -> Residual | None:
    """Sufficient: no key starts with the text before the first wildcard of a pattern."""
    heads = tuple(tail[0] for tail in tails if isinstance(tail[0], str))
    return Residual(forbidden=heads) if len(heads) == len(tails) else None


def _tail(parts: Template) -> Tail | None:
    """A pattern relative to the tenant's own prefix; None if it may match some of the keys below it."""
    if parts and all(part is Wild.MANY for part in parts):
        return (Wild.MANY,)
    for part, own in zip(parts, _OWN, strict=False):
        if isinstance(part, Variable) and isinstance(own, Variable) and part.key == own.key:
            continue
        if part != own:
            # Two different characters never match; a wildcard or another variable may.
            return False if isinstance(part, str) and isinstance(own, str) else None
    if len(parts) < len(_OWN):
        return False
    tail = [_marked(part) for part in parts[len(_OWN) :]]
    fixed = tuple(part for part in tail if part is not None)
    return glob.merged(fixed) if len(fixed) == len(tail) else None


def _marked(part: str | Wild | Variable) -> str | Wild | None:
    """A part with the placeholder for the subject; None for any other variable, and for a text that contains a
    placeholder."""
    if isinstance(part, Variable):
        return SUBJECT_MARK if part.key == SUBJECT and part.default is None else None
    return None if part in (SUBJECT_MARK, END) else part
