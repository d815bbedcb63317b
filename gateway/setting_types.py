"""What settings are made of: checked texts, and the parts that are nested."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from gateway.errors import BadUserInput
from gateway.model.tenant import tenant_id

_ROLE_ARN = re.compile(r"arn:(?P<partition>aws[a-z-]*):iam::(?P<account>[0-9]{12}):role/[A-Za-z0-9_+=,.@/-]+")


def _role_arn(text: str) -> str:
    if not _ROLE_ARN.fullmatch(text):
        raise ValueError("expected an ARN such as arn:aws:iam::123456789012:role/gateway-tenant")
    return text


def _url(text: str) -> str:
    if not re.fullmatch(r"https?://[^\s/]+(/\S*)?", text):
        raise ValueError("expected an http:// or https:// address")
    return text


def _origin(text: str) -> str:
    if text != "*" and not re.fullmatch(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?", text):
        raise ValueError("expected an origin as browsers send it, such as https://shop.example.org, without a path")
    return text


def _dax_url(text: str) -> str:
    if not re.fullmatch(r"daxs?://[A-Za-z0-9.-]+(:[0-9]{1,5})?", text):
        raise ValueError("expected a daxs:// or dax:// address")
    return text


def _tenant(text: str) -> str:
    try:
        return tenant_id(text)
    except BadUserInput as error:
        raise ValueError(error.message) from error


RoleArn = Annotated[str, AfterValidator(_role_arn)]
Url = Annotated[str, AfterValidator(_url)]
Origin = Annotated[str, AfterValidator(_origin)]
DaxUrl = Annotated[str, AfterValidator(_dax_url)]
Tenant = Annotated[str, AfterValidator(_tenant)]
# no wildcard and no slash: the name becomes part of an ARN
TableName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{3,255}$")]
Region = Annotated[str, Field(pattern=r"^[a-z]{2}(-[a-z]+)+-[0-9]$")]
Words = Annotated[str, Field(min_length=1)]


class _SettingsPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class IssuerSettings(_SettingsPart):
    """A token issuer that is trusted, and where its claims are."""

    issuer: Words
    audience: list[Words] = Field(min_length=1)
    jwks_url: Url
    algorithms: list[Literal["RS256", "RS384", "RS512", "ES256"]] = Field(["RS256", "ES256"], min_length=1)
    types: list[str | None] = [None, "jwt", "at+jwt"]  # header `typ`; None allows a token without one
    audience_claim: Words = "aud"  # `client_id` for Cognito's access tokens
    additional_audiences: list[Words] = []  # may stand beside ours in a list, such as Auth0's userinfo address
    subject_claim: Words = "sub"
    tenants: list[Tenant] | None = None  # the tenants it may speak for; without it, all
    tenant_claim: Words = "tenant"
    roles_claim: Words = "roles"
    role_map: dict[str, str] = {}
    required_claims: dict[str, str] = {}
    leeway_seconds: int = Field(default=30, ge=0, le=60)
    max_lifetime_seconds: int = Field(default=86_400, ge=60)


class SiloSettings(_SettingsPart):
    """A tenant with a table, a role or a region of its own; what is left out is as for the pooled tenants."""

    table_name: TableName | None = None
    tenant_role_arn: RoleArn | None = None
    region: Region | None = None
    dynamodb_endpoint: Url | None = None
    external_id: str | None = None
    dax_endpoint: DaxUrl | None = None  # a cluster of the tenant's own; that of the pool is never used for a silo
    dax_role_arn: RoleArn | None = None  # assumed to read from that cluster; without it the gateway's own role
