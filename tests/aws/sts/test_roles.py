"""Roles: the strongest known one, and its session policy."""

import json

import pytest

from gateway.aws.sts.roles import Roles
from gateway.errors import ConfigurationError, Forbidden
from gateway.iam.language.document import parse
from tests.aws.tenant_fixtures import ROLES, session_policy


def test_the_strongest_known_role_counts_whatever_the_token_lists_first() -> None:
    assert ROLES.role_of(("viewer", "admin")) == "admin"
    assert ROLES.role_of(("superuser", "viewer")) == "viewer"


@pytest.mark.parametrize("carried", [(), ("superuser",), ("Admin", "viewer ")])
def test_a_token_without_a_known_role_is_refused(carried: tuple[str, ...]) -> None:
    with pytest.raises(Forbidden, match="carries no role that this gateway knows"):
        ROLES.role_of(frozenset(carried))


def test_the_policy_is_sent_without_a_superfluous_character() -> None:
    text = ROLES.policy("viewer")
    assert text == json.dumps(json.loads(text), separators=(",", ":"))


def test_a_policy_longer_than_sts_takes_is_refused_at_start() -> None:
    long = session_policy(*(f"GetItem{number}" for number in range(200)))
    with pytest.raises(ConfigurationError, match=r"session policy of `viewer` has \d+ characters, more than 2048"):
        Roles({"viewer": long})


def test_only_session_policies_narrow_a_session() -> None:
    identity = parse(session_policy("GetItem").text, "identity")
    with pytest.raises(ConfigurationError, match="not a document of kind identity"):
        Roles({"viewer": identity})


@pytest.mark.parametrize("name", ["", "Viewer", "a@b", "a" * 33, "viewer\n"])
def test_a_role_that_could_not_stand_in_a_session_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="gateway role is named"):
        Roles({name: session_policy("GetItem")})


def test_a_gateway_without_roles_does_not_start() -> None:
    with pytest.raises(ConfigurationError, match="no gateway role"):
        Roles({})


OWN = Roles({name: session_policy("GetItem") for name in ("staff", "customer", "acting")}, ["customer"], ["acting"])


def test_the_sessions_of_own_rows_are_those_of_a_subject_and_all_others_are_shared() -> None:
    assert OWN.subject_of("customer", "u-1") == "u-1"
    assert OWN.subject_of("staff", "u-1") is None
    assert OWN.subject_of("staff", "auth0|ann") is None


@pytest.mark.parametrize("subject", ["", "a#b", "a*", "?", "${aws:PrincipalTag/TenantId}", "a b", "a/b", "é", "a\n"])
def test_a_subject_that_is_not_safe_in_a_key_has_no_session(subject: str) -> None:
    with pytest.raises(Forbidden, match="not an id, which the role `customer` needs"):
        OWN.subject_of("customer", subject)


def test_an_acting_role_is_carried_by_no_token() -> None:
    assert OWN.names == ("staff", "customer")
    assert OWN.role_of(("acting", "customer")) == "customer"
    with pytest.raises(Forbidden):
        OWN.role_of(("acting",))
    with pytest.raises(ConfigurationError, match="there is no gateway role"):
        Roles({"acting": session_policy("GetItem")}, acting=["acting"])
