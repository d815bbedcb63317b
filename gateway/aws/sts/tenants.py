"""Tenants: the table and role of each, and whether it is served."""

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
    """Has the same message for every tenant that is not served, so that no one learns which tenants exist."""

    def __init__(self) -> None:
        super().__init__("this gateway does not serve the tenant")


@dataclass(frozen=True, slots=True)
class Tenancy:
    """A table, the role that may access it, the regional endpoints of DynamoDB and STS, and the bucket of files."""

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
    """Pooled tenants share one tenancy, and a silo has its own; if tenants are listed, all others are refused."""

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
        # the error for an unknown tenant does not depend on whether it is suspended
        if self._known is not None and tenant not in self._known:
            raise UnknownTenant
        if tenant in self._suspended:
            raise TenantSuspended("the tenant is suspended")
        return self._silos.get(tenant, self._pooled)

    def suspend(self, tenant: TenantId) -> None:
        self._suspended.add(tenant)

    def resume(self, tenant: TenantId) -> None:
        self._suspended.discard(tenant)
