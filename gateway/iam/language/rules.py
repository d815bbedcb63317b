"""Compiles a statement to tests of the action, the resource and the conditions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gateway.iam.language import arn, glob, variables
from gateway.iam.language.conditions import Check, check
from gateway.iam.language.document import PolicyDocument
from gateway.iam.language.grammar import Condition, Effect, Statement
from gateway.iam.language.variables import Context

Reach = Callable[[str, Context], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """`fixed` means that the resources contain no variable, so the context does not matter for them."""

    name: str
    layer: str
    statement: Statement
    acts: glob.Test
    reaches: Reach
    fixed: bool
    checks: tuple[Check, ...]

    def failed(self, context: Context) -> Check | None:
        """Returns the first condition that does not hold."""
        for row in self.checks:
            if not row.holds(context):
                return row
        return None

    def applies(self, resource: str, context: Context, held: dict[Check, bool]) -> bool:
        """Decides a rule whose action and fixed resources match; `held` caches conditions within one decision."""
        if not self.fixed and not self.reaches(resource, context):
            return False
        for row in self.checks:
            holds = held.get(row)
            if holds is None:
                holds = held[row] = row.holds(context)
            if not holds:
                return False
        return True


class RuleCompiler:
    """Compiles rules; equal conditions share one check, because layers often repeat them."""

    def __init__(self) -> None:
        self._made: dict[tuple[Condition, Effect, bool], Check | None] = {}

    def rules(self, document: PolicyDocument, layer: str) -> tuple[Rule, ...]:
        return tuple(self._rule(statement, layer, document.has_variables) for statement in document.statements)

    def _rule(self, statement: Statement, layer: str, with_variables: bool) -> Rule:
        acts = glob.any_of(glob.parts(action.lower()) for action in statement.actions)
        reaches, fixed = _reach(statement, with_variables)
        return Rule(
            f"{layer}/{statement.label}",
            layer,
            statement,
            (lambda action: not acts(action)) if statement.excludes_actions else acts,
            reaches,
            fixed,
            self._checks(statement, with_variables),
        )

    def _checks(self, statement: Statement, with_variables: bool) -> tuple[Check, ...]:
        compiled = tuple(self._check(row, statement.effect, with_variables) for row in statement.conditions)
        understood = tuple(row for row in compiled if row is not None)
        if len(understood) == len(compiled):
            return understood
        # INVARIANT: a statement with a condition that is not understood never grants and always denies.
        if statement.effect == "Deny":
            return ()
        lost = statement.conditions[compiled.index(None)]
        return (Check(f"{lost.operator} {lost.key} (not understood)", lost.key.lower(), lambda context: False),)

    def _check(self, row: Condition, effect: Effect, with_variables: bool) -> Check | None:
        key = (row, effect, with_variables)
        if key not in self._made:
            self._made[key] = check(*key)
        return self._made[key]


def _reach(statement: Statement, with_variables: bool) -> tuple[Reach, bool]:
    """Returns the test of a resource; a statement of a trust policy names none and applies to its own role."""
    if not statement.resources or "*" in statement.resources:
        everything = not statement.excludes_resources
        return (lambda resource, context: everything), True
    templates = tuple(
        variables.template(text, wildcards=True, variables=with_variables) for text in statement.resources
    )
    # An element whose variable has no value names no resource. Its complement would be everything, which may widen
    # a Deny but must not widen an Allow.
    unknown = statement.effect == "Deny"
    excludes = statement.excludes_resources

    def make(values: Mapping[str, variables.Found]) -> glob.Test:
        patterns = [_pattern(parts, values) for parts in templates]
        tests = [arn.test(pattern) for pattern in patterns if pattern is not None]
        if not excludes:
            return lambda resource: any(test(resource) for test in tests)
        if None in patterns and not unknown:
            return lambda resource: False
        return lambda resource: not any(test(resource) for test in tests)

    bound = variables.bound(templates, make)
    return (lambda resource, context: bound(context)(resource)), not variables.keys(templates)


def _pattern(parts: variables.Template, values: Mapping[str, variables.Found]) -> tuple[glob.Pattern, ...] | None:
    patterns = [variables.resolved(segment, values) for segment in arn.split(parts) or ()]
    complete = tuple(pattern for pattern in patterns if pattern is not None)
    return complete if len(complete) == arn.SEGMENTS else None
