"""Access tokens as the five identity providers shape them, and the settings that fit them."""

from typing import Any

from gateway.demo import MODEL
from gateway.identity.issuer import Issuer
from gateway.setting_types import IssuerSettings
from gateway.wiring.tenants import issuer_of
from tests.identity.fixtures import NOW, TokenVerifier, header, rsa_key, sign

DIRECTORY = "8eaef023-2b34-4da1-9baa-8bc8c9d6a490"
TIMES = {"iat": NOW - 10, "exp": NOW + 600}

SETTINGS: dict[str, dict[str, Any]] = {
    "cognito": {
        "issuer": "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_Ab",
        "audience": ["web", "robot"],
        "role_map": {"viewer": "viewer", "gateway/export": "viewer"},
    },
    "auth0": {
        "issuer": "https://shop.eu.auth0.com/",
        "audience": ["https://api.example.org"],
        "additional_audiences": ["https://shop.eu.auth0.com/userinfo"],
        "tenant_map": {"org_Xb2": "acme", "org_Zz9": "globex"},
        "role_map": {"orders:read": "viewer"},
    },
    "entra": {
        "issuer": f"https://login.microsoftonline.com/{DIRECTORY}/v2.0",
        "audience": ["6e74172b-be56-4843-9ff4-e66a39bb12e3"],
        "tenant_map": {DIRECTORY: "acme"},
        "role_map": {"Orders.Read": "viewer"},
    },
    "okta": {
        "issuer": "https://shop.okta.com/oauth2/aus1",
        "audience": ["api://gateway"],
        "role_map": {"viewers": "viewer", "gateway.read": "viewer"},
    },
    "keycloak": {"issuer": "https://login.example.org/realms/shop", "audience": ["gateway"]},
}

USERS: dict[str, dict[str, Any]] = {
    "cognito": {
        "sub": "aaaa-1",
        "token_use": "access",
        "client_id": "web",
        "username": "ann",
        "scope": "openid gateway/export",
        "version": 2,
        "cognito:groups": ["viewer"],
        "tenant": "acme",
    },
    "auth0": {
        "sub": "auth0|6553",
        "aud": ["https://api.example.org", "https://shop.eu.auth0.com/userinfo"],
        "azp": "web",
        "scope": "openid",
        "org_id": "org_Xb2",
        "permissions": ["orders:read"],
    },
    "entra": {
        "sub": "pairwise-1",
        "oid": "object-1",
        "aud": "6e74172b-be56-4843-9ff4-e66a39bb12e3",
        "azp": "web",
        "scp": "access_as_user",
        "tid": DIRECTORY,
        "roles": ["Orders.Read"],
        "ver": "2.0",
    },
    "okta": {
        "sub": "ann@example.org",
        "uid": "00u1",
        "cid": "web",
        "aud": "api://gateway",
        "scp": ["openid"],
        "groups": ["Everyone", "viewers"],
        "tenant": "acme",
        "ver": 1,
    },
    "keycloak": {
        "sub": "f3c1",
        "typ": "Bearer",
        "aud": "gateway",
        "azp": "web",
        "preferred_username": "ann",
        "realm_access": {"roles": ["offline_access", "viewer"]},
        "organization": {"acme": {"id": "42c3e46f"}},
    },
}
SUBJECTS = {"cognito": "aaaa-1", "auth0": "auth0|6553", "entra": "object-1", "okta": "00u1", "keycloak": "f3c1"}

MACHINES: dict[str, dict[str, Any]] = {
    "cognito": {
        "sub": "robot",
        "token_use": "access",
        "client_id": "robot",
        "scope": "gateway/export",
        "version": 2,
        "tenant": "acme",
    },
    "auth0": {
        "sub": "robot@clients",
        "aud": "https://api.example.org",
        "azp": "robot",
        "gty": "client-credentials",
        "scope": "orders:read",
        "org_id": "org_Xb2",
    },
    "entra": {
        "sub": "object-9",
        "oid": "object-9",
        "aud": "6e74172b-be56-4843-9ff4-e66a39bb12e3",
        "azp": "robot",
        "idtyp": "app",
        "tid": DIRECTORY,
        "roles": ["Orders.Read"],
    },
    "okta": {
        "sub": "robot",
        "cid": "robot",
        "aud": "api://gateway",
        "scp": ["gateway.read"],
        "tenant": "acme",
    },
    "keycloak": {
        "sub": "0d11",
        "typ": "Bearer",
        "aud": "gateway",
        "azp": "Robot",
        "client_id": "Robot",
        "preferred_username": "service-account-robot",
        "realm_access": {"roles": ["viewer"]},
        "organization": ["acme"],
    },
}
CLIENTS = {**dict.fromkeys(MACHINES, "robot"), "keycloak": "Robot"}


def provider(name: str, **changes: Any) -> Issuer:
    values = {"preset": name, "jwks_url": "https://keys.example.org/jwks", **SETTINGS[name], **changes}
    return issuer_of(IssuerSettings(**values), tuple(MODEL.roles), allow_http=False)


def token(name: str, shape: dict[str, Any], head: dict[str, Any] | None = None, /, **changes: Any) -> str:
    """A token of this shape; a change to `...` leaves the claim out."""
    claims = {"iss": SETTINGS[name]["issuer"], **TIMES, **shape, **changes}
    kept = {claim: value for claim, value in claims.items() if value is not ...}
    # as Cognito's and Okta's, its header has no `typ`
    return sign(header(**(head or {"typ": ...})), kept, rsa_key(), "RS256")


def verifier_for(name: str, **changes: Any) -> TokenVerifier:
    return TokenVerifier(issuers=(provider(name, **changes),))
