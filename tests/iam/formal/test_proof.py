"""The theorems hold for what is shipped, for the example outside of the package, and for models and roles at random."""

import sys
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.demo import MODEL
from gateway.domains import load_domains
from gateway.iam.formal.compiler import FormulaCompiler, allowed
from gateway.iam.formal.counterexample import readable
from gateway.iam.formal.errors import NotConfirmed, NotProvable
from gateway.iam.formal.explanations import EXPLAINED, explanation
from gateway.iam.formal.formula import FALSE, Like, Piece, Ref, Scalar, both
from gateway.iam.formal.liveness import uses
from gateway.iam.formal.proof import TheoremOutcome, outcome, prove
from gateway.iam.formal.solver import solver
from gateway.iam.formal.solver.lemma import LEMMA, lemma
from gateway.iam.formal.solver.solver import solve
from gateway.iam.formal.specification import KEYS, TENANT, Scope
from gateway.iam.formal.theorems import ProofSubject, Theorem, isolation, subject, theorems
from gateway.iam.language.document import parse
from gateway.iam.policies.generate import documents, session_document, session_file
from gateway.iam.policies.hidden_data import hidden_partitions, personal_attributes
from gateway.iam.policies.roles import ITEM_ACTIONS, GatewayRole, Grant
from gateway.model.entity import Attribute, Entity, Key, OnIndex
from gateway.model.model import Model
from gateway.model.patterns import Lookup
from gateway.model.types import Id, KeyString, Text
from tests.drawn import drawn
from tests.model.build import model
from tests.policies.fixtures import DEPLOYMENT, SHIPPED, TABLE

SUBJECT = "aws:principaltag/subject"


def about(found: Model, made: Mapping[str, Mapping[str, Any]] | None = None) -> ProofSubject:
    return subject(found, made or documents(found), DEPLOYMENT)


def refuted(outcomes: list[TheoremOutcome]) -> list[tuple[str, str]]:
    return [(each.theorem.name, each.theorem.about) for each in outcomes if not each.proved]


@pytest.mark.slow
def test_every_theorem_holds_for_the_shipped_policies() -> None:
    found = about(MODEL, SHIPPED)
    outcomes = list(prove(theorems(found), DEPLOYMENT))
    assert refuted(outcomes) == []
    assert len(outcomes) > 100
    names = {each.theorem.name for each in outcomes}
    assert {name.partition(": ")[2] or name for name in names} == set(EXPLAINED), "each is explained, none is left over"
    assert all(explanation(name) for name in names)


def test_every_pattern_and_every_write_of_every_role_is_allowed_as_declared() -> None:
    found = list(uses(about(MODEL, SHIPPED)))
    assert [use for use in found if not use.held] == []
    for role in tuple(MODEL.all_roles):
        names = {use.name for use in found if use.role == role}
        assert set(MODEL.patterns) <= names
        assert {f"Put {entity}" for entity in MODEL.entities} <= names
        assert {mutation.name for mutation in MODEL.mutations} <= names
        declared = {mutation.name for mutation in MODEL.mutations if MODEL.all_roles[role].writes_result(mutation)}
        assert declared <= {use.name for use in found if use.role == role and use.allowed}
    assert {use.role for use in found if use.allowed and use.operation == "TransactWriteItems"} == {
        *("admin", "editor", "customer", "ordering"),
    }


def test_an_empty_policy_is_no_proof() -> None:
    """A document that denies everything keeps tenants apart, and fails the theorems of use."""
    nothing = {"Sid": "Nothing", "Effect": "Deny", "Action": "*", "Resource": "*"}
    made = {**SHIPPED, "boundary.json": {"Version": "2012-10-17", "Statement": [nothing]}}
    found = about(MODEL, made)
    of_use, apart = {"every granted action is usable", "grants no less than declared"}, "no foreign item"
    authorisation = [theorem for theorem in theorems(found) if theorem.name in {*of_use, apart}]
    assert {name for name, _ in refuted(list(prove(authorisation, DEPLOYMENT)))} == of_use
    assert apart in {theorem.name for theorem in authorisation}
    assert not all(use.held for use in uses(found))


@pytest.mark.slow
def test_every_theorem_holds_for_a_domain_outside_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend("examples")
    found = about(load_domains(["helpdesk.domain"]).model)
    assert refuted(list(prove(theorems(found), DEPLOYMENT))) == []
    assert all(use.held for use in uses(found))


@pytest.mark.slow
def test_roles_are_ordered_where_unique_values_lie_below_those_of_a_wider_role(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clinic has such roles; CI proves all of its theorems."""
    monkeypatch.syspath_prepend("examples/clinic")
    found = about(load_domains(["clinic.domain"]).model)
    ordered = [theorem for theorem in theorems(found) if theorem.name == "roles are ordered as declared"]
    assert len(ordered) > 40
    assert refuted(list(prove(ordered[::2], DEPLOYMENT))) == []
    assert all(use.held for use in uses(found))


attributes = st.builds(
    lambda email, label: (
        Attribute("thingId", Id(), "Its id."),
        Attribute("ownerId", Id(), "Whose it is."),
        Attribute("email", KeyString(), "Whom to write to.", personal=email),
        Attribute("label", Text(), "What is written on it.", personal=label),
    ),
    st.booleans(),
    st.booleans(),
)
keys = st.sampled_from(["THING#{thingId}", "A#{thingId}#B", "EMAIL#{email}#{thingId}"])
index_keys = st.sampled_from(["OWNER#{ownerId}", "MAIL#{email}", "M#{ownerId}#{email}", "M#{email}#X"])


def index_sort_key(table_pk: str, index_pk: str) -> str:
    """A key on an index names all attributes that identify an item."""
    return "{email}#{thingId}" if "{email}" in table_pk and "{email}" not in index_pk else "{thingId}"


things = st.builds(
    lambda attributes, pk, index_pks: Entity(
        name="Thing",
        description="",
        attributes=attributes,
        key=Key(pk=pk, sk="META"),
        indexes=tuple(
            OnIndex(index=f"GSI{at}", pk=index_pk, sk=index_sort_key(pk, index_pk), low_cardinality_reason="a test")
            for at, index_pk in enumerate(index_pks, 1)
        ),
    ),
    attributes,
    keys,
    st.lists(index_keys, max_size=2),
)
roles = st.tuples(
    *(
        st.builds(
            lambda actions, sees, name=name: (name, tuple(sorted(actions)), sees),
            st.sets(st.sampled_from(ITEM_ACTIONS), min_size=1),
            st.booleans(),
        )
        for name in ("admin", "editor", "support", "viewer")
    )
)


# the first one is always the smallest; `make test-random` tries another, and `make prove-random` many
@settings(deadline=None, max_examples=drawn(2, 1), suppress_health_check=list(HealthCheck))
@given(things, roles)
def test_every_theorem_holds_for_any_model_and_any_roles(thing: Entity, declared: tuple[Any, ...]) -> None:
    holds_for(thing, declared)


def holds_for(thing: Entity, declared: tuple[tuple[str, tuple[str, ...], bool], ...]) -> None:
    found = model(thing, patterns=(Lookup(name="thing", entity="Thing", description=""),))
    given = [_role(found, *each) for each in declared]
    sessions = {session_file(role.name): session_document(role) for role in given}
    made = {**documents(found), **sessions}
    proved = subject(found, made, DEPLOYMENT, given)
    assert refuted(list(prove(theorems(proved), DEPLOYMENT))) == []
    assert [use for use in uses(proved) if not use.held] == []


def _role(found: Model, name: str, actions: tuple[str, ...], sees_personal: bool) -> GatewayRole:
    hidden, paths = (
        ((), ())
        if sees_personal
        else (personal_attributes(found), hidden_partitions(found, frozenset(personal_attributes(found))))
    )
    by_hidden_key = bool(found.entities["Thing"].primary.pk.names & set(hidden))
    readable = frozenset(()) if by_hidden_key else frozenset(("thing",))
    return GatewayRole(name, "", (Grant(actions),), hidden, paths, patterns=readable)


OWN_ROWS = Scope((("TENANT",), (Ref(TENANT),), ("USER",), (Ref(SUBJECT),)))
PREFIX = "TENANT#${aws:PrincipalTag/TenantId}#USER#${aws:PrincipalTag/Subject}"


def own_rows(*patterns: str) -> list[TheoremOutcome]:
    """A role whose rows are a subject's own, written by hand, with the subject as a part of the scope."""
    statement = {
        "Effect": "Allow",
        "Action": ["dynamodb:GetItem", "dynamodb:BatchGetItem"],
        "Resource": TABLE,
        "Condition": {
            "ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(patterns)},
            "Null": {"dynamodb:LeadingKeys": "false"},
        },
    }
    splits = {KEYS: OWN_ROWS.split}
    document = parse({"Version": "2012-10-17", "Statement": statement}, "identity")
    may = allowed([FormulaCompiler(splits).layer([document])])
    wishes = readable(OWN_ROWS, DEPLOYMENT)
    return [outcome(theorem, splits, wishes) for theorem in isolation("customer", may, OWN_ROWS)]


def test_the_same_theorems_keep_subjects_of_one_tenant_apart() -> None:
    assert refuted(own_rows(PREFIX, f"{PREFIX}#*")) == []


def test_a_rule_for_the_tenant_does_not_keep_its_subjects_apart() -> None:
    outcomes = own_rows("TENANT#${aws:PrincipalTag/TenantId}", "TENANT#${aws:PrincipalTag/TenantId}#*")
    assert ("no foreign item", "customer") in refuted(outcomes)
    [leak] = [each.example for each in outcomes if each.theorem.name == "no foreign item" and each.example]
    (key,) = tuple(leak.authorisation.context["dynamodb:LeadingKeys"])
    assert key.endswith("#USER#globex#USER#1")
    assert leak.authorisation.context["aws:principaltag/subject"] == "acme"


def test_the_lemma_is_proved_by_a_second_solver_that_can_say_no() -> None:
    assert lemma() == "impossible"
    # without the `#` after the tag the lemma is false
    assert lemma(LEMMA.replace('"TENANT#" tag "#"', '"TENANT#" tag')) == "possible"


@pytest.mark.parametrize("name", ["z3", "cvc5"])
def test_without_a_solver_the_proof_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    solver.z3_module.cache_clear()
    try:
        with pytest.raises(NotProvable, match="pip install"):
            solve(FALSE, {}) if name == "z3" else lemma()
    finally:
        solver.z3_module.cache_clear()


@pytest.mark.parametrize(
    "condition",
    [
        {"StringEqualsIgnoreCase": {"aws:x": "${aws:PrincipalTag/TenantId}"}},
        {"StringLike": {"aws:x": "?${aws:PrincipalTag/TenantId}"}},
        {"StringLike": {"aws:x": "*a*${aws:PrincipalTag/TenantId}*b"}},
        {"ArnLike": {"aws:x": "arn:aws:iam::*:role/${aws:PrincipalTag/TenantId}"}},
        {"NumericLessThan": {"aws:x": "10"}, "StringLike": {"aws:x": "1*"}},
        {"NumericLessThan": {"aws:x": "1e-30"}},
    ],
)
def test_what_the_solver_cannot_decide_is_refused(condition: dict[str, Any]) -> None:
    """INVARIANT: a proof never ignores a part of a policy."""
    statement = {"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "*", "Condition": condition}
    document = parse({"Version": "2012-10-17", "Statement": statement}, "identity")
    with pytest.raises(NotProvable):
        solve(allowed([FormulaCompiler().layer([document])]), {})


def test_an_answer_of_the_solver_that_python_does_not_confirm_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Scalar("aws:x", "never", ("1",), lambda text: False)
    found = solver.Solution("possible", {"aws:x": "1"}, {})
    monkeypatch.setattr("gateway.iam.formal.proof.solve", lambda *given: found)
    with pytest.raises(NotConfirmed, match="please report it"):
        list(prove([Theorem("no foreign item", "x", both(wrong, Like(Piece("aws:x"), ("1",))))], DEPLOYMENT))
