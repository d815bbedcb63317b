"""Compiles policy documents to formulas over requests; a formula decides each request like the evaluator."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Final

from gateway.iam.formal.formula import (
    ACTION,
    ARN,
    CALLER,
    CALLER_SESSION,
    ELEMENT,
    FALSE,
    TRUE,
    ArnLike,
    Constant,
    Every,
    Filled,
    Formula,
    Pattern,
    Present,
    Ref,
    Scalar,
    Single,
    Some,
    both,
    either,
    is_text,
    negated,
)
from gateway.iam.formal.representatives import samples
from gateway.iam.formal.string_patterns import WHOLE, Split, matches
from gateway.iam.language import arn, glob, variables
from gateway.iam.language.document import PolicyDocument
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.language.glob import Wild
from gateway.iam.language.grammar import Condition, Effect, Statement
from gateway.iam.language.operators import ConditionOperation, operation
from gateway.iam.language.scalars import ascii_folded
from gateway.iam.language.variables import Template

_ANY: Final[Pattern] = (Wild.MANY,)
_ROOT: Final = 5


@dataclass(frozen=True, slots=True)
class Layer:
    """The formulas by which one layer of policies allows a request, and by which it explicitly denies it.

    `restricts` has only the denials with conditions, which apply whatever else is granted.
    """

    allows: Formula
    denies: Formula
    restricts: Formula = FALSE


@dataclass(frozen=True, slots=True)
class FormulaCompiler:
    """`splits` maps a lower-case key to how its texts are split; the texts of other keys are not split."""

    splits: Mapping[str, Split] = field(default_factory=dict)

    def layer(self, documents: Sequence[PolicyDocument]) -> Layer:
        statements = [(entry, document.has_variables) for document in documents for entry in document.statements]
        denials = [(entry[0], self.statement(*entry)) for entry in statements if entry[0].effect == "Deny"]
        return Layer(
            either(*(self.statement(*entry) for entry in statements if entry[0].effect == "Allow")),
            either(*(formula for _, formula in denials)),
            either(*(formula for statement, formula in denials if statement.conditions)),
        )

    def layers(self, policies: PolicySet) -> tuple[Layer, ...]:
        layers = [self.layer(policies.identity)]
        if policies.session is not None:
            layers.append(self.layer(policies.session))
        return tuple(layers) if policies.boundary is None else (*layers, self.layer([policies.boundary]))

    def statement(self, statement: Statement, with_variables: bool) -> Formula:
        """Returns the formula for the requests that the statement applies to."""
        acts = either(*(matches(ACTION, glob.parts(action.lower())) for action in statement.actions))
        return both(
            negated(acts) if statement.excludes_actions else acts,
            _principal(statement),
            _resource(statement, with_variables),
            *(self._row(row, statement.effect, with_variables) for row in statement.conditions),
        )

    def _row(self, row: Condition, effect: Effect, with_variables: bool) -> Formula:
        use = operation(row.operator)
        if use is None:  # cannot happen: `parse` refuses unknown operators
            raise ValueError(f"unknown operator `{row.operator}`")
        key, unsure = row.key.lower(), effect == "Deny"
        if use.name == "Null":
            values = {value.lower() for value in row.values}
            null, filled = Constant("true" in values), Constant("false" in values)
            return either(both(Filled(key), filled), both(negated(Filled(key)), null))
        test = self._each(use, key, row.values, with_variables, unsure)
        return _quantified(use, key, test, unsure)

    def _each(
        self, use: ConditionOperation, key: str, values: tuple[str, ...], with_variables: bool, unsure: bool
    ) -> Callable[[str], Formula]:
        """Returns the operator applied to one text; a negated operator requires that no listed value matches."""
        if use.name.startswith(("String", "Arn")):

            def matched(subject: str) -> Formula:
                matching = either(*(self._value(use.name, key, subject, value, with_variables) for value in values))
                return negated(matching) if use.operator.negated else matching

            return matched
        test, label = use.operator.build(values, with_variables)({}), f"{use.name} {' '.join(values)}"

        def passes(text: str) -> bool:
            verdict = test(text)
            if not use.operator.negated:
                return bool(verdict)
            return unsure if verdict is None else not verdict

        return lambda subject: Scalar(subject, f"{label} {unsure}", samples(use.name, values), passes)

    def _value(self, name: str, key: str, subject: str, value: str, with_variables: bool) -> Formula:
        wild = name in ("StringLike", "StringNotLike") or name.startswith("Arn")
        template = variables.template(value, wildcards=wild, variables=with_variables)
        if name.startswith("Arn"):
            return _arn(subject, template)
        fold = name.endswith("IgnoreCase")
        split = self.splits.get(key, WHOLE)

        def matched(pattern: Pattern) -> Formula:
            folded = tuple(ascii_folded(part) if isinstance(part, str) else part for part in pattern)
            return matches(subject, folded if fold else pattern, split, fold=fold)

        return _with_variables(template, matched)


def allowed(layers: Sequence[Layer]) -> Formula:
    """Returns the formula: no layer denies, and every layer allows."""
    return both(*(negated(layer.denies) for layer in layers), *(layer.allows for layer in layers))


def denied(layers: Sequence[Layer]) -> Formula:
    """Returns the formula: some layer denies explicitly."""
    return either(*(layer.denies for layer in layers))


def _quantified(use: ConditionOperation, key: str, test: Callable[[str], Formula], unsure: bool) -> Formula:
    absent, single = negated(Present(key)), both(Single(key), test(key))
    if use.quantifier == "ForAllValues":
        return either(absent, single, Every(key, test(ELEMENT)))
    if use.quantifier == "ForAnyValue":
        empty = both(Present(key), negated(Single(key)), negated(Filled(key)))
        nothing = either(absent, empty) if use.if_exists and unsure else FALSE
        return either(nothing, single, Some(key, test(ELEMENT)))
    several = both(Present(key), negated(Single(key)))
    return either(
        absent if use.if_exists or use.operator.negated else FALSE,
        single,
        several if unsure else FALSE,
    )


def _principal(statement: Statement) -> Formula:
    """Returns the formula for the caller: a trust policy must name it, and any other policy applies to all callers."""
    if not statement.principals:
        return TRUE
    return either(*(_names(kind, text) for kind, text in statement.principals))


def _names(kind: str, text: str) -> Formula:
    if kind != "AWS":
        return FALSE
    if text == "*":
        return TRUE
    parts = arn.segments(text)
    exact = either(is_text(CALLER, text), is_text(CALLER_SESSION, text))
    if text.isdigit():
        return either(exact, ArnLike(CALLER, (_ANY, _ANY, _ANY, (text,), _ANY)))
    if parts is not None and parts[2:4] == ["iam", ""] and parts[_ROOT] == "root":
        return either(exact, ArnLike(CALLER, ((parts[1],), _ANY, _ANY, (parts[4],), _ANY)))
    return exact


def _resource(statement: Statement, with_variables: bool) -> Formula:
    if not statement.resources or "*" in statement.resources:
        return Constant(not statement.excludes_resources)
    templates = [variables.template(text, wildcards=True, variables=with_variables) for text in statement.resources]
    reached = either(*(_with_variables(template, _reaches) for template in templates))
    if not statement.excludes_resources:
        return reached
    # An element whose variable has no value names no resource: its complement may widen a Deny, but not an Allow.
    if statement.effect == "Deny":
        return negated(reached)
    return both(*(_with_variables(template, lambda _: TRUE) for template in templates), negated(reached))


def _reaches(pattern: Pattern) -> Formula:
    segments = (arn.split(pattern) or ())[1:]
    return both(*(both(Present(key), matches(key, segment)) for key, segment in zip(ARN, segments, strict=True)))


def _arn(subject: str, template: Template) -> Formula:
    if arn.is_any(template):
        return ArnLike(subject, (_ANY,) * len(ARN))

    def matched(pattern: Pattern) -> Formula:
        exact = all(isinstance(token, str) for token in pattern)
        return matches(subject, pattern) if exact else ArnLike(subject, (arn.split(pattern) or ())[1:])

    return _with_variables(template, matched)


def _with_variables(template: Template, make: Callable[[Pattern], Formula]) -> Formula:
    """Applies `make` to the pattern for every combination of variables with a value or with their default."""
    keys = variables.keys((template,))
    options: list[Formula] = []
    for choice in product((True, False), repeat=len(keys)):
        has_text = dict(zip(keys, choice, strict=True))
        pattern = variables.resolved(template, {key: Ref(key) if text else None for key, text in has_text.items()})
        if pattern is not None:
            guards = (
                both(Single(key), Filled(key)) if text else negated(Filled(key)) for key, text in has_text.items()
            )
            options.append(both(*guards, make(pattern)))
    return either(*options)
