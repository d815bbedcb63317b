"""The types of settings: checked strings, and the settings of an issuer and of a silo."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from gateway.errors import BadUserInput
from gateway.model.tenant import tenant_id
from gateway.setting_presets import PresetName, with_preset


def _matching(pattern: str, expected: str) -> AfterValidator:
    compiled = re.compile(pattern)

    def check(text: str) -> str:
        if not compiled.fullmatch(text):
            raise ValueError(f"expected {expected}")
        return text

    return AfterValidator(check)


RoleArn = Annotated[
    str,
    _matching(
        r"arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]+",
        "the ARN of a role, such as arn:aws:iam::123456789012:role/gateway-tenant",
    ),
]
Url = Annotated[str, _matching(r"https?://[^\s/]+(/\S*)?", "an http:// or https:// address")]
Origin = Annotated[
    str,
    _matching(
        r"\*|https?://[a-z0-9.-]+(:[0-9]{1,5})?",
        "an origin as browsers send it, such as https://shop.example.org, without a path",
    ),
]
DaxUrl = Annotated[str, _matching(r"daxs?://[A-Za-z0-9.-]+(:[0-9]{1,5})?", "a daxs:// or dax:// address")]
BusUrl = Annotated[str, _matching(r"(tls|nats)://[A-Za-z0-9.-]+(:[0-9]{1,5})?", "a tls:// or nats:// address")]
BusStream = Annotated[
    str, _matching(r"[A-Za-z0-9_-]{1,64}", "the name of a stream: up to 64 characters of A-Z, a-z, 0-9, _ and -")
]


def _tenant(text: str) -> str:
    try:
        return tenant_id(text)
    except BadUserInput as error:
        raise ValueError(error.message) from error


Tenant = Annotated[str, AfterValidator(_tenant)]
# no wildcard and no slash: the name becomes part of an ARN
BucketName = Annotated[str, _matching(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", "the name of a bucket")]
TableName = Annotated[
    str, _matching(r"[A-Za-z0-9_.-]{3,255}", "the name of a table: 3 to 255 characters of A-Z, a-z, 0-9, _, . and -")
]
Region = Annotated[str, _matching(r"[a-z]{2}(-[a-z]+)+-[0-9]", "a region, such as eu-west-1")]
Words = Annotated[str, Field(min_length=1)]


# the exact name of a claim, a dotted path, or the list of names that leads to it
Claim = Words | Annotated[list[Words], Field(min_length=1)]


class _SettingsPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ClientSettings(_SettingsPart):
    """A machine client."""

    roles: list[Words] = []
    """The client's roles in the gateway, in place of those in its token. If empty, the token names them."""
    tenant: Tenant | None = None
    """The client's tenant. A token that names another one is refused. Without it, the token names the tenant."""


class SupportSettings(_SettingsPart):
    """Restricts the support grants of an issuer."""

    role: Words = "support"
    """The only role of support access, whatever the token says."""
    max_minutes: int = Field(default=30, ge=1, le=30)
    """The longest time from `iat` to `exp`. There is no leeway at its end."""
    actor_claim: list[Words] = Field(default=["act", "sub"], min_length=2)
    """The claim inside `act` that names the person: 2 to 128 letters, digits and `_+=,.@-`, which CloudTrail
    records."""
    reason_claim: Claim = "reason"
    """The claim with the reason: 1 to 200 printable characters."""
    only: bool = True
    """Refuses every token of this issuer that is not a support grant. If possible, use a separate issuer for
    support."""


class IssuerSettings(_SettingsPart):
    """A trusted token issuer."""

    issuer: Words
    """The exact value of `iss`."""
    preset: PresetName | None = None
    """The identity provider: `cognito`, `auth0`, `entra`, `okta` or `keycloak`. It fills in the settings of this table
    that are not set; see [identity providers](identity.md)."""
    audience: list[Words] = Field(min_length=1)
    """The accepted values of `aud`."""
    jwks_url: Url
    """The address of the issuer's keys; https outside the sandbox."""
    algorithms: list[Literal["RS256", "RS384", "RS512", "ES256"]] = Field(["RS256", "ES256"], min_length=1)
    """The accepted signature algorithms; RS384 and RS512 are also possible."""
    types: list[str | None] = [None, "jwt", "at+jwt"]
    """The accepted values of the header `typ`; `null` accepts a token without it."""
    audience_claim: Claim = "aud"
    """The claim that holds the audience; `client_id` for access tokens of Cognito."""
    additional_audiences: list[Words] = []
    """Audiences that may be listed next to ours, such as the userinfo address of Auth0."""
    subject_claim: Claim = "sub"
    """The claim that identifies the user. Choose a claim whose values are never reassigned."""
    tenants: list[Tenant] | None = None
    """The tenants that the issuer may name. Set it when a customer brings their own issuer. Without it, all."""
    tenant_claim: Claim = "tenant"
    """The claim that names the tenant, by exact name, dotted path or list of names: `custom:tenant`, `org_id`,
    `app.tenant`, `["app", "tenant"]`."""
    tenant_map: dict[Words, Tenant] = {}
    """Maps values of that claim to tenants, if they are not tenant ids: `{"org_Xb2": "acme"}`. Other values are
    refused."""
    tenant_is_membership: bool = False
    """The tenant claim may also be a list or an object with exactly one name, as `organization` of Keycloak."""
    roles_claim: Claim = "roles"
    """The claim that names the roles, as a list or as one string separated by spaces."""
    role_map: dict[str, str] = {}
    """Maps roles in the token to roles of the gateway; others are ignored. If empty, the names are the gateway's
    own."""
    required_claims: dict[str, str] = {}
    """Claims that must have one exact value: `{"token_use": "access"}`."""
    client_claims: list[Claim] = []
    """The claims that name the client; the first one that exists is used. If empty, every token is a user's."""
    machine_claims: dict[Words, Words] = {}
    """Claims and their values in the tokens of machines, with `{client}` for the client: `{"sub": "{client}"}`. A token
    with only some of them is refused."""
    user_claims: list[Claim] = []
    """Claims that distinguish users: a user's token has at least one of them, a machine's has none."""
    client_roles_claim: Claim | None = None
    """The claim that names the roles of a machine. Without it, `roles_claim`."""
    client_roles: dict[Words, ClientSettings] = {}
    """Roles and tenants of machines by client id: `{"4h57ijh2": {"roles": ["viewer"], "tenant": "acme"}}`."""
    support: SupportSettings | None = None
    """Allows the issuer to grant [support access](identity.md#support-access). Without it, its tokens with an `act`
    claim are refused."""
    leeway_seconds: int = Field(default=30, ge=0, le=60)
    """The tolerance for clock differences."""
    max_lifetime_seconds: int = Field(default=86_400, ge=60)
    """Tokens with a longer lifetime are refused."""

    @model_validator(mode="before")
    @classmethod
    def _preset(cls, values: Any) -> Any:
        return with_preset(values) if isinstance(values, dict) else values


class SiloSettings(_SettingsPart):
    """A tenant with its own table, role or region; unset values are those of the pooled tenants."""

    table_name: TableName | None = None
    """The tenant's own table."""
    tenant_role_arn: RoleArn | None = None
    """The role that the gateway assumes for the tenant."""
    region: Region | None = None
    """The region of the table. STS is called in the same region."""
    dynamodb_endpoint: Url | None = None
    """Another address for DynamoDB."""
    external_id: str | None = None
    """The external id that the role's trust policy requires."""
    files_bucket: BucketName | None = None
    """The tenant's own bucket of [files](files.md), in the same region. A silo in another region needs one."""
    dax_endpoint: DaxUrl | None = None
    """The tenant's own DAX cluster. A silo never uses the cluster of the pool."""
    dax_role_arn: RoleArn | None = None
    """The role that the gateway assumes to read from that cluster. Without it, the gateway's own role signs."""
