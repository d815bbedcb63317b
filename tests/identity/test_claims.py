"""Tests of what verified claims must hold."""

from typing import Any

import pytest

from gateway.identity.claims import read_principal
from gateway.identity.errors import TokenRefused
from gateway.identity.principal import Principal
from gateway.model.tenant import tenant_id
from tests.identity.fixtures import AUDIENCE, ISSUER, NOW, claims, issuer

USERINFO = "https://issuer.example/userinfo"


def principal(claimed: dict[str, Any], now: float = NOW, **settings: Any) -> Principal:
    return read_principal(claimed, issuer(**settings), now)


def refusal(claimed: dict[str, Any], now: float = NOW, **settings: Any) -> str:
    with pytest.raises(TokenRefused) as caught:
        principal(claimed, now, **settings)
    return caught.value.message


def test_good_claims_become_a_principal() -> None:
    assert principal(claims()) == Principal(tenant_id("acme"), "user-1", frozenset({"viewer"}), ISSUER, NOW + 600)


@pytest.mark.parametrize("name", ["exp", "iat", "aud", "sub"])
def test_a_missing_claim_is_named(name: str) -> None:
    assert refusal(claims(**{name: ...})) == f"claim `{name}` missing or malformed"


@pytest.mark.parametrize("iss", [..., None, "", "https://issuer.example", ISSUER.upper(), [ISSUER]])
def test_the_issuer_is_compared_to_the_letter(iss: object) -> None:
    assert refusal(claims(iss=iss)) == "unknown issuer"


@pytest.mark.parametrize("name", ["exp", "iat", "nbf"])
@pytest.mark.parametrize(
    "value",
    [None, True, False, str(NOW + 60), float(NOW + 60), NOW + 0.5, [NOW], {}, -1, 10**12, 10**400, float("inf")],
)
def test_a_timestamp_claim_is_a_whole_number_of_seconds_in_range(name: str, value: object) -> None:
    assert refusal(claims(**{name: value})) == f"claim `{name}` missing or malformed"


@pytest.mark.parametrize(("late", "accepted"), [(29, True), (29.9, True), (30, False), (31, False)], ids=str)
def test_a_token_expires_after_its_leeway(late: float, accepted: bool) -> None:
    if accepted:
        assert principal(claims(), now=NOW + 600 + late).expires_at == NOW + 600
    else:
        assert refusal(claims(), now=NOW + 600 + late) == "token expired"


@pytest.mark.parametrize("name", ["iat", "nbf"])
def test_a_token_of_the_future_is_not_valid_yet(name: str) -> None:
    assert principal(claims(**{name: NOW + 30})).tenant == "acme"
    assert refusal(claims(**{name: NOW + 31})) == "token not valid yet"


def test_a_token_issued_in_the_future_is_refused_even_if_it_says_it_is_valid_before() -> None:
    assert refusal(claims(iat=NOW + 31, nbf=NOW - 10)) == "token not valid yet"


@pytest.mark.parametrize("life", [3601, 10**9, 0, -5])
def test_a_token_lives_no_longer_than_the_issuer_may_say(life: int) -> None:
    assert principal(claims(iat=NOW, exp=NOW + 3600), max_lifetime_seconds=3600).tenant == "acme"
    assert refusal(claims(iat=NOW, exp=NOW + life), max_lifetime_seconds=3600) == "token lives too long"


@pytest.mark.parametrize("aud", [AUDIENCE, [AUDIENCE], [AUDIENCE, AUDIENCE], [USERINFO, AUDIENCE]])
def test_our_audience_may_stand_alone_or_with_a_declared_companion(aud: object) -> None:
    assert principal(claims(aud=aud), additional_audiences=(USERINFO,)).tenant == "acme"


@pytest.mark.parametrize(
    "aud", ["", "other", USERINFO, [], ["other"], [USERINFO], [AUDIENCE, "other"], AUDIENCE + "/", AUDIENCE[:-1], [""]]
)
def test_a_token_made_for_others_too_is_refused(aud: object) -> None:
    assert refusal(claims(aud=aud), additional_audiences=(USERINFO,)) == "token is for another audience"


@pytest.mark.parametrize("aud", [None, 1, True, {}, {AUDIENCE: 1}, [AUDIENCE, 1], [AUDIENCE, None], [[AUDIENCE]]])
def test_an_audience_of_the_wrong_type_is_malformed(aud: object) -> None:
    assert refusal(claims(aud=aud)) == "claim `aud` missing or malformed"


def test_cognito_access_tokens_name_their_client_instead_of_an_audience() -> None:
    settings: dict[str, Any] = {
        "audience": ("client-1", "client-2"),
        "audience_claim": "client_id",
        "required_claims": {"token_use": "access"},
        "tenant_claim": "custom:tenant",
        "roles_claim": "cognito:groups",
    }
    good = claims(aud=..., tenant=..., client_id="client-2", token_use="access")
    good |= {"custom:tenant": "acme", "cognito:groups": ["admin"]}
    assert principal(good, **settings).roles == {"admin"}
    assert refusal({**good, "client_id": "client-3"}, **settings) == "token is for another audience"
    assert refusal({**good, "aud": "other"}, **settings) == "token is for another audience"
    assert refusal({**good, "token_use": "id"}, **settings) == "claim `token_use` does not have the required value"
    del good["client_id"]
    assert refusal(good, **settings) == "claim `client_id` missing or malformed"


@pytest.mark.parametrize("value", [..., None, "", "id", True, ["access"], {"access": 1}])
def test_a_required_claim_has_exactly_its_value(value: object) -> None:
    required = {"token_use": "access"}
    assert refusal(claims(token_use=value), required_claims=required).startswith("claim `token_use` does not")


@pytest.mark.parametrize("sub", [None, "", 1, True, ["user"], {}, "u" * 256, "user\n", "user\x00", "\ud800"])
def test_a_subject_is_a_short_printable_string(sub: object) -> None:
    assert refusal(claims(sub=sub)) == "claim `sub` missing or malformed"


def test_the_subject_may_come_from_another_claim_but_sub_is_required_all_the_same() -> None:
    assert principal(claims(oid="object-7"), subject_claim="oid").subject == "object-7"
    assert refusal(claims(), subject_claim="oid") == "claim `oid` missing or malformed"
    assert refusal(claims(oid="object-7", sub=...), subject_claim="oid") == "claim `sub` missing or malformed"


@pytest.mark.parametrize(
    "tenant",
    [
        "",
        "a",
        7,
        True,
        1.5,
        ["acme"],
        {"id": "acme"},
        "ac#me",
        "acme#",
        "*",
        "ac*me",
        "?",
        "${aws:PrincipalTag/TenantId}",
        "..",
        "a/b",
        "%2e",
        "TENANT",
        "Acme",
        "ácme",
        "ａｃｍｅ",
        "acme\n",
        "acme ",
        '"acme"',
        "\\acme",
        "acme\x00",
        "-acme",
        "a" * 64,
        "a" * 300,
    ],
)
def test_a_tenant_claim_that_names_no_tenant_is_refused(tenant: object) -> None:
    assert refusal(claims(tenant=tenant)) == "claim `tenant` names no tenant"


@pytest.mark.parametrize("tenant", [..., None])
def test_a_tenant_claim_that_is_missing_is_named_and_the_log_says_what_to_do(tenant: object) -> None:
    with pytest.raises(TokenRefused) as caught:
        principal(claims(tenant=tenant))
    assert caught.value.message == "claim `tenant` is missing"
    assert caught.value.reason.startswith("claim `tenant` is missing: let the issuer add it")


def test_an_issuer_may_speak_for_its_own_tenants_only() -> None:
    assert principal(claims(), tenants=frozenset({"acme"})).tenant == "acme"
    assert refusal(claims(), tenants=frozenset({"globex"})) == "the issuer may not speak for this tenant"
    assert refusal(claims(), tenants=frozenset()) == "the issuer may not speak for this tenant"


@pytest.mark.parametrize(
    ("name", "claimed"),
    [
        ("https://example.com/tenant", {"https://example.com/tenant": "acme"}),
        ("custom:tenant", {"custom:tenant": "acme"}),
        ("app.tenant", {"app.tenant": "acme"}),
        ("app.tenant", {"app": {"tenant": "acme"}}),
        ("a.b.c", {"a": {"b": {"c": "acme"}}}),
    ],
)
def test_a_claim_is_found_by_its_exact_name_or_by_its_path(name: str, claimed: dict[str, Any]) -> None:
    assert principal({**claims(tenant=...), **claimed}, tenant_claim=name).tenant == "acme"


def test_a_claim_that_is_there_by_name_and_by_path_is_ambiguous() -> None:
    both = {**claims(), "app.tenant": "globex", "app": {"tenant": "acme"}}
    assert refusal(both, tenant_claim="app.tenant") == "claim `app.tenant` is ambiguous"


@pytest.mark.parametrize("app", [None, 1, "tenant", ["tenant"], {}, {"tenant": None}])
def test_a_path_that_leads_nowhere_names_no_tenant(app: object) -> None:
    assert refusal(claims(app=app), tenant_claim="app.tenant") == "claim `app.tenant` is missing"


def test_a_path_that_leads_to_an_object_names_no_tenant() -> None:
    app = {"tenant": {"tenant": "acme"}}
    assert refusal(claims(app=app), tenant_claim="app.tenant") == "claim `app.tenant` names no tenant"


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        (..., set()),
        (None, set()),
        ([], set()),
        ("", set()),
        (["staff"], {"viewer"}),
        (["staff", "boss", "unknown"], {"viewer", "admin"}),
        ("staff boss", {"viewer", "admin"}),
        ("  staff  ", {"viewer"}),
        (["viewer", "admin"], set()),
        (["staff boss"], set()),
        ("staff,boss", set()),
    ],
)
def test_roles_are_mapped_and_unknown_ones_ignored(roles: object, expected: set[str]) -> None:
    assert principal(claims(roles=roles), role_map={"staff": "viewer", "boss": "admin"}).roles == expected


@pytest.mark.parametrize("roles", [1, True, {"admin": True}, [["admin"]], ["admin", 1], [None]])
def test_roles_of_the_wrong_type_are_refused(roles: object) -> None:
    assert refusal(claims(roles=roles)).startswith("claim `roles` is neither")
