"""The solver means what Python means: texts in parts, sets of any size, and requests that are known to the last key."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.iam.formal.compiler import FormulaCompiler, allowed
from gateway.iam.formal.errors import NotProvable
from gateway.iam.formal.formula import (
    ACTION,
    ARN,
    ELEMENT,
    Every,
    Filled,
    Formula,
    Present,
    Ref,
    Some,
    both,
    either,
    is_text,
    negated,
)
from gateway.iam.formal.interpreter import evaluator, facts
from gateway.iam.formal.representatives import representatives, samples
from gateway.iam.formal.solver.solver import solve
from gateway.iam.formal.specification import KEYS, SPLITS
from gateway.iam.formal.string_patterns import WHOLE, Split, matches
from gateway.iam.language.evaluator import PolicySet, evaluate
from gateway.iam.language.glob import Wild, compiled
from gateway.iam.language.variables import Value
from gateway.iam.language.verdict import Authorisation
from tests.drawn import drawn
from tests.iam.formal.requests import document, request

# `make prove-random` tries more
KNOWN = 40
TAG = "aws:principaltag/tenantid"
letters = st.text("aT#", max_size=7)
tokens = st.lists(st.sampled_from(["a", "T", "#", "T#", Wild.MANY, Wild.ONE, Ref(TAG)]), max_size=6).map(tuple)


@settings(deadline=None, max_examples=drawn(600, 60))
@given(letters, tokens, st.text("aT", min_size=1, max_size=2), st.integers(1, 3))
def test_a_pattern_over_parts_is_the_pattern_over_the_whole_text(
    text: str, pattern: tuple[str | Wild | Ref, ...], tag: str, depth: int
) -> None:
    split = {"key": Split("#", depth)}
    known: dict[str, Value] = {"key": text, TAG: tag}
    whole = compiled(tuple(tag if isinstance(token, Ref) else token for token in pattern))(text)
    assert evaluator(matches("key", pattern, split["key"]), split)(known) is whole


@given(st.lists(st.tuples(letters, st.booleans()), max_size=4), st.text("aT#xy", max_size=8))
def test_the_listed_texts_stand_for_every_text(given_: list[tuple[str, bool]], text: str) -> None:
    patterns = [
        ((one, Wild.MANY) if wild else (one,)) if one else ((Wild.MANY,) if wild else ()) for one, wild in given_
    ]
    fixed = [pattern for pattern in patterns if pattern != (Wild.MANY,)]
    listed = representatives(fixed)
    assert listed is not None
    answers = {tuple(compiled(pattern)(each) for pattern in fixed) for each in listed}
    assert tuple(compiled(pattern)(text) for pattern in fixed) in answers


def test_a_wildcard_inside_is_not_listed() -> None:
    assert representatives([("a", Wild.MANY, "b")]) is None


@pytest.mark.parametrize(
    ("operator", "values", "text"),
    [
        ("NumericLessThan", ("10", "20"), "15"),
        ("DateGreaterThan", ("2026-01-01",), "2026-01-02T00:00:00Z"),
        ("IpAddress", ("10.0.0.0/8",), "10.9.9.9"),
        ("NotIpAddress", ("0.0.0.0/0", "::/0"), "10.9.9.9"),
        ("Bool", ("true",), "FALSE"),
        ("BinaryEquals", ("YQ==",), "Yg=="),
    ],
)
def test_the_samples_of_a_comparison_give_every_answer(operator: str, values: tuple[str, ...], text: str) -> None:
    from gateway.iam.language.operators import OPERATORS

    tests = [OPERATORS[operator].build((value,), True)({}) for value in values]
    answers = {tuple(test(each) for test in tests) for each in samples(operator, values)}
    assert tuple(test(text) for test in tests) in answers


def pinned(asked: Authorisation) -> Formula:
    """The formula that only this request satisfies."""
    known = facts(asked)
    found: list[Formula] = [is_text(ACTION, str(known[ACTION]))]
    keys = (*ARN, "dynamodb:select", TAG, "aws:sourceip", KEYS, "dynamodb:attributes")
    for key in keys:
        value = known.get(key)
        split = SPLITS.get(key, WHOLE)
        if value is None:
            found.append(negated(Present(key)))
        elif isinstance(value, str):
            found += [Present(key), is_text(key, value)]
        else:
            each = [matches(ELEMENT, (text,) if text else (), split) for text in value]
            filled = Filled(key) if value else negated(Filled(key))
            found += [Present(key), filled, Every(key, either(*each)), *(Some(key, one) for one in each)]
    return both(*found)


def as_aws_would(asked: Authorisation) -> Authorisation:
    """Sets where AWS has sets, single texts elsewhere, and no `#` in a tag."""
    several = ("dynamodb:LeadingKeys", "dynamodb:Attributes")
    context: dict[str, Value] = {}
    for key, value in asked.context.items():
        texts = (value,) if isinstance(value, str) else value
        if key in several:
            context[key] = texts
        elif texts:
            context[key] = texts[0].replace("#", "")
    return Authorisation(asked.action, asked.resource, context)


def test_the_solver_decides_a_known_request_as_the_evaluator_does() -> None:
    known_agree(KNOWN)


def known_agree(count: int) -> int:
    """How many requests were decided."""
    random = Random(18)
    decided: list[bool] = []
    for _ in range(count):
        policies = PolicySet((document(random, "identity"),))
        may = allowed(FormulaCompiler(SPLITS).layers(policies))
        for _ in range(2):
            asked = as_aws_would(request(random))
            verdict = evaluate(policies, asked).allowed
            try:
                answer = solve(both(may, pinned(asked)), SPLITS).answer
            except NotProvable:
                continue
            assert answer == ("possible" if verdict else "impossible"), (policies, asked)
            decided.append(verdict)
    assert len(decided) > count * 15 // 16
    assert count // 8 < sum(decided) < len(decided) - count // 8
    return len(decided)


def test_a_set_has_as_many_values_as_a_formula_needs() -> None:
    """Three different values are asked for at once, beside what every value must be."""
    names = ("a", "b", "c")
    every = Every("dynamodb:attributes", either(*(is_text(ELEMENT, name) for name in names)))
    some = [Some("dynamodb:attributes", is_text(ELEMENT, name)) for name in names]
    found = solve(both(every, *some), {})
    assert set(found.facts["dynamodb:attributes"]) == set(names)
    assert solve(both(every, *some, Some("dynamodb:attributes", is_text(ELEMENT, "d"))), {}).answer == "impossible"


def test_an_action_that_nobody_knows_is_tried_too() -> None:
    later = both(matches(ACTION, ("dynamodb:", Wild.MANY, "2031")), negated(matches(ACTION, ("dynamodb:a", Wild.MANY))))
    found = solve(later, {})
    assert found.answer == "possible"
    assert str(found.facts[ACTION]).endswith("2031")
    nowhere = both(matches(ACTION, ("dynamodb:x", Wild.MANY)), negated(matches(ACTION, ("dynamodb:", Wild.MANY))))
    assert solve(nowhere, {}).answer == "impossible"


def test_what_takes_the_solver_too_much_work_is_undecided() -> None:
    """Two tenants, one key, texts left whole: the encoding that does not work."""
    own = [
        either(matches("k", ("T#", Ref(tenant))), matches("k", ("T#", Ref(tenant), "#", Wild.MANY)))
        for tenant in ("t", "u")
    ]
    plain = [negated(matches(tenant, (Wild.MANY, "#", Wild.MANY))) for tenant in ("t", "u")]
    same = both(Present("t"), Present("u"), negated(matches("t", (Ref("u"),))))
    assert solve(both(*own, *plain, same, is_text(ACTION, "a:b")), {}, work=100_000).answer == "undecided"
