"""Where each tenant lives, and whether it is served at all."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from gateway.aws.wire.endpoint import AwsTarget
from gateway.aws.wire.s3 import FileBucket
from gateway.errors import ConfigurationError, Forbidden, TenantSuspended
from gateway.model.tenant import TenantId

_ROLE_ARN = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/([\w+=,.@-]+/)*[\w+=,.@-]{1,64}", re.ASCII)
_EXTERNAL_ID = re.compile(r"[\w+=,.@:/-]{2,1224}", re.ASCII)


class UnknownTenant(Forbidden):
    """Says the same for every tenant that is not served, so that nobody learns which ones exist."""

    def __init__(self) -> None:
        super().__init__("this gateway does not serve the tenant")


@dataclass(frozen=True, slots=True)
class Tenancy:
    """A table, the role that may reach it, the regional endpoints of both DynamoDB and STS, and the bucket of files."""

    table: str
    role_arn: str
    target: AwsTarget
    sts_region: str
    external_id: str | None = None
    files: FileBucket | None = None

    def __post_init__(self) -> None:
        faults = []
        if not _ROLE_ARN.fullmatch(self.role_arn):
            faults.append(f"not the arn of a role: `{self.role_arn}`")
        if self.external_id is not None and not _EXTERNAL_ID.fullmatch(self.external_id):
            faults.append("an external id is 2 to 1224 characters of letters, digits and +=,.@:/-_")
        if faults:
            raise ConfigurationError(faults)


class Tenants:
    """Pooled tenants share one tenancy, a silo has its own; where tenants are listed, nobody else is served."""

    def __init__(
        self,
        pooled: Tenancy,
        silos: Mapping[TenantId, Tenancy] = MappingProxyType({}),
        *,
        suspended: Iterable[TenantId] = (),
        known: Iterable[TenantId] | None = None,
    ) -> None:
        self._pooled = pooled
        self._silos = dict(silos)
        self._suspended = set(suspended)
        self._known = None if known is None else frozenset(known)

    def lookup(self, tenant: TenantId) -> Tenancy:
        # An unknown tenant is told the same whether somebody suspended it or not.
        if self._known is not None and tenant not in self._known:
            raise UnknownTenant
        if tenant in self._suspended:
            raise TenantSuspended("the tenant is suspended")
        return self._silos.get(tenant, self._pooled)

    def suspend(self, tenant: TenantId) -> None:
        self._suspended.add(tenant)

    def resume(self, tenant: TenantId) -> None:
        self._suspended.discard(tenant)
