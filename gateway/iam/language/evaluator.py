"""Decides an authorisation: no layer may deny it explicitly, and every layer must allow it.

Layers are identity, session and boundary policies. Organisation policies, resource policies and VPC endpoint policies
are not modelled, so the decision can be wrong for a resource that has a resource policy.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Final

from gateway.iam.language.conditions import Check
from gateway.iam.language.document import PolicyDocument
from gateway.iam.language.errors import PolicyError
from gateway.iam.language.grammar import Kind
from gateway.iam.language.policy_text import canonical
from gateway.iam.language.rules import Rule, RuleCompiler
from gateway.iam.language.variables import Context, Value
from gateway.iam.language.verdict import Allow, Authorisation, Deny

_SHOWN = 5


def explicit_denial(rule: Rule, action: str, resource: str) -> Deny:
    label = rule.statement.label
    reason = f"statement `{label}` of the {rule.layer} policy denies `{action}`"
    return Deny(reason, rule.layer, label, None, True, action, resource)


def implicit_denial(layer: str, rules: tuple[Rule, ...], action: str, resource: str, context: Context) -> Deny:
    """Names the statements that came closest to allowing it: first those for which only a condition failed."""
    allows = [rule for rule in rules if rule.statement.effect == "Allow" and rule.acts(action.lower())]
    opening = f"no statement of the {layer} policy allows `{action}`"
    if not allows:
        return Deny(f"{opening}: none names the action", layer, None, None, False, action, resource)
    reaching = [rule for rule in allows if rule.reaches(resource, context)]
    if not reaching:
        named = ", ".join(f"`{rule.statement.label}`" for rule in allows[:_SHOWN])
        reason = f"{opening} on this resource: {named} does not name `{resource}`"
        return Deny(reason, layer, allows[0].statement.label, None, False, action, resource)
    failures = [(rule.statement.label, row) for rule in reaching if (row := rule.failed(context)) is not None]
    shown = "; ".join(f"in `{label}` condition `{row.label}` does not hold" for label, row in failures[:_SHOWN])
    first, row = failures[0]
    return Deny(f"{opening}: {shown}", layer, first, row.label, False, action, resource)


_CANDIDATES_KEPT: Final = 1_024


@dataclass(frozen=True, slots=True)
class Candidates:
    """The rules that can matter for one action on one resource."""

    denies: tuple[Rule, ...]
    allows: tuple[tuple[Rule, ...], ...]


@dataclass(frozen=True, slots=True)
class PolicySet:
    """The documents of one session, compiled once; `session=None` means that no session policy was passed.

    Several session policies form one union. An empty tuple is a present layer that allows nothing.
    """

    identity: tuple[PolicyDocument, ...]
    session: tuple[PolicyDocument, ...] | None = None
    boundary: PolicyDocument | None = None
    fingerprint: str = field(init=False)
    layers: tuple[tuple[Rule, ...], ...] = field(init=False, repr=False, compare=False)
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    candidates: Callable[[str, str], Candidates] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        present: dict[Kind, tuple[PolicyDocument, ...] | None] = {
            "identity": self.identity,
            "session": self.session,
            "boundary": None if self.boundary is None else (self.boundary,),
        }
        documents = {kind: layer for kind, layer in present.items() if layer is not None}
        for kind, layer in documents.items():
            for document in layer:
                if document.kind != kind:
                    raise PolicyError(f"a document of kind {document.kind} cannot be the {kind} policy")
        compiler = RuleCompiler()
        layers = tuple(
            tuple(rule for document in layer for rule in compiler.rules(document, kind))
            for kind, layer in documents.items()
        )
        text = canonical([[kind, [document.text for document in layer]] for kind, layer in documents.items()])
        object.__setattr__(self, "fingerprint", sha256(text.encode()).hexdigest())
        object.__setattr__(self, "layers", layers)
        object.__setattr__(self, "names", tuple(documents))
        object.__setattr__(self, "candidates", _lookup(layers))


def evaluate(policies: PolicySet, authorisation: Authorisation) -> Allow | Deny:
    """Never raises: if deciding fails, the request is denied."""
    try:
        context = lowered(authorisation.context)
        return decide(policies, authorisation.action, authorisation.resource, context)
    except Exception as error:  # INVARIANT: if deciding fails, the request is denied
        return _failed(error, authorisation)


def decide(policies: PolicySet, action: str, resource: str, context: Context) -> Allow | Deny:
    """Does the same as `evaluate` for a context with lower-case keys; may raise if a value has the wrong type."""
    candidates = policies.candidates(action, resource)
    held: dict[Check, bool] = {}
    # INVARIANT: explicit denials of all layers are checked before any permission.
    for rule in candidates.denies:
        if rule.applies(resource, context, held):
            return explicit_denial(rule, action, resource)
    granted: list[str] = []
    for index, allows in enumerate(candidates.allows):
        for rule in allows:
            if rule.applies(resource, context, held):
                granted.append(rule.name)
                break
        else:
            return implicit_denial(policies.names[index], policies.layers[index], action, resource, context)
    return Allow(tuple(granted))


def restricts(policies: PolicySet, action: str, resource: str, keys: frozenset[str]) -> bool:
    """Whether a statement about this action and resource has a condition on one of the keys (lower-case)."""
    candidates = policies.candidates(action, resource)
    rules = (*candidates.denies, *(rule for allows in candidates.allows for rule in allows))
    return any(row.key in keys for rule in rules for row in rule.checks)


def lowered(context: Context) -> dict[str, Value]:
    """Returns the context with lower-case keys; refuses two keys that differ only in case."""
    values = {key.lower(): value for key, value in context.items()}
    if len(values) != len(context):
        raise ValueError("two context keys differ only in case")
    if not all(map(_is_value, values.values())):
        raise TypeError("a context value must be a string or a tuple of strings")
    return values


def _is_value(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, tuple) and all(isinstance(text, str) for text in value))


def _lookup(layers: tuple[tuple[Rule, ...], ...]) -> Callable[[str, str], Candidates]:
    """Matches actions and fixed resources once for each pair, so that each request only evaluates conditions."""

    def find(action: str, resource: str) -> Candidates:
        if not action.isascii():
            raise ValueError("an action must be ASCII")
        folded = action.lower()
        near = [
            [rule for rule in layer if rule.acts(folded) and (not rule.fixed or rule.reaches(resource, {}))]
            for layer in layers
        ]
        return Candidates(
            tuple(rule for layer in near for rule in layer if rule.statement.effect == "Deny"),
            tuple(tuple(rule for rule in layer if rule.statement.effect == "Allow") for layer in near),
        )

    return lru_cache(maxsize=_CANDIDATES_KEPT)(find)


def _failed(error: Exception, authorisation: Authorisation) -> Deny:
    # the authorisation itself may have the wrong type, so only its text is used
    action, resource = (getattr(authorisation, name, "") for name in ("action", "resource"))
    return Deny(f"the decision failed: {type(error).__name__}", "evaluator", action=str(action), resource=str(resource))
