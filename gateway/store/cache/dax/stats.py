"""What went through the clusters and what did not, counted by group of tenants."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gateway.model.tenant import TenantId
from gateway.store.cache.stats import GroupOf


@dataclass(slots=True)
class DaxCounts:
    """Each number only grows; a read is several calls where it takes several."""

    answered: int = 0
    failed: int = 0  # the cluster did not answer, and the table did
    avoided: int = 0  # the cluster was not asked: it failed lately, or all threads were busy
    passed: int = 0  # may not go through a cluster: too fresh, strong, or a role with rules on attributes


@dataclass(frozen=True, slots=True)
class DaxStats:
    groups: Mapping[str, DaxCounts]
    clusters: Mapping[str, str]  # name to the state of its breaker: closed, open, trying


class DaxTally:
    def __init__(self, group_of: GroupOf) -> None:
        self._group_of = group_of
        self._groups: dict[str, DaxCounts] = {}

    def of(self, tenant: TenantId) -> DaxCounts:
        return self._groups.setdefault(self._group_of(tenant), DaxCounts())

    def groups(self) -> dict[str, DaxCounts]:
        return {name: replace(counts) for name, counts in self._groups.items()}
