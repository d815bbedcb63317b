"""What the caches did, counted by group of tenants: few groups, so that they can be labels of a metric."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace

from gateway.model.tenant import TenantId

GroupOf = Callable[[TenantId], str]


def one_group(tenant: TenantId) -> str:
    return "all"


@dataclass(slots=True)
class Counts:
    """Each number only grows; one answer counts once, as a hit, stale, shared or a miss."""

    hits: int = 0
    stale: int = 0  # answered although it was to be renewed, which then went on behind the answer
    shared: int = 0  # waited for what another request was already reading
    misses: int = 0
    renewals: int = 0
    evictions: int = 0  # dropped for want of room, before their time
    dropped: int = 0  # because of a write, a suspension or other policies
    carried: int = 0  # replaced by what was written
    units: float = 0.0  # read capacity that was not consumed
    renewal_units: float = 0.0  # and what was consumed behind answers, for no request in particular

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    @property
    def hit_ratio(self) -> float:
        answers = self.hits + self.stale + self.shared + self.misses
        return (self.hits + self.stale + self.shared) / answers if answers else 0.0


@dataclass(frozen=True, slots=True)
class CacheStats:
    """A moment's figures."""

    groups: Mapping[str, Counts]
    entries: int
    bytes: int
    tenants: int

    @property
    def total(self) -> Counts:
        return sum(self.groups.values(), Counts())


class CacheTally:
    def __init__(self, group_of: GroupOf) -> None:
        self._group_of = group_of
        self._groups: dict[str, Counts] = {}

    def of(self, tenant: TenantId) -> Counts:
        group = self._group_of(tenant)
        counts = self._groups.get(group)
        if counts is None:
            counts = self._groups[group] = Counts()
        return counts

    def groups(self) -> dict[str, Counts]:
        return {name: replace(counts) for name, counts in self._groups.items()}
