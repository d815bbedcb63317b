"""The presets of identity providers: their users and machines are who they are, and what is missing is named."""

import re
from pathlib import Path
from typing import Any

import pytest

from gateway.identity.errors import TokenRefused
from gateway.setting_presets import PRESETS, with_preset
from gateway.setting_types import IssuerSettings
from tests.identity.fixtures import NOW, public_jwk, rsa_key
from tests.identity.providers import CLIENTS, MACHINES, SETTINGS, SUBJECTS, USERS, provider, token, verifier_for

PAGE = (Path(__file__).parents[1] / "docs" / "identity.md").read_text(encoding="utf-8")
# provider: the claim that carries the tenant of a user, and words of the hint that say where to add it
TENANTS = {
    "cognito": ("tenant", "pre token generation trigger of version V2_0"),
    "auth0": ("org_id", "Auth0 organization"),
    "entra": ("tid", "Entra ID"),
    "okta": ("tenant", "Okta custom authorization server"),
    "keycloak": ("organization", "scope `organization:<alias>`"),
}


@pytest.mark.parametrize("name", PRESETS)
async def test_a_user_of_the_provider_has_its_tenant_subject_and_role(name: str) -> None:
    principal = await verifier_for(name).principal(token(name, USERS[name]))
    assert (principal.tenant, principal.subject) == ("acme", SUBJECTS[name])
    assert principal.roles == {"viewer"}


@pytest.mark.parametrize("name", PRESETS)
async def test_a_machine_of_the_provider_is_a_client_with_its_own_roles(name: str) -> None:
    principal = await verifier_for(name).principal(token(name, MACHINES[name]))
    assert (principal.tenant, principal.subject) == ("acme", f"client:{CLIENTS[name]}")
    assert principal.roles == {"viewer"}


# what else the providers' documentation shows in the header and the payload of an access token
DOCUMENTED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "cognito": (
        {"typ": ...},
        {"device_key": "aaaa", "origin_jti": "aaaa", "event_id": "aaaa", "auth_time": NOW - 10, "jti": "aaaa"},
    ),
    "auth0": ({"typ": "JWT"}, {"gty": "password", "org_name": "acme-inc"}),
    "auth0 rfc9068": ({"typ": "at+jwt"}, {"azp": ..., "client_id": "web", "jti": "73WakrfVbNJBaAmhQtEeDv"}),
    "entra": (
        {"typ": "JWT", "x5t": "nOo3ZDrODXEK1jKWhXslHR_KXEg"},
        {
            "nbf": NOW - 10,
            "aio": "ASQA2/8TAAAA",
            "azpacr": "0",
            "name": "Ann",
            "rh": "0.AXoA",
            "uti": "fqiB",
            "preferred_username": "ann@example.org",
            "sid": "aaaa",
        },
    ),
    "okta": ({"typ": ...}, {"jti": "AT.MNAoEQ_jbKqoinrQo1D0XKjMX28U5d7ZszBceot7-Ts", "auth_time": NOW - 20}),
    "keycloak": (
        {"typ": "JWT"},
        {
            "jti": "onrtac:aaaa",
            "auth_time": NOW - 10,
            "sid": "aaaa",
            "acr": "1",
            "scope": "openid organization",
            "allowed-origins": ["https://shop.example.org"],
            "aud": ["gateway", "account"],
            "resource_access": {"account": {"roles": ["manage-account"]}},
            "email_verified": True,
            "realm_access": {"roles": ["default-roles-shop", "offline_access", "uma_authorization", "viewer"]},
        },
    ),
}


@pytest.mark.parametrize("shape", DOCUMENTED)
async def test_a_token_with_all_that_the_provider_documents_is_accepted(shape: str) -> None:
    name = shape.partition(" ")[0]
    head, more = DOCUMENTED[shape]
    changes = {"additional_audiences": ["account"]} if name == "keycloak" else {}
    principal = await verifier_for(name, **changes).principal(token(name, USERS[name], head, **more))
    assert (principal.tenant, principal.subject) == ("acme", SUBJECTS[name])
    assert principal.roles == {"viewer"}


async def test_a_machine_of_auth0_is_one_in_its_other_profile_too() -> None:
    """RFC 9068 names the client in `client_id`, and has no `gty`."""
    changes = {"azp": ..., "gty": ..., "client_id": "robot", "jti": "73WakrfVbNJBaAmhQtEeDv"}
    principal = await verifier_for("auth0").principal(token("auth0", MACHINES["auth0"], {"typ": "at+jwt"}, **changes))
    assert principal.subject == "client:robot"


@pytest.mark.parametrize("name", PRESETS)
async def test_keys_without_an_algorithm_are_taken_for_those_that_the_issuer_may_use(name: str) -> None:
    trusted = verifier_for(name)
    trusted.publisher.keys = [public_jwk(rsa_key(), "key-1")]
    assert "alg" not in trusted.publisher.keys[0]
    assert await trusted.accepts(token(name, USERS[name]))


@pytest.mark.parametrize("name", PRESETS)
async def test_a_user_without_a_tenant_is_told_the_claim_and_the_log_what_to_add_at_the_provider(name: str) -> None:
    claim, words = TENANTS[name]
    refused = await verifier_for(name).refusal(token(name, USERS[name], **{claim: ...}))
    assert refused.message == f"claim `{claim}` is missing"
    assert refused.reason.startswith(f"claim `{claim}` is missing: ")
    assert words in refused.reason


async def test_a_machine_of_cognito_needs_the_third_version_of_the_trigger() -> None:
    refused = await verifier_for("cognito").refusal(token("cognito", MACHINES["cognito"], tenant=...))
    assert refused.message == "claim `tenant` is missing"
    assert "V3_0" in refused.reason


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("cognito", {"token_use": "id"}),
        ("cognito", {"client_id": "other"}),
        # an ID token of an app that is its own API
        ("entra", {"scp": ...}),
        ("keycloak", {"typ": "ID"}),
        ("keycloak", {"typ": "Refresh"}),
        ("auth0", {"org_id": "org_unknown"}),
        ("entra", {"tid": "00000000-0000-0000-0000-000000000000"}),
        ("keycloak", {"organization": ["acme", "globex"]}),
        ("keycloak", {"organization": {"acme": {}, "globex": {}}}),
        ("keycloak", {"organization": []}),
        ("keycloak", {"organization": [["acme"]]}),
        ("cognito", {"sub": ...}),
        ("okta", {"uid": ...}),
        ("entra", {"oid": ...}),
    ],
)
async def test_another_token_of_the_provider_is_refused(name: str, changes: dict[str, object]) -> None:
    assert await verifier_for(name).accepts(token(name, USERS[name]))
    assert isinstance(await verifier_for(name).refusal(token(name, USERS[name], **changes)), TokenRefused)


async def test_an_organization_that_the_map_does_not_list_names_no_tenant() -> None:
    refused = await verifier_for("auth0").refusal(token("auth0", USERS["auth0"], org_id="org_unknown"))
    assert refused.message == "claim `org_id` names no tenant"
    assert refused.reason == "`tenant_map` does not list the value of `org_id`"


def test_what_is_set_wins_over_the_preset() -> None:
    changed = provider("keycloak", tenant_claim="shop", roles_claim=["resource_access", "my.client", "roles"])
    assert (changed.tenant_claim, changed.roles_claim) == ("shop", ("resource_access", "my.client", "roles"))
    assert changed.machines is not None


async def test_client_roles_of_keycloak_are_found_by_a_list_of_names() -> None:
    roles_claim = ["resource_access", "my.client", "roles"]
    access = {"my.client": {"roles": ["admin"]}, "my": {"client": {"roles": ["editor"]}}}
    principal = await verifier_for("keycloak", roles_claim=roles_claim).principal(
        token("keycloak", USERS["keycloak"], resource_access=access)
    )
    assert principal.roles == {"admin"}


async def test_a_namespaced_claim_of_auth0_names_the_tenant() -> None:
    claim = "https://example.org/tenant"
    trusted = verifier_for("auth0", tenant_claim=claim, tenant_map={})
    principal = await trusted.principal(token("auth0", USERS["auth0"], **{claim: "globex"}))
    assert principal.tenant == "globex"


def test_required_claims_are_added_to_those_of_the_preset() -> None:
    changed = with_preset({"preset": "cognito", "required_claims": {"version": "2"}})
    assert changed["required_claims"] == {"token_use": "access", "version": "2"}


@pytest.mark.parametrize("name", PRESETS)
def test_settings_that_pass_to_another_process_are_the_same_there(name: str) -> None:
    values = {"preset": name, "jwks_url": "https://keys.example.org/jwks", **SETTINGS[name], "tenant_claim": "shop"}
    settings = IssuerSettings(**values)
    assert IssuerSettings(**settings.model_dump(mode="json", exclude_none=True)) == settings


def test_the_hints_name_every_need() -> None:
    needs = {"tenant", "roles", "client_tenant", "client_roles", "kind"}
    assert all(set(preset.hints) == needs for preset in PRESETS.values())


@pytest.mark.parametrize("name", PRESETS)
def test_the_page_has_an_example_for_each_provider(name: str) -> None:
    assert re.search(rf'"preset": "{name}"', PAGE)
