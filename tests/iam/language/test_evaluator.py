"""Decisions: the data files, the order of layers, the fingerprint, and that nothing ever raises."""

import json
from collections import Counter
from typing import Any

import pytest

from gateway.iam.language.document import parse
from gateway.iam.language.errors import PolicyError
from gateway.iam.language.evaluator import PolicySet, evaluate, restricts
from gateway.iam.language.operators import OPERATORS, operation
from gateway.iam.language.verdict import Allow, Authorisation, Deny
from tests.iam.cases import Case, load_cases

CASES = load_cases()
TABLE = "arn:aws:dynamodb:eu-west-1:123456789012:table/orders"


def document(*statements: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": list(statements), **more}


def statement(effect: str = "Allow", **more: Any) -> dict[str, Any]:
    return {"Effect": effect, "Action": "dynamodb:GetItem", "Resource": TABLE, **more}


def only(*statements: dict[str, Any]) -> PolicySet:
    return PolicySet((parse(document(*statements), "identity"),))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_decision(case: Case) -> None:
    verdict = evaluate(case.policies, case.request)
    assert verdict.allowed is (case.expected == "allow"), verdict
    if isinstance(verdict, Deny):
        assert verdict.explicit is (case.expected == "explicit deny"), verdict
        assert verdict.layer != "evaluator", verdict
        assert {name: getattr(verdict, name) for name in case.names} == case.names


def test_the_decision_cases_are_many_and_have_titles_of_their_own() -> None:
    assert len(CASES) >= 120
    assert [title for title, count in Counter(case.title for case in CASES).items() if count > 1] == []


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_has_a_case_that_allows_and_one_that_denies(name: str) -> None:
    using = [case for case in CASES if name in operators_of(case)]
    assert {case.expected == "allow" for case in using} == {True, False}


def operators_of(case: Case) -> set[str]:
    rows = [row for one in case.policies.identity for made in one.statements for row in made.conditions]
    return {known.name for row in rows if (known := operation(row.operator)) is not None}


def test_an_allow_names_one_statement_of_each_layer() -> None:
    policies = PolicySet(
        identity=(parse(document(statement(Sid="Rows")), "identity"),),
        session=(parse(document(statement(Sid="Viewer")), "session"),),
        boundary=parse(document(statement()), "boundary"),
    )
    verdict = evaluate(policies, Authorisation("dynamodb:GetItem", TABLE, {}))
    assert verdict == Allow(("identity/Rows", "session/Viewer", "boundary/#1"))


def test_an_implicit_denial_shows_the_first_thing_that_failed_in_each_near_statement() -> None:
    policies = only(
        statement(Sid="Far", Action="dynamodb:PutItem"),
        statement(Sid="Red", Condition={"StringEquals": {"aws:PrincipalTag/Team": "red"}}),
        statement(Sid="Mine", Condition={"Null": {"dynamodb:LeadingKeys": "false"}}),
    )
    verdict = evaluate(policies, Authorisation("dynamodb:GetItem", TABLE, {}))
    assert isinstance(verdict, Deny)
    assert verdict.reason == (
        "no statement of the identity policy allows `dynamodb:GetItem`: "
        "in `Red` condition `StringEquals aws:PrincipalTag/Team` does not hold; "
        "in `Mine` condition `Null dynamodb:LeadingKeys` does not hold"
    )
    assert (verdict.action, verdict.resource) == ("dynamodb:GetItem", TABLE)


def test_an_implicit_denial_shows_that_no_statement_names_the_action_or_the_resource() -> None:
    policies = only(statement(Sid="Reads"))
    action = evaluate(policies, Authorisation("dynamodb:PutItem", TABLE, {}))
    resource = evaluate(policies, Authorisation("dynamodb:GetItem", TABLE + "/index/GSI1", {}))
    assert isinstance(action, Deny)
    assert action.reason == "no statement of the identity policy allows `dynamodb:PutItem`: none names the action"
    assert isinstance(resource, Deny)
    assert resource.reason.endswith(f"on this resource: `Reads` does not name `{TABLE}/index/GSI1`")


def test_a_denial_never_repeats_a_value_of_the_request() -> None:
    policies = only(statement(Condition={"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": "TENANT#acme"}}))
    verdict = evaluate(policies, Authorisation("dynamodb:GetItem", TABLE, {"dynamodb:LeadingKeys": ("TENANT#globex",)}))
    assert isinstance(verdict, Deny)
    assert "globex" not in repr(verdict)


@pytest.mark.parametrize(
    "context",
    [
        {"dynamodb:LeadingKeys": ["TENANT#acme"]},
        {"dynamodb:LeadingKeys": None},
        {"aws:SecureTransport": True},
        {"dynamodb:LeadingKeys": ("TENANT#acme", 1)},
        {1: "x"},
        {"aws:PrincipalTag/TenantId": "acme", "aws:principaltag/tenantid": "globex"},
        None,
    ],
)
def test_trouble_while_deciding_is_a_denial(context: Any) -> None:
    verdict = evaluate(only(statement()), Authorisation("dynamodb:GetItem", TABLE, context))
    assert isinstance(verdict, Deny)
    assert (verdict.layer, verdict.explicit) == ("evaluator", False)


@pytest.mark.parametrize("action", [None, 7, "dynamodb:GetItem\u212a", ("dynamodb:GetItem",)])
def test_an_action_that_is_no_ascii_text_is_denied(action: Any) -> None:
    assert not evaluate(only(statement(Action="*")), Authorisation(action, TABLE, {})).allowed


def test_what_is_not_an_authorisation_is_denied() -> None:
    verdict = evaluate(only(statement()), None)  # type: ignore[arg-type]  # the point of the test
    assert isinstance(verdict, Deny)
    assert verdict.layer == "evaluator"


def test_equal_conditions_of_several_layers_give_each_layer_its_own_verdict() -> None:
    team = {"StringEquals": {"aws:PrincipalTag/Team": "red"}}
    policies = PolicySet(
        identity=(parse(document(statement(Sid="Rows", Condition=team)), "identity"),),
        session=(parse(document(statement("Deny", Sid="No", Condition=team), statement(Sid="Yes")), "session"),),
    )
    red = evaluate(policies, Authorisation("dynamodb:GetItem", TABLE, {"aws:PrincipalTag/Team": "red"}))
    assert isinstance(red, Deny)
    assert red.explicit
    blue = evaluate(policies, Authorisation("dynamodb:GetItem", TABLE, {"aws:PrincipalTag/Team": "blue"}))
    assert isinstance(blue, Deny)
    assert blue.layer == "identity"


def test_layers_that_repeat_a_condition_share_its_check() -> None:
    team = statement(Condition={"StringEquals": {"aws:PrincipalTag/Team": "red"}})
    policies = PolicySet((parse(document(team), "identity"),), session=(parse(document(team), "session"),))
    assert policies.layers[0][0].checks == policies.layers[1][0].checks
    red = Authorisation("dynamodb:GetItem", TABLE, {"aws:PrincipalTag/Team": "red"})
    assert evaluate(policies, red) == Allow(("identity/#1", "session/#1"))


def test_a_document_can_only_be_used_as_what_it_was_parsed_as() -> None:
    session = parse(document(statement()), "session")
    with pytest.raises(PolicyError, match="kind session cannot be the identity policy"):
        PolicySet(identity=(session,))
    with pytest.raises(PolicyError, match="kind session cannot be the boundary policy"):
        PolicySet(identity=(), boundary=session)


def test_the_fingerprint_follows_the_meaning_and_the_place_of_documents() -> None:
    plain = parse(document(statement()), "identity")
    spaced = parse(json.dumps(dict(reversed(document(statement()).items())), indent=3), "identity")
    same = {PolicySet((plain,)).fingerprint, PolicySet((spaced,)).fingerprint}
    session = parse(document(statement()), "session")
    boundary = parse(document(statement()), "boundary")
    others = [
        PolicySet((plain,)),
        PolicySet((plain, plain)),
        PolicySet((plain,), session=()),
        PolicySet((plain,), session=(session,)),
        PolicySet((plain,), boundary=boundary),
        PolicySet((plain,), session=(session,), boundary=boundary),
        PolicySet((parse(document(statement("Deny")), "identity"),)),
    ]
    assert len(same) == 1
    assert len({policies.fingerprint for policies in others}) == len(others)


def test_restricts_finds_a_key_only_where_a_statement_can_matter() -> None:
    policies = only(statement(Condition={"StringEquals": {"dynamodb:Select": "COUNT"}}), statement(Action="s3:*"))
    keys = frozenset(("dynamodb:select",))
    assert restricts(policies, "dynamodb:GetItem", TABLE, keys)
    assert not restricts(policies, "dynamodb:PutItem", TABLE, keys)
    assert not restricts(policies, "dynamodb:GetItem", TABLE, frozenset(("dynamodb:attributes",)))
