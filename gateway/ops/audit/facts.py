"""The facts about an account that the checks read; each may be unknown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.ops.capacity.demand import Need

Statements = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class UnknownFact:
    """A fact that could not be determined; `reason` names the missing permission, connection or option."""

    reason: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class NotHere:
    """A fact that does not exist in this place, such as alarms in the sandbox."""

    reason: str


Missing = UnknownFact | NotHere


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """`limit` is the maximum that is served on demand, if one is set."""

    name: str
    keys: tuple[str, ...]
    projection: str
    status: str
    provisioned: Need
    limit: Need


@dataclass(frozen=True, slots=True)
class TableFacts:
    arn: str
    status: str
    on_demand: bool
    keys: tuple[str, ...]
    key_types: Mapping[str, str]
    indexes: Mapping[str, IndexFacts]
    provisioned: Need
    limit: Need
    deletion_protection: bool
    key_arn: str | None
    stream: str | None
    local_indexes: Mapping[str, IndexFacts] = field(default_factory=dict)

    @property
    def resources(self) -> tuple[str, ...]:
        """The ARNs of the table and of every index."""
        return (self.arn, *(f"{self.arn}/index/{name}" for name in (*self.indexes, *self.local_indexes)))


@dataclass(frozen=True, slots=True)
class KeyFacts:
    """The key that encrypts the table; `manager` is CUSTOMER for a key of the account, AWS for one of the service."""

    manager: str
    state: str
    rotates: bool


@dataclass(frozen=True, slots=True)
class TtlFacts:
    status: str
    attribute: str | None


@dataclass(frozen=True, slots=True)
class BackupFacts:
    enabled: bool
    days: int | None


@dataclass(frozen=True, slots=True)
class ScalingTarget:
    """Autoscaling of reads or writes of the table or of an index; `percent` is None without a policy that tracks."""

    place: str
    kind: str
    least: int
    most: int
    percent: float | None


@dataclass(frozen=True, slots=True)
class Metric:
    namespace: str
    name: str
    dimensions: Mapping[str, str]
    statistic: str
    period: int = 60


@dataclass(frozen=True, slots=True)
class Alarm:
    """`rule` is that of a composite alarm, which has no metrics of its own.

    It fires if the value is bad in `points` of the last `periods`; `actions` are empty if they are switched off.
    """

    name: str
    metrics: tuple[Metric, ...]
    actions: tuple[str, ...]
    rule: str = ""
    periods: int = 1
    points: int = 1


@dataclass(frozen=True, slots=True)
class RoleFacts:
    arn: str
    trust: Statements
    policies: Mapping[str, Statements]
    boundary: Statements | None
    longest_session: int


@dataclass(frozen=True, slots=True)
class EndpointFacts:
    name: str
    kind: str
    vpc: str
    state: str
    routes: int
    policy: Statements


@dataclass(frozen=True, slots=True)
class CountedByCloudWatch:
    """Scans, and throttled requests by place and kind, that CloudWatch counted in the last `days`."""

    days: int
    scans: float
    throttles: Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class FileFacts:
    """`page` is the text of docs/access-patterns.md, `stale_policies` what is wrong with policies/."""

    page: str | None
    stale_policies: tuple[str, ...] | Missing


@dataclass(frozen=True, slots=True)
class Facts:
    """`subscribers` counts confirmed subscriptions by topic; `key` is None if the table has no key of the account."""

    table: TableFacts
    ttl: TtlFacts | Missing
    backups: BackupFacts | Missing
    key: KeyFacts | Missing | None
    scaling: tuple[ScalingTarget, ...] | Missing
    alarms: tuple[Alarm, ...] | Missing
    subscribers: Mapping[str, int | Missing]
    seen: CountedByCloudWatch | Missing
    tenant_role: RoleFacts | Missing
    gateway_role: RoleFacts | Missing
    table_policy: Statements | Missing | None
    endpoints: tuple[EndpointFacts, ...] | Missing
    files: FileFacts
