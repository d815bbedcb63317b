"""Compiles a condition to a function that decides whether it holds in a context."""

from collections.abc import Callable
from dataclasses import dataclass

from gateway.iam.language.grammar import Condition, Effect
from gateway.iam.language.operators import Binder, ConditionOperation, operation
from gateway.iam.language.variables import Context

Holds = Callable[[Context], bool]


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """`key` is lower-case; `label` is the operator and key as written. Compared by identity, so it is a cheap dict key.

    `row` is the source; it is None if the row was not understood.
    """

    label: str
    key: str
    holds: Holds
    row: Condition | None = None
    with_variables: bool = False


def check(row: Condition, effect: Effect, with_variables: bool) -> Check | None:
    """Returns the compiled row, or None if it is not understood."""
    use = operation(row.operator)
    if use is None:
        return None
    try:
        binder = use.operator.build(row.values, with_variables)
    except ValueError:
        return None
    key = row.key.lower()
    # INVARIANT: a condition that cannot be decided never grants and always denies.
    unsure = effect == "Deny"
    return Check(f"{row.operator} {row.key}", key, _holds(use, key, binder, unsure), row, with_variables)


def _holds(use: ConditionOperation, key: str, binder: Binder, unsure: bool) -> Holds:
    if use.name == "Null":
        return _null(key, binder)
    test = _each(use.operator.negated, binder, unsure)
    if use.quantifier == "ForAllValues":
        return _for_all(key, test)
    if use.quantifier == "ForAnyValue":
        # AWS does not document `ForAnyValue:...IfExists` for an absent key; without `IfExists` it is false.
        return _for_any(key, test, absent=unsure if use.if_exists else False)
    return _single(key, test, absent=use.if_exists or use.operator.negated, unsure=unsure)


def _each(negated: bool, binder: Binder, unsure: bool) -> Callable[[Context], Callable[[str], bool | None]]:
    """Returns the operator applied to one value; a negated operator requires that no listed value matches."""
    if not negated:
        return binder

    def bound(context: Context) -> Callable[[str], bool]:
        test = binder(context)

        def differs(text: str) -> bool:
            verdict = test(text)
            return unsure if verdict is None else not verdict

        return differs

    return bound


def _null(key: str, binder: Binder) -> Holds:
    test = binder({})
    when_null, when_present = bool(test("true")), bool(test("false"))
    # An empty set and an empty text are null too.
    return lambda context: when_present if context.get(key) else when_null


def _single(key: str, binder: Binder, *, absent: bool, unsure: bool) -> Holds:
    def holds(context: Context) -> bool:
        value = context.get(key)
        if value is None:
            return absent
        # A key with several values needs a set operator; without one the condition cannot be decided.
        return bool(binder(context)(value)) if type(value) is str else unsure

    return holds


def _for_all(key: str, binder: Binder) -> Holds:
    def holds(context: Context) -> bool:
        value = context.get(key)
        if value is None:
            return True
        test = binder(context)
        for text in (value,) if type(value) is str else value:  # noqa: SIM110  # twice as fast as all()
            if not test(text):
                return False
        return True

    return holds


def _for_any(key: str, binder: Binder, *, absent: bool) -> Holds:
    def holds(context: Context) -> bool:
        value = context.get(key)
        if value is None or value == ():
            return absent
        test = binder(context)
        for text in (value,) if type(value) is str else value:  # noqa: SIM110  # twice as fast as any()
            if test(text):
                return True
        return False

    return holds
