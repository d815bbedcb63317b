"""A second line that has a gap is found, whatever the first line says."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.iam.language.document import parse
from gateway.iam.policies.deployment import LONGEST, render
from gateway.iam.policies.generate import STREAM_FILE, documents, kind_of, session_document
from gateway.iam.policies.review import review
from gateway.iam.policies.roles import gateway_role
from gateway.model.role import PERSONAL, Role

Change = Callable[[dict[str, dict[str, Any]]], object]


def messages(name: str, change: Change = lambda clauses: None) -> list[str]:
    made = copy.deepcopy(documents(MODEL)[name])
    change({clause["Sid"]: clause for clause in made["Statement"]})
    made["Statement"] = [clause for clause in made["Statement"] if clause.get("Effect")]
    found = review(parse(render(made, LONGEST), kind_of(name)), of_stream=name == STREAM_FILE)
    return [finding.message for finding in found]


def dropped(sid: str) -> Change:
    return lambda clauses: clauses[sid].clear()


@pytest.mark.parametrize("name", documents(MODEL))
def test_the_shipped_documents_have_no_gap(name: str) -> None:
    assert messages(name) == []


@pytest.mark.parametrize(
    ("sid", "message"),
    [
        ("NeverForeignRows", "the rows of another tenant is not explicitly denied"),
        ("NeverForeignRows", "a batch with a row of another tenant is not explicitly denied"),
        ("NeverWithoutKey", "a request without partition keys is not explicitly denied"),
        ("NeverWithoutTenant", "a session without a tenant is not explicitly denied"),
        ("NeverWholeTable", "`dynamodb:Scan` is not granted, but not explicitly denied either"),
        ("NeverStreams", "`dynamodb:GetRecords` is not granted"),
        ("NeverCopies", "`dynamodb:ExportTableToPointInTime` is not granted"),
        ("NeverPolicies", "`dynamodb:PutResourcePolicy` is not granted"),
        ("NeverAdministration", "`dynamodb:DeleteTable` is not granted"),
    ],
)
def test_a_dropped_denial_of_the_role_is_a_gap(sid: str, message: str) -> None:
    assert any(message in line for line in messages("tenant-role.json", dropped(sid)))


CLERK = Role(name="clerk", description="", hides=PERSONAL, writes=("Category",), removes=())


@pytest.mark.parametrize(
    ("sid", "key", "actions"),
    [
        ("NeverWholeItems", "select", {"BatchGetItem", "GetItem", "Query"}),
        ("NeverReturnedItems", "returnvalues", {"ConditionCheckItem", "PutItem", "UpdateItem"}),
    ],
)
def test_hidden_attributes_need_rules_for_whole_items(sid: str, key: str, actions: set[str]) -> None:
    made = session_document(gateway_role(MODEL, CLERK))
    assert list(review(parse(made, "session"))) == []
    made["Statement"] = [clause for clause in made["Statement"] if clause["Sid"] != sid]
    found = [finding.message for finding in review(parse(made, "session"))]
    words = f"may return attributes that are hidden: deny it by `dynamodb:{key}`"
    assert set(found) == {f"`dynamodb:{action}` {words}" for action in actions}


def test_a_role_that_writes_nothing_needs_no_rule_for_what_writes_return() -> None:
    assert all(
        clause["Sid"] != "NeverReturnedItems" for clause in documents(MODEL)["session-support.json"]["Statement"]
    )


def test_a_denial_for_one_table_is_no_second_line() -> None:
    narrow: Change = lambda clauses: clauses["NothingElse"].update(Resource="arn:aws:dynamodb:*:*:table/one")  # noqa: E731
    assert any("`dynamodb:Scan`" in line for line in messages("boundary.json", narrow))
    complement: Change = lambda clauses: clauses["NothingElse"].update(  # noqa: E731
        NotResource=clauses["NothingElse"].pop("Resource")
    )
    assert any("`dynamodb:Scan`" in line for line in messages("boundary.json", complement))


def test_if_exists_and_defaults_are_refused() -> None:
    def loosen(clauses: dict[str, dict[str, Any]]) -> None:
        condition = clauses["OwnItems"]["Condition"]
        condition["StringEqualsIfExists"] = {"aws:SourceVpc": "vpc-1"}
        condition["StringEquals"] = {"aws:PrincipalTag/TenantId": "${aws:PrincipalTag/TenantId, 'any'}"}

    found = messages("session-viewer.json", loosen)
    assert any("say with Null" in line for line in found)
    assert any("a default would replace a missing tenant" in line for line in found)


def test_a_trust_policy_demands_the_tenant_for_the_role_itself() -> None:
    def loosen(clauses: dict[str, dict[str, Any]]) -> None:
        del clauses["GatewayAssumes"]["Condition"]["Null"]["aws:RequestTag/TenantId"]

    assert any("without its tenant tag" in line for line in messages("tenant-trust.json", loosen))


@pytest.mark.parametrize(
    ("sid", "message"),
    [
        ("NeverTenants", "the rows of a tenant is not explicitly denied"),
        ("NeverTenants", "a batch with a row of a tenant is not explicitly denied"),
        ("NeverWithoutKeys", "a request without partition keys is not explicitly denied"),
    ],
)
def test_the_streams_reader_is_explicitly_denied_the_rows_of_tenants(sid: str, message: str) -> None:
    assert any(message in found for found in messages(STREAM_FILE, dropped(sid)))
