"""An explanation names the verdict, and of each layer the statement and the condition."""

import pytest

from gateway.demo import MODEL
from gateway.errors import BadUserInput
from gateway.iam.policies.policies import generated
from gateway.ops.policies.explain import Explanation, as_text, explain

POLICIES = generated(MODEL)


def explained(role: str, request: str, tenant: str = "acme") -> Explanation:
    return explain(MODEL, POLICIES, role, tenant, request)


def test_an_allowed_request_names_a_statement_of_each_layer() -> None:
    made = explained("viewer", "GetItem PK=TENANT#acme#USER#1 SK=PROFILE")
    assert made.verdict.allowed
    granted = ("identity: allowed by `OwnItems`", "session: allowed by `OwnItems`", "boundary: allowed by `OwnItems`")
    assert made.layers == (granted,)
    assert as_text(made).startswith("ALLOWED: GetItem as viewer of acme\n")


def test_a_foreign_key_is_denied_by_every_layer_for_itself() -> None:
    made = explained("admin", "Query index=GSI2 PK=TENANT#globex#SUPPLIER#1")
    assert not made.verdict.allowed
    ((identity, session, boundary),) = made.layers
    assert identity == (
        "identity: denied by `NeverForeignRows`, because `ForAnyValue:StringNotLike dynamodb:LeadingKeys` holds"
    )
    assert "in `OwnItems` condition `ForAllValues:StringLike dynamodb:LeadingKeys` does not hold" in session
    assert "in `OwnIndexRows` condition" in boundary


def test_a_role_that_may_not_write_is_recognised_by_its_session() -> None:
    made = explained("viewer", "PutItem PK=TENANT#acme#USER#1 SK=PROFILE")
    ((identity, session, _),) = made.layers
    assert identity == "identity: allowed by `OwnItems`"
    assert session == "session: denied by `NothingElse`"
    assert "DENIED: PutItem as viewer of acme" in as_text(made)


@pytest.mark.parametrize(
    ("request_line", "statement"),
    [
        ("GetItem PK=TENANT#acme#USER#1 SK=PROFILE attributes=userId,email", "NeverHidden"),
        ("GetItem PK=TENANT#acme#USER#1 SK=PROFILE", "NeverWholeItems"),
        ("Query index=GSI1 PK=TENANT#acme#PHONE#49301 attributes=userId", "NeverByHiddenKey"),
        ("Query index=GSI1 PK=TENANT#acme#EMAIL#a@b.c attributes=userId,verified", "OnlyFinds"),
    ],
)
def test_support_is_told_which_rule_hides_what_it_asks(request_line: str, statement: str) -> None:
    made = explained("support", request_line)
    assert f"session: denied by `{statement}`" in as_text(made)


def test_every_member_of_a_transaction_is_authorised() -> None:
    made = explained("editor", "TransactWriteItems Put PK=TENANT#acme#X SK=1 Delete PK=TENANT#globex#X SK=1")
    assert [layers[0] for layers in made.layers] == [
        "identity: allowed by `OwnItems`",
        "identity: denied by `NeverForeignRows`, because `ForAnyValue:StringNotLike dynamodb:LeadingKeys` holds",
    ]


def test_what_is_not_understood_is_denied_without_a_layer() -> None:
    made = explained("admin", "ExecuteStatement")
    assert made.authorisations == ()
    assert not made.verdict.allowed
    assert "DENIED: ExecuteStatement as admin of acme" in as_text(made)


def test_the_text_shows_what_dynamodb_would_be_told() -> None:
    text = as_text(explained("viewer", "BatchGetItem PK=TENANT#acme#X SK=1 PK=TENANT#acme#Y SK=1 attributes=total"))
    assert "dynamodb:LeadingKeys = TENANT#acme#X, TENANT#acme#Y" in text
    assert "dynamodb:Attributes = PK, SK, total" in text
    assert "aws:PrincipalTag/TenantId = acme" in text
    assert "KeyValues" not in text


def test_unknown_roles_and_tenants_are_refused() -> None:
    with pytest.raises(BadUserInput, match="there is no role `owner`; the roles are admin, editor, support, viewer"):
        explained("owner", "Scan")
    with pytest.raises(BadUserInput, match="tenant id"):
        explained("viewer", "Scan", tenant="*")
