"""A statement compiled: which actions, which resources, under which conditions."""

from collections.abc import Callable
from dataclasses import dataclass

from gateway.iam import arn, glob, variables
from gateway.iam.conditions import Check, check
from gateway.iam.document import Document
from gateway.iam.statement import Effect, Statement
from gateway.iam.variables import Context

Reach = Callable[[str, Context], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """`fixed`: the resources hold no variable, so that reaching one does not depend on the context."""

    layer: str
    statement: Statement
    acts: glob.Test
    reaches: Reach
    fixed: bool
    checks: tuple[Check, ...]

    @property
    def name(self) -> str:
        return f"{self.layer}/{self.statement.label}"

    def failed(self, context: Context) -> Check | None:
        """The first condition that does not hold."""
        for row in self.checks:
            if not row.holds(context):
                return row
        return None

    def applies(self, resource: str, context: Context) -> bool:
        """For a rule whose action is known to match; its fixed resources, too."""
        if not self.fixed and not self.reaches(resource, context):
            return False
        for row in self.checks:  # noqa: SIM110  # the hot path: no generator
            if not row.holds(context):
                return False
        return True


def rules(document: Document, layer: str) -> tuple[Rule, ...]:
    return tuple(_rule(statement, layer, document.has_variables) for statement in document.statements)


def _rule(statement: Statement, layer: str, with_variables: bool) -> Rule:
    acts = glob.any_of(glob.parts(action.lower()) for action in statement.actions)
    reaches, fixed = _reach(statement, with_variables)
    return Rule(
        layer,
        statement,
        (lambda action: not acts(action)) if statement.excludes_actions else acts,
        reaches,
        fixed,
        _checks(statement, with_variables),
    )


def _checks(statement: Statement, with_variables: bool) -> tuple[Check, ...]:
    made = tuple(check(row, statement.effect, with_variables) for row in statement.conditions)
    known = tuple(row for row in made if row is not None)
    if len(known) == len(made):
        return known
    # INVARIANT: a statement with a condition that is not understood never grants, and always denies.
    if statement.effect == "Deny":
        return ()
    lost = statement.conditions[made.index(None)]
    return (Check(f"{lost.operator} {lost.key} (not understood)", lost.key.lower(), lambda context: False),)


def _reach(statement: Statement, with_variables: bool) -> tuple[Reach, bool]:
    """The test of a resource; a statement of a trust policy names none and stands for its own role."""
    if not statement.resources or "*" in statement.resources:
        everything = not statement.excludes_resources
        return (lambda resource, context: everything), True
    templates = tuple(
        variables.template(text, wildcards=True, variables=with_variables) for text in statement.resources
    )
    keys = variables.keys(templates)
    # Without its variable's value an element names no resource. Its complement would be everything: that may
    # widen a Deny, but must not widen an Allow.
    unknown = statement.effect == "Deny"
    excludes = statement.excludes_resources

    def reaches(resource: str, context: Context) -> bool:
        values = {key: variables.found(context, key) for key in keys}
        patterns = [_pattern(parts, values) for parts in templates]
        named = any(pattern is not None and arn.test(pattern)(resource) for pattern in patterns)
        if not excludes:
            return named
        return not named and (unknown or None not in patterns)

    return reaches, not keys


def _pattern(parts: variables.Template, values: dict[str, variables.Found]) -> tuple[glob.Pattern, ...] | None:
    six = arn.split(parts)
    patterns = [variables.resolved(segment, values) for segment in six or ()]
    known = tuple(pattern for pattern in patterns if pattern is not None)
    return known if len(known) == arn.SEGMENTS else None


def effect_is(rule: Rule, effect: Effect) -> bool:
    return rule.statement.effect == effect
