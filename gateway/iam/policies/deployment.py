"""The values of a deployment, and the function that fills them into the shipped policy documents."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gateway.errors import ConfigurationError
from gateway.iam.language.errors import PolicyError

TABLE: Final = "arn:<partition>:dynamodb:<region>:<account>:table/<table>"
KEYS: Final = "arn:<partition>:kms:<region>:<account>:key/*"
BUCKET: Final = "arn:<partition>:s3:::<bucket>"
TENANT_ROLE: Final = "<tenant-role-arn>"
GATEWAY_ROLE: Final = "<gateway-role-arn>"

_TOKEN = re.compile(r"<([a-z-]+)>")
_ROLE = re.compile(r"arn:(aws[a-z-]*):iam::([0-9]{12}):role/(?:[\w+=,.@-]+/)*[\w+=,.@-]{1,64}", re.ASCII)
# INVARIANT: no value contains a wildcard, a quote or a `$`, so rendering cannot widen a policy.
_SHAPES: Final[Mapping[str, re.Pattern[str]]] = {
    "partition": re.compile(r"aws[a-z-]*"),
    "region": re.compile(r"[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}"),
    "account": re.compile(r"[0-9]{12}"),
    "table": re.compile(r"[A-Za-z0-9_.-]{3,255}"),
    "bucket": re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"),
    "tenant-role-arn": _ROLE,
    "gateway-role-arn": _ROLE,
}
_OPTIONAL: Final = frozenset(("tenant-role-arn", "gateway-role-arn", "bucket"))


@dataclass(frozen=True, slots=True)
class Deployment:
    """One table, the tenants' role for it, the role of the gateway, and the bucket of the files.

    A role or a bucket may be empty if the rendered documents do not name it.
    """

    partition: str
    region: str
    account: str
    table: str
    tenant_role: str = ""
    gateway_role: str = ""
    bucket: str = ""

    def __post_init__(self) -> None:
        faults = [
            f"{token}: `{value}` is not a valid value in a policy"
            for token, value in self.values().items()
            if not _SHAPES[token].fullmatch(value) and not (token in _OPTIONAL and value == "")
        ]
        if faults:
            raise ConfigurationError(faults)

    @classmethod
    def of_role(
        cls, tenant_role: str, region: str, table: str, gateway_role: str = "", bucket: str = ""
    ) -> "Deployment":
        """The deployment of a role, whose table is in the same account and partition."""
        match = _ROLE.fullmatch(tenant_role)
        if match is None:
            raise ConfigurationError([f"`{tenant_role}` is not the ARN of a role"])
        return cls(match[1], region, match[2], table, tenant_role, gateway_role, bucket)

    def values(self) -> dict[str, str]:
        return {
            "partition": self.partition,
            "region": self.region,
            "account": self.account,
            "table": self.table,
            "tenant-role-arn": self.tenant_role,
            "gateway-role-arn": self.gateway_role,
            "bucket": self.bucket,
        }


LONGEST: Final = Deployment(
    "aws-us-gov",
    "ap-northeast-1",
    "123456789012",
    "t" * 255,
    f"arn:aws-us-gov:iam::123456789012:role/{'r' * 64}",
    f"arn:aws-us-gov:iam::123456789012:role/{'g' * 64}",
    "b" * 63,
)
"""The longest possible names: a document that fits here fits in every deployment."""


def render_text(text: str, deployment: Deployment) -> str:
    """The text with every token replaced; raises `PolicyError` for a token without a value."""
    values = deployment.values()

    def value(match: re.Match[str]) -> str:
        replacement = values.get(match[1], "")
        if not replacement:
            raise PolicyError(f"the deployment has no value for `{match[0]}`")
        return replacement

    return _TOKEN.sub(value, text)


def render(document: Mapping[str, Any], deployment: Deployment) -> dict[str, Any]:
    return {key: _rendered(value, deployment) for key, value in document.items()}


def _rendered(value: Any, deployment: Deployment) -> Any:
    match value:
        case str():
            return render_text(value, deployment)
        case list():
            return [_rendered(item, deployment) for item in value]
        case Mapping():
            return render(value, deployment)
    return value
