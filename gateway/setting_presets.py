"""Identity providers: where each puts tenant, subject, roles and machine clients, and what to set up at the provider.

A preset fills in settings of an issuer that are not set; docs/identity.md describes the same for operators.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

PresetName = Literal["cognito", "auth0", "entra", "okta", "keycloak"]
Need = Literal["tenant", "roles", "client_tenant", "client_roles", "kind"]

GENERAL: Final[Mapping[Need, str]] = MappingProxyType(
    {
        "tenant": "let the issuer add it to access tokens, or name another claim in `tenant_claim`",
        "roles": "let the issuer add a role that `role_map` lists, or name another claim in `roles_claim`",
        "client_tenant": "let the issuer add it to the tokens of machines, or give the client a tenant in "
        "`client_roles`",
        "client_roles": "let the issuer add a role that `role_map` lists, or give the client roles in `client_roles`",
        "kind": "check `machine_claims` and `user_claims` against a token of this issuer",
    }
)


@dataclass(frozen=True, slots=True)
class Preset:
    """`settings` are fields of `IssuerSettings`; `hints` are log messages that say what is missing at the provider."""

    settings: Mapping[str, Any]
    hints: Mapping[Need, str]


def hints_of(name: PresetName | None) -> Mapping[Need, str]:
    return GENERAL if name is None else PRESETS[name].hints


def with_preset(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of an issuer, completed by its preset. Explicit settings win; required claims are merged."""
    name = values.get("preset")
    preset = PRESETS.get(name) if isinstance(name, str) else None
    if preset is None:
        return dict(values)
    merged = {**preset.settings, **values}
    own = values.get("required_claims", {})
    if isinstance(own, Mapping):
        merged["required_claims"] = {**preset.settings.get("required_claims", {}), **own}
    return merged


_COGNITO: Final = Preset(
    {
        "audience_claim": "client_id",
        "required_claims": {"token_use": "access"},
        "tenant_claim": "tenant",
        "roles_claim": "cognito:groups",
        "client_claims": ["client_id"],
        "machine_claims": {"sub": "{client}"},
        "user_claims": ["username"],
        "client_roles_claim": "scope",
    },
    {
        "tenant": "your Cognito user pool needs a pre token generation trigger of version V2_0 or later that adds "
        "the claim to the access token (`accessTokenGeneration.claimsToAddOrOverride`)",
        "roles": "add the user to a group of the Cognito user pool whose name is a role or is listed in `role_map`",
        "client_tenant": "your Cognito user pool needs a pre token generation trigger of version V3_0, which also "
        "runs for client credentials and adds the claim; or give the client a tenant in `client_roles`",
        "client_roles": "allow the app client a custom scope and list `resource-server/scope` in `role_map`, or give "
        "the client roles in `client_roles`",
        "kind": "a Cognito access token of a user has `username`, one of a machine has its `client_id` as `sub`",
    },
)

_AUTH0: Final = Preset(
    {
        "tenant_claim": "org_id",
        "roles_claim": "permissions",
        "client_claims": ["azp", "client_id"],
        "machine_claims": {"sub": "{client}@clients"},
        "client_roles_claim": "scope",
    },
    {
        "tenant": "the user has to log in to an Auth0 organization (parameter `organization`), or an Auth0 Action has"
        " to add a claim with `api.accessToken.setCustomClaim` under a name like a URL, which `tenant_claim` names",
        "roles": "turn on RBAC and `Add Permissions in the Access Token` for the API in Auth0, assign the user a role"
        " with a permission, and list the permission in `role_map`",
        "client_tenant": "authorize the application for an Auth0 organization and request the token with "
        "`organization`, or give the client a tenant in `client_roles`",
        "client_roles": "authorize the application in Auth0 for a scope of the API that `role_map` lists, or give the "
        "client roles in `client_roles`",
        "kind": "an Auth0 access token of a machine has its client id with `@clients` as `sub`",
    },
)

_ENTRA: Final = Preset(
    {
        "algorithms": ["RS256"],
        "subject_claim": "oid",
        "tenant_claim": "tid",
        "roles_claim": "roles",
        "client_claims": ["azp", "appid"],
        "machine_claims": {"idtyp": "app"},
        "user_claims": ["scp"],
        "client_roles_claim": "roles",
    },
    {
        "tenant": "Entra ID puts the directory into `tid`; for another claim, add it to the access token in the token "
        "configuration or the claims mapping policy of the API's app registration",
        "roles": "declare app roles in the API's app registration in Entra ID and assign one to the user or a group",
        "client_tenant": "Entra ID puts the directory into `tid`; for another claim, give the client a tenant in "
        "`client_roles`",
        "client_roles": "declare app roles for applications in the API's app registration in Entra ID and grant one "
        "to the client with admin consent, or give the client roles in `client_roles`",
        "kind": "add the optional claim `idtyp` to access tokens of the API's app registration in Entra ID; a user's "
        "token has `scp` instead, an ID token has neither",
    },
)

_OKTA: Final = Preset(
    {
        "algorithms": ["RS256"],
        "subject_claim": "uid",
        "tenant_claim": "tenant",
        "roles_claim": "groups",
        "client_claims": ["cid"],
        "machine_claims": {"sub": "{client}"},
        "user_claims": ["uid"],
        "client_roles_claim": "scp",
    },
    {
        "tenant": "add a claim to access tokens of your Okta custom authorization server, for instance with the "
        "expression `user.tenant`; the org authorization server cannot",
        "roles": "add a groups claim to access tokens of your Okta custom authorization server, and list the groups in "
        "`role_map`",
        "client_tenant": "in client credentials Okta has no user whose profile could name a tenant: give the client a "
        "tenant in `client_roles`, or add a claim with a fixed value for a scope of the client",
        "client_roles": "grant the client a custom scope of the Okta authorization server that `role_map` lists, or "
        "give the client roles in `client_roles`",
        "kind": "an Okta access token of a user has `uid`, one of a machine has its `cid` as `sub`",
    },
)

_KEYCLOAK: Final = Preset(
    {
        "required_claims": {"typ": "Bearer"},
        "tenant_claim": "organization",
        "tenant_is_membership": True,
        "roles_claim": ["realm_access", "roles"],
        "client_claims": ["azp"],
        "machine_claims": {"client_id": "{client}", "preferred_username": "service-account-{lower}"},
        "client_roles_claim": ["realm_access", "roles"],
    },
    {
        "tenant": "the client has to request the scope `organization:<alias>` in Keycloak, and the user has to be a "
        "member; without organizations, add a mapper that puts a user attribute into the access token and name it in "
        "`tenant_claim`",
        "roles": "give the user a realm role in Keycloak that `role_map` lists; for client roles set `roles_claim` to "
        '["resource_access", "<client>", "roles"]',
        "client_tenant": "add a hardcoded claim mapper to the client in Keycloak, or give the client a tenant in "
        "`client_roles`",
        "client_roles": "give the service account of the client in Keycloak a realm role that `role_map` lists, or "
        "give the client roles in `client_roles`",
        "kind": "a Keycloak token of a service account needs the client scopes `service_account`, which adds "
        "`client_id`, and `profile`, which adds `preferred_username`; a user must not be called `service-account-...`",
    },
)

PRESETS: Final[Mapping[str, Preset]] = MappingProxyType(
    {"cognito": _COGNITO, "auth0": _AUTH0, "entra": _ENTRA, "okta": _OKTA, "keycloak": _KEYCLOAK}
)
