"""The condition operators: each turns the values of a policy into a test of a context value."""

import operator as compare
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

from gateway.iam.language import arn, scalars, variables
from gateway.iam.language.glob import Test, any_of
from gateway.iam.language.variables import Context, Found, Template

# True: one of the values matches. None: the context value is unreadable, so `not equal` is undecided, too.
Verdict = bool | None
Binder = Callable[[Context], Callable[[str], Verdict]]
Build = Callable[[tuple[str, ...], bool], Binder]
Quantifier = Literal["ForAllValues", "ForAnyValue"]


@dataclass(frozen=True, slots=True)
class Operator:
    """`build` takes a policy's values and whether `${...}` is a variable; it raises ValueError for an invalid value."""

    build: Build
    negated: bool = False


@dataclass(frozen=True, slots=True)
class ConditionOperation:
    """An operator as written in a policy, with its set prefix and `IfExists`."""

    name: str
    operator: Operator
    quantifier: Quantifier | None
    if_exists: bool


def operation(text: str) -> ConditionOperation | None:
    """Parses the name of an operator; None if there is no such operator."""
    prefix, colon, rest = text.rpartition(":")
    if colon and prefix not in ("ForAllValues", "ForAnyValue"):
        return None
    name = rest.removesuffix("IfExists")
    operator = OPERATORS.get(name)
    if operator is None or (name == "Null" and (colon or name != rest)):
        return None
    quantifier: Quantifier | None = "ForAllValues" if prefix == "ForAllValues" else "ForAnyValue" if colon else None
    return ConditionOperation(name, operator, quantifier, name != rest)


def fault(text: str, values: tuple[str, ...], with_variables: bool) -> str | None:
    """Returns what is wrong with a row of a condition, or None."""
    use = operation(text)
    if use is None:
        return f"unknown operator `{text}`"
    try:
        use.operator.build(values, with_variables)
    except ValueError as error:
        return f"operator `{text}`: {error}"
    return None


def _text(values: tuple[str, ...], with_variables: bool, *, wildcards: bool = False, fold: bool = False) -> Binder:
    templates = tuple(variables.template(value, wildcards=wildcards, variables=with_variables) for value in values)

    def test_of(values: Mapping[str, Found]) -> Test:
        patterns = [pattern for parts in templates if (pattern := variables.resolved(parts, values)) is not None]
        if not fold:
            return any_of(patterns)
        folded = frozenset(scalars.ascii_folded("".join(map(str, pattern))) for pattern in patterns)
        return lambda text: scalars.ascii_folded(text) in folded

    return variables.bound(templates, test_of)


def _arns(values: tuple[str, ...], with_variables: bool) -> Binder:
    templates = tuple(variables.template(value, wildcards=True, variables=with_variables) for value in values)
    cut = tuple(None if arn.is_any(parts) else _six(parts) for parts in templates)

    def test_of(values: Mapping[str, Found]) -> Test:
        tests: list[Test] = []
        for six in cut:
            if six is None:
                tests.append(lambda text: arn.segments(text) is not None)
                continue
            patterns = [variables.resolved(parts, values) for parts in six]
            complete = tuple(pattern for pattern in patterns if pattern is not None)
            if len(complete) == len(patterns):
                tests.append(arn.test(complete))
        return lambda text: any(test(text) for test in tests)

    return variables.bound(templates, test_of)


def _six(parts: Template) -> tuple[Template, ...]:
    six = arn.split(parts)
    if six is None:
        raise ValueError("a value is not an ARN of six parts")
    return six


def _scalar(
    values: tuple[str, ...],
    with_variables: bool,
    *,
    read: Callable[[str], Any],
    relation: Callable[[Any, Any], bool] = compare.eq,
    read_value: Callable[[str], Any] | None = None,
    unreadable: Verdict = False,
) -> Binder:
    """Reads both sides as one type; variables are not supported, so `${...}` is an invalid value."""
    expected = [(read_value or read)(value) for value in values]
    if None in expected:
        raise ValueError(f"wrong value `{values[expected.index(None)]}`")

    def test(text: str) -> Verdict:
        value = read(text)
        if value is None:
            return unreadable
        return any(relation(value, other) for other in expected)

    return lambda context: test


def _within(value: Any, block: Any) -> bool:
    return value in block


_number = partial(_scalar, read=scalars.number)
_date = partial(_scalar, read=scalars.timestamp, unreadable=None)
_address = partial(_scalar, read=scalars.address, read_value=scalars.network, relation=_within)
_like = partial(_text, wildcards=True)
_folded = partial(_text, fold=True)


def _ordered(name: str, build: Callable[..., Binder]) -> dict[str, Operator]:
    return {
        f"{name}Equals": Operator(build),
        f"{name}NotEquals": Operator(build, negated=True),
        f"{name}LessThan": Operator(partial(build, relation=compare.lt)),
        f"{name}LessThanEquals": Operator(partial(build, relation=compare.le)),
        f"{name}GreaterThan": Operator(partial(build, relation=compare.gt)),
        f"{name}GreaterThanEquals": Operator(partial(build, relation=compare.ge)),
    }


OPERATORS: Final[Mapping[str, Operator]] = {
    "StringEquals": Operator(_text),
    "StringNotEquals": Operator(_text, negated=True),
    "StringEqualsIgnoreCase": Operator(_folded),
    "StringNotEqualsIgnoreCase": Operator(_folded, negated=True),
    "StringLike": Operator(_like),
    "StringNotLike": Operator(_like, negated=True),
    **_ordered("Numeric", _number),
    **_ordered("Date", _date),
    "Bool": Operator(partial(_scalar, read=scalars.boolean)),
    "BinaryEquals": Operator(partial(_scalar, read=scalars.octets)),
    "IpAddress": Operator(_address),
    "NotIpAddress": Operator(_address, negated=True),
    "ArnEquals": Operator(_arns),
    "ArnLike": Operator(_arns),
    "ArnNotEquals": Operator(_arns, negated=True),
    "ArnNotLike": Operator(_arns, negated=True),
    "Null": Operator(partial(_scalar, read=scalars.boolean)),
}
