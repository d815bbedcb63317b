"""Proves the isolation theorems for LeadingKeys policies that were not generated from a model."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.errors import BadUserInput
from gateway.iam.dynamodb.condition_keys import KEYED
from gateway.iam.formal import specification
from gateway.iam.formal.compiler import FormulaCompiler, allowed
from gateway.iam.formal.errors import NotConfirmed
from gateway.iam.formal.formula import (
    ACTION,
    ELEMENT,
    Every,
    Filled,
    Formula,
    Pattern,
    Ref,
    Some,
    both,
    either,
    is_text,
    negated,
    one_of,
)
from gateway.iam.formal.proof import TheoremOutcome, outcome
from gateway.iam.formal.specification import KEYS, OTHER, Scope, acts, of_service
from gateway.iam.formal.theorems import Theorem
from gateway.iam.language import variables
from gateway.iam.language.document import PolicyDocument
from gateway.iam.language.evaluator import PolicySet, evaluate
from gateway.iam.language.variables import Variable
from gateway.iam.policies.review import EVERY_ACTION

_PREFIX = re.compile(r"(?P<before>[^{}]*)\{(?P<name>\w+)\}(?P<after>[^{}]?)")
_WITHOUT: Final[Mapping[str, str]] = {
    "aws:principaltag/": r"""#*?$%&!~|"'<>(){}[];,^`\\""",
    "cognito-identity.amazonaws.com:": r"""#*?$%&!~|"'<>(){}[];,^`\\/=+_.@ """,
    "aws:userid": r"""#*?$%&!~|"'<>(){}[];^`\\/ """,
    "aws:username": r"""#*?$%&!~|"'<>(){}[];^`\\/: """,
}
"""Characters that the value of a variable cannot contain, by the beginning of its key."""
UNKEYED: Final = (*sorted(EVERY_ACTION - KEYED), "PartiQLSelect")

REASONS: Final[Mapping[str, str]] = {
    "some own row can be used": "nothing is allowed, so there is nothing to prove",
    "no foreign item": "another tenant's item can be reached",
    "no key outside of the prefix": "a key that is not the tenant's own can be reached",
    "no action that has no keys": (
        "AWS fills in no LeadingKeys for this action, and ForAllValues holds for an empty set: the whole table is open"
    ),
    "nothing without a key": (
        "ForAllValues holds where AWS fills in no key: add Null `false` for dynamodb:LeadingKeys. No documented "
        "request of this action has no key; this condition protects the table from a future action without keys"
    ),
}
"""What it means if a theorem does not hold."""


@dataclass(frozen=True, slots=True)
class ForeignPolicy:
    """`prefix` describes the keys of a tenant, such as `TENANT#{tenant}#`; ids contain no character of `without`."""

    policy: PolicyDocument
    prefix: str
    session: PolicyDocument | None = None
    boundary: PolicyDocument | None = None
    without: str = ""

    @property
    def documents(self) -> tuple[PolicyDocument, ...]:
        layers = (self.policy, self.session, self.boundary)
        return tuple(document for document in layers if document is not None)


def questioned(subject: ForeignPolicy) -> Iterator[TheoremOutcome]:
    """Yields the outcome of each theorem, in the order of the report."""
    scope = scope_of(subject)
    splits = {KEYS: scope.split} if scope.split.depth else {}
    compiler = FormulaCompiler(splits)
    layers = [compiler.layer([document]) for document in subject.documents]
    policies = PolicySet((subject.policy,), None if subject.session is None else (subject.session,), subject.boundary)
    wishes = _wishes(scope)
    for theorem in _theorems(allowed(layers), scope):
        result = outcome(theorem, splits, wishes)
        if result.example is not None and not evaluate(policies, result.example.authorisation).allowed:
            raise NotConfirmed("\n".join((theorem.name, *result.example.lines())))
        yield result


def scope_of(subject: ForeignPolicy) -> Scope:
    match = _PREFIX.fullmatch(subject.prefix)
    if match is None:
        raise BadUserInput(
            "a prefix must have one `{name}` and at most one character after it, as in `TENANT#{tenant}#`"
        )
    tag, delimiter = _variable(subject), match["after"]
    texts = match["before"].split(delimiter) if delimiter else [match["before"]]
    parts: list[Pattern] = [(text,) if text else () for text in texts[:-1]]
    parts.append((texts[-1], Ref(tag)) if texts[-1] else (Ref(tag),))
    excluded = next((text for start, text in _WITHOUT.items() if tag.startswith(start)), "")
    return Scope(tuple(parts), delimiter, delimited=bool(delimiter) and delimiter in excluded + subject.without)


def _variable(subject: ForeignPolicy) -> str:
    """Returns the only variable with which the policies compare leading keys."""
    rows = [row for document in subject.documents for statement in document.statements for row in statement.conditions]
    values = [value for row in rows if row.key.lower() == KEYS for value in row.values]
    templates = [variables.template(value, wildcards=True, variables=True) for value in values]
    keys = {part.key for parts in templates for part in parts if isinstance(part, Variable)}
    if len(keys) != 1:
        raise BadUserInput(f"the policies compare leading keys with {len(keys)} variables; a proof is about one")
    return keys.pop()


def _theorems(may: Formula, scope: Scope) -> Iterator[Theorem]:
    rows = both(may, of_service("dynamodb"))
    keyed = both(rows, acts(*KEYED))
    yield Theorem("some own row can be used", "", both(keyed, specification.own_rows(scope)), possible=True)
    yield Theorem("no foreign item", "", both(keyed, specification.foreign(scope)))
    yield Theorem("no key outside of the prefix", "", both(keyed, Some(KEYS, negated(scope.holds(ELEMENT)))))
    yield Theorem("no action that has no keys", "", both(rows, acts(*UNKEYED), negated(Filled(KEYS))))
    yield Theorem("nothing without a key", "", both(rows, negated(Filled(KEYS))))


def _wishes(scope: Scope) -> Sequence[Formula]:
    twin = f"acme{scope.delimiter}2" if scope.delimiter and not scope.delimited else "acme2"
    tag = scope.tags[-1]
    batch = one_of(ACTION, "dynamodb:batchgetitem", "dynamodb:batchwriteitem")
    return (
        is_text(tag, "acme"),
        *(is_text(OTHER, name) for name in ("globex", twin)),
        either(Every(KEYS, scope.of_another().holds(ELEMENT)), batch),
        one_of(ACTION, "dynamodb:getitem", "dynamodb:batchgetitem", "dynamodb:scan"),
        one_of(ACTION, "dynamodb:getitem", "dynamodb:scan"),
    )
