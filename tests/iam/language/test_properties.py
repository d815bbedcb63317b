"""What holds for all policies and requests: nothing that narrows ever widens, and names of tenants do not matter."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.iam.language.document import PolicyDocument, parse, read
from gateway.iam.language.evaluator import PolicySet, evaluate
from gateway.iam.language.grammar import Kind
from gateway.iam.language.operators import OPERATORS
from gateway.iam.language.verdict import Authorisation, Deny
from tests.drawn import drawn

TABLE = "arn:aws:dynamodb:eu-west-1:123456789012:table/orders"
TAG = "aws:PrincipalTag/TenantId"
VARIABLE = "${aws:PrincipalTag/TenantId}"

# Machines differ: time is no property of a verdict.
calm = settings(deadline=None, max_examples=drawn(80, 10), suppress_health_check=[HealthCheck.too_slow])

keys = st.sampled_from(
    ["dynamodb:LeadingKeys", "dynamodb:Attributes", "dynamodb:Select", TAG, "AWS:principaltag/tenantid"]
)
words = st.sampled_from(
    [
        *("acme", "acme2", "TENANT#acme", f"TENANT#{VARIABLE}#*", VARIABLE, "${x:y, 'acme'}", "*", "a?me", "", "1"),
        *("2.5", "true", "false", "2026-01-01", "10.0.0.0/8", "10.1.2.3", "YWNtZQ==", TABLE, "${*}", "${", "\u00e9"),
        "arn:aws:iam::*:role/*",
    ]
)
operators = st.builds(
    lambda prefix, name, suffix: f"{prefix}{name}{suffix}",
    st.sampled_from(["", "", "ForAllValues:", "ForAnyValue:", "ForNoValue:"]),
    st.sampled_from([*OPERATORS, "StringSimilar"]),
    st.sampled_from(["", "", "IfExists"]),
)
rows = st.dictionaries(
    operators,
    st.dictionaries(keys, st.lists(words, min_size=1, max_size=3), min_size=1, max_size=2).filter(
        lambda found: len({key.lower() for key in found}) == len(found)
    ),
    min_size=1,
    max_size=2,
)
action_names = ["*", "dynamodb:*", "dynamodb:GetItem", "dynamodb:*Item", "dynamodb:?uery", "s3:*"]
resource_names = ["*", TABLE, f"{TABLE}/index/*", f"{TABLE[:-6]}{VARIABLE}", "arn:aws:s3:::*"]
actions = st.lists(st.sampled_from(action_names), min_size=1, max_size=2)
resources = st.lists(st.sampled_from(resource_names), min_size=1, max_size=2)
either = st.sampled_from(["Allow", "Allow", "Deny"])
denying = st.just("Deny")


def statements(effect: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(
        lambda effect, action, resource, condition, negated: {
            "Effect": effect,
            ("NotAction" if negated == "action" else "Action"): action,
            ("NotResource" if negated == "resource" else "Resource"): resource,
            **({"Condition": condition} if condition else {}),
        },
        effect,
        actions,
        resources,
        st.none() | rows,
        st.sampled_from(["", "", "", "action", "resource"]),
    )


def documents(kind: Kind, effect: st.SearchStrategy[str] = either) -> st.SearchStrategy[PolicyDocument]:
    listed = st.lists(statements(effect), min_size=1, max_size=3)
    versions = st.sampled_from(["2012-10-17", "2012-10-17", "2008-10-17"])
    return st.builds(lambda version, found: read({"Version": version, "Statement": found}, kind), versions, listed)


values = words | st.lists(words, max_size=3).map(tuple) | st.text(max_size=4)
contexts = st.dictionaries(
    st.sampled_from(["dynamodb:LeadingKeys", "dynamodb:Attributes", "dynamodb:Select", TAG, "x:y"]), values, max_size=5
)
requests = st.builds(
    Authorisation,
    st.sampled_from(["dynamodb:GetItem", "dynamodb:Query", "dynamodb:Scan", "s3:GetObject"]),
    st.sampled_from([TABLE, f"{TABLE}/index/GSI1", "*", "arn:aws:s3:::bucket", "nonsense"]),
    contexts,
)
identities = st.lists(documents("identity"), min_size=1, max_size=2).map(tuple)


@calm
@given(identities, documents("identity", denying), requests)
def test_adding_a_deny_never_widens(
    identity: tuple[PolicyDocument, ...], deny: PolicyDocument, request: Authorisation
) -> None:
    before = evaluate(PolicySet(identity), request).allowed
    after = evaluate(PolicySet((*identity, deny)), request).allowed
    assert before or not after


@calm
@given(documents("identity"), requests)
def test_what_a_document_grants_it_denies_when_its_effect_is_turned(
    granting: PolicyDocument, request: Authorisation
) -> None:
    turned = read(granting.text.replace('"Effect":"Allow"', '"Effect":"Deny"'), "identity")
    before = evaluate(PolicySet((granting,)), request)
    after = evaluate(PolicySet((granting, turned)), request)
    assert isinstance(after, Deny)
    assert after.explicit or not before.allowed


@calm
@given(identities, documents("session"), documents("boundary"), requests)
def test_a_session_policy_and_a_boundary_never_widen(
    identity: tuple[PolicyDocument, ...], session: PolicyDocument, boundary: PolicyDocument, request: Authorisation
) -> None:
    alone = evaluate(PolicySet(identity), request).allowed
    bounded = evaluate(PolicySet(identity, boundary=boundary), request).allowed
    both = evaluate(PolicySet(identity, session=(session,), boundary=boundary), request).allowed
    assert alone or not bounded
    assert bounded or not both


@calm
@given(identities, documents("session"), requests)
def test_a_session_grants_exactly_what_both_grant(
    identity: tuple[PolicyDocument, ...], session: PolicyDocument, request: Authorisation
) -> None:
    # The session's document evaluated alone, as if it were an identity policy.
    twin = read(session.text, "identity")
    both = evaluate(PolicySet(identity), request).allowed and evaluate(PolicySet((twin,)), request).allowed
    assert evaluate(PolicySet(identity, session=(session,)), request).allowed is both


@calm
@given(identities, st.none() | documents("session"), requests)
def test_the_evaluator_never_raises_and_finds_no_trouble_in_what_parses(
    identity: tuple[PolicyDocument, ...], session: PolicyDocument | None, request: Authorisation
) -> None:
    verdict = evaluate(PolicySet(identity, session=None if session is None else (session,)), request)
    assert not isinstance(verdict, Deny) or verdict.layer != "evaluator"
    assert verdict == evaluate(PolicySet(identity, session=None if session is None else (session,)), request)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@calm
@given(identities, st.dictionaries(st.text(max_size=10) | keys, anything, max_size=3), anything, anything)
def test_the_evaluator_never_raises_on_anything_at_all(
    identity: tuple[PolicyDocument, ...], context: Any, action: Any, resource: Any
) -> None:
    assert evaluate(PolicySet(identity), Authorisation(action, resource, context)).allowed in (True, False)


OWN = f"TENANT#{VARIABLE}"
TENANT_POLICY = parse(
    {
        "Version": "2012-10-17",
        "Statement": {
            "Effect": "Allow",
            "Action": ["dynamodb:GetItem", "dynamodb:BatchGetItem"],
            "Resource": TABLE,
            "Condition": {
                "ForAllValues:StringLike": {"dynamodb:LeadingKeys": [OWN, f"{OWN}#*"]},
                "Null": {"dynamodb:LeadingKeys": "false", TAG: "false"},
            },
        },
    },
    "identity",
)
tenants = st.from_regex(r"[a-z0-9][a-z0-9-]{1,8}", fullmatch=True)
paths = st.sampled_from(["", "#", "#USER#1", "#ORDER#2026#7"])
requested = st.lists(st.tuples(st.booleans(), paths), max_size=4)


def batch(own: str, foreign: str, rows: list[tuple[bool, str]]) -> bool:
    named = tuple(f"TENANT#{own if mine else foreign}{path}" for mine, path in rows)
    request = Authorisation("dynamodb:BatchGetItem", TABLE, {TAG: own, "dynamodb:LeadingKeys": named})
    return evaluate(PolicySet((TENANT_POLICY,)), request).allowed


@calm
@given(st.lists(tenants, min_size=4, max_size=4, unique=True), requested)
def test_renaming_tenants_keeps_verdicts(names: list[str], rows: list[tuple[bool, str]]) -> None:
    one, two, three, four = names
    assert batch(one, two, rows) is batch(three, four, rows)
    assert batch(one, two, rows) is (bool(rows) and all(mine for mine, _ in rows))


@calm
@given(tenants, st.text(alphabet="abz09-", min_size=1, max_size=3), paths)
def test_a_longer_name_is_another_tenant(tenant: str, more: str, path: str) -> None:
    assert not batch(tenant, tenant + more, [(False, path)])
    assert not batch(tenant + more, tenant, [(False, path)])
