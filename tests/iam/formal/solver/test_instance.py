"""A formula for given tags says what the formula says of requests with these tags, and is quick to satisfy."""

from random import Random

from gateway.iam.formal.compiler import FormulaCompiler, allowed
from gateway.iam.formal.formula import ELEMENT, Formula, Present, Ref, Some, both, either, is_text, negated
from gateway.iam.formal.interpreter import evaluator, facts
from gateway.iam.formal.solver.instance import Tags, instance, tag_choices
from gateway.iam.formal.solver.solver import solve
from gateway.iam.formal.specification import KEYS, OTHER, SPLITS, SUBJECT, TENANT
from gateway.iam.formal.string_patterns import matches
from gateway.iam.language.glob import Wild
from gateway.iam.language.variables import Value
from tests.iam.formal.requests import document, request
from tests.policies.solver_kills import shipped


def key_like(*pattern: str | Wild | Ref) -> Formula:
    return Some(KEYS, matches(ELEMENT, pattern, SPLITS[KEYS]))


OWN = key_like("TENANT#", Ref(TENANT), "#USER#", Ref(SUBJECT))


def test_a_formula_for_given_tags_agrees_with_the_formula_on_requests_with_these_tags() -> None:
    random = Random(7)
    choices: list[Tags] = [{TENANT: "acme", "x:y": "u1"}, {TENANT: None, "x:y": "u1"}, {TENANT: "acme", "x:y": None}]
    for number in range(300):
        tags = choices[number % 3]
        formula = allowed([FormulaCompiler(SPLITS).layer([document(random, "identity")])])
        decide, decide_instance = (evaluator(each, SPLITS) for each in (formula, instance(formula, tags, SPLITS)))
        for _ in range(20):
            others = {key: value for key, value in facts(request(random)).items() if key not in tags}
            known: dict[str, Value] = {**others, **{key: text for key, text in tags.items() if text is not None}}
            assert decide_instance(known) is decide(known)


def test_every_tag_that_a_formula_refers_to_has_a_text_of_its_own_or_is_absent() -> None:
    assert tag_choices(key_like("TENANT#", Wild.MANY)) == []
    assert tag_choices(OWN) == [
        {TENANT: "initech", SUBJECT: "u1"},
        {TENANT: None, SUBJECT: "u1"},
        {TENANT: "initech", SUBJECT: None},
    ]
    assert tag_choices(both(OWN, key_like("TENANT#", Ref(OTHER))))[0][OTHER] == "globex"


def test_a_request_with_two_tags_is_found_and_has_them() -> None:
    solution = solve(OWN, SPLITS)
    assert solution.answer == "possible"
    assert solution.facts[KEYS] == ("TENANT#initech#USER#u1",)
    assert (solution.facts[TENANT], solution.facts[SUBJECT]) == ("initech", "u1")


def test_a_request_without_a_tag_is_found() -> None:
    anonymous = both(either(OWN, key_like("TENANT#", Ref(TENANT), "#PRODUCT#x")), negated(Present(SUBJECT)))
    solution = solve(anonymous, SPLITS)
    assert solution.answer == "possible"
    assert SUBJECT not in solution.facts


def test_an_instance_that_has_no_request_proves_nothing() -> None:
    """No sample is the tag `stark`, so the formula itself is asked."""
    umbrella = both(OWN, is_text(TENANT, "stark"))
    assert solve(umbrella, SPLITS).answer == "possible"
    assert solve(both(umbrella, negated(is_text(TENANT, "stark"))), SPLITS).answer == "impossible"


def test_roles_of_own_rows_are_told_apart() -> None:
    """The theory of strings alone does not find this request in 20 seconds."""
    proof = shipped()
    customer, admin = (
        allowed(proof.of_role(next(role for role in proof.roles if role.name == name)))
        for name in ("customer", "admin")
    )
    assert solve(both(admin, negated(customer)), SPLITS).answer == "possible"
    assert solve(both(customer, negated(admin)), SPLITS).answer == "impossible"
