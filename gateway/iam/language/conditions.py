"""A condition compiled: a function of the context that holds or does not."""

from collections.abc import Callable
from dataclasses import dataclass

from gateway.iam.language.grammar import Condition, Effect
from gateway.iam.language.operators import Binder, ConditionOperation, operation
from gateway.iam.language.variables import Context

Holds = Callable[[Context], bool]


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """`key` is lower-case; `label` is the row as the policy writes it. Equal only to itself, so it is a cheap key.

    `row` is what was compiled; without one the check stands for a row that was not understood.
    """

    label: str
    key: str
    holds: Holds
    row: Condition | None = None
    with_variables: bool = False


def check(row: Condition, effect: Effect, with_variables: bool) -> Check | None:
    """The compiled row, or None when it is not understood."""
    use = operation(row.operator)
    if use is None:
        return None
    try:
        binder = use.operator.build(row.values, with_variables)
    except ValueError:
        return None
    key = row.key.lower()
    # INVARIANT: what cannot be told never grants, and always denies.
    unsure = effect == "Deny"
    return Check(f"{row.operator} {row.key}", key, _holds(use, key, binder, unsure), row, with_variables)


def _holds(use: ConditionOperation, key: str, binder: Binder, unsure: bool) -> Holds:
    if use.name == "Null":
        return _null(key, binder)
    test = _each(use.operator.negated, binder, unsure)
    if use.quantifier == "ForAllValues":
        return _for_all(key, test)
    if use.quantifier == "ForAnyValue":
        # Absent under `ForAnyValue:...IfExists` is unsettled at AWS; without `IfExists` it is false.
        return _for_any(key, test, absent=unsure if use.if_exists else False)
    return _single(key, test, absent=use.if_exists or use.operator.negated, unsure=unsure)


def _each(negated: bool, binder: Binder, unsure: bool) -> Callable[[Context], Callable[[str], bool | None]]:
    """The operator on one value: a negated one asks that no listed value matches."""
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
    # An empty set and an empty text are null, too.
    return lambda context: when_present if context.get(key) else when_null


def _single(key: str, binder: Binder, *, absent: bool, unsure: bool) -> Holds:
    def holds(context: Context) -> bool:
        value = context.get(key)
        if value is None:
            return absent
        # A key of several values needs a set operator: without one nobody can say which value is meant.
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
