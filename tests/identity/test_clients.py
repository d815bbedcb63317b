"""Machines and users are never mixed: what is not clearly one of them is refused."""

from typing import Any

import pytest

from gateway.errors import ConfigurationError
from gateway.identity.clients import MachineClients
from tests.identity.fixtures import TokenVerifier, good_token, issuer
from tests.identity.providers import MACHINES, USERS, provider, token, verifier_for

NEITHER = "token is neither clearly a user's nor clearly a machine's"


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        # a user whose name or id looks like the client's
        ("cognito", {"sub": "web"}),
        ("okta", {"sub": "web"}),
        ("entra", {"idtyp": "app"}),
        ("keycloak", {"preferred_username": "service-account-web"}),
        ("keycloak", {"client_id": "web"}),
    ],
)
async def test_a_user_whose_token_looks_like_a_machines_gains_nothing(name: str, changes: dict[str, Any]) -> None:
    clients = {"web": {"roles": ["admin"], "tenant": "acme"}}
    trusted = verifier_for(name, client_roles=clients)
    assert await trusted.accepts(token(name, USERS[name]))
    assert (await trusted.refusal(token(name, USERS[name], **changes))).message == NEITHER


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("cognito", {"username": "ann"}),
        ("okta", {"uid": "00u1"}),
        ("entra", {"scp": "access_as_user"}),
        ("entra", {"idtyp": ...}),
        ("keycloak", {"client_id": ...}),
        ("keycloak", {"preferred_username": ...}),
        ("keycloak", {"client_id": "other"}),
        ("cognito", {"sub": "other"}),
    ],
)
async def test_a_machine_with_a_sign_of_a_user_or_without_all_of_its_own_is_refused(
    name: str, changes: dict[str, Any]
) -> None:
    assert (await verifier_for(name).refusal(token(name, MACHINES[name], **changes))).message == NEITHER


@pytest.mark.parametrize("prefix", ["client:", "support:"])
async def test_no_user_has_the_subject_of_a_machine_or_of_support(prefix: str) -> None:
    refused = await TokenVerifier().refusal(good_token(sub=f"{prefix}robot"))
    assert refused.message == "claim `sub` starts with a reserved prefix"


async def test_a_client_of_the_settings_has_their_roles_and_not_those_of_its_token() -> None:
    trusted = verifier_for("entra", client_roles={"robot": {"roles": ["support"]}})
    assert (await trusted.principal(token("entra", MACHINES["entra"]))).roles == {"support"}


async def test_the_roles_of_a_client_are_not_those_of_users_by_way_of_it() -> None:
    """A user who signs in through the client has the user's own roles."""
    trusted = verifier_for("okta", client_roles={"web": {"roles": ["admin"], "tenant": "globex"}})
    principal = await trusted.principal(token("okta", USERS["okta"]))
    assert principal.roles == {"viewer"}
    assert principal.tenant == "acme"


async def test_groups_of_users_give_a_machine_nothing() -> None:
    shape = {**MACHINES["okta"], "groups": ["viewers"], "scp": []}
    assert (await verifier_for("okta").principal(token("okta", shape))).roles == frozenset()


async def test_a_client_has_the_tenant_of_the_settings_where_its_token_carries_none() -> None:
    trusted = verifier_for("okta", client_roles={"robot": {"tenant": "globex"}})
    assert (await trusted.principal(token("okta", MACHINES["okta"], tenant=...))).tenant == "globex"


async def test_a_client_that_the_settings_tie_to_a_tenant_acts_in_no_other() -> None:
    trusted = verifier_for("okta", client_roles={"robot": {"tenant": "globex"}})
    refused = await trusted.refusal(token("okta", MACHINES["okta"], tenant="acme"))
    assert refused.message == "the client may not act for this tenant"


async def test_a_client_of_the_settings_acts_only_where_the_issuer_may_speak() -> None:
    trusted = verifier_for("okta", client_roles={"robot": {"tenant": "globex"}}, tenants=["acme"])
    refused = await trusted.refusal(token("okta", MACHINES["okta"], tenant=...))
    assert refused.message == "the issuer may not speak for this tenant"


@pytest.mark.parametrize("client", [..., None, "", 7, "ro\nbot", "r" * 201])
async def test_a_machine_names_its_client(client: object) -> None:
    refused = await verifier_for("entra").refusal(token("entra", MACHINES["entra"], azp=client))
    assert refused.message == "claim `azp` missing or malformed"


async def test_older_tokens_of_entra_name_the_client_in_another_claim() -> None:
    shape = {**MACHINES["entra"], "azp": ..., "appid": "robot"}
    assert (await verifier_for("entra").principal(token("entra", shape))).subject == "client:robot"


def test_an_issuer_without_these_settings_has_users_only() -> None:
    assert issuer().machines is None


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"client_roles": {"robot": {}}, "preset": None}, "require client_claims"),
        ({"client_claims": ["azp"], "preset": None}, "requires machine_claims"),
        ({"machine_claims": {"sub": "{user}"}}, "may contain only"),
        ({"machine_claims": {"sub": "{client.x}"}}, "may contain only"),
    ],
)
def test_settings_that_cannot_tell_machines_from_users_are_refused(settings: dict[str, Any], fault: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        provider("okta", **settings)
    assert fault in caught.value.message or any(fault in text for text in caught.value.faults)


def test_signs_need_a_client_to_be_compared_with() -> None:
    assert MachineClients((), {"sub": "{client}"}).faults() == ["machine_claims and client_roles require client_claims"]
