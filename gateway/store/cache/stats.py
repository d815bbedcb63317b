"""What the caches did, counted by group of tenants; few groups, because they become labels of metrics."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Generic, TypeVar

from gateway.model.tenant import TenantId

GroupOf = Callable[[TenantId], str]


def one_group(tenant: TenantId) -> str:
    return "all"


@dataclass(slots=True)
class Counts:
    """Reads of the process's cache; the numbers only grow. An answer counts once: as hit, stale, shared or miss."""

    hits: int = 0
    stale: int = 0  # served although its renewal was due, which then ran in the background
    shared: int = 0  # waited for a read of another request
    misses: int = 0
    renewals: int = 0
    evictions: int = 0  # dropped before their time to make room
    dropped: int = 0  # because of a write, a suspension or changed policies
    carried: int = 0  # replaced by what was written
    units: float = 0.0  # read capacity that was not consumed
    renewal_units: float = 0.0  # read capacity of renewals, which belong to no request

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


@dataclass(frozen=True, slots=True)
class CacheStats:
    """A snapshot."""

    groups: Mapping[str, Counts]
    entries: int
    bytes: int
    tenants: int

    @property
    def total(self) -> Counts:
        return sum(self.groups.values(), Counts())


@dataclass(slots=True)
class DaxCounts:
    """Reads that may use a cluster; the numbers only grow. A read that takes several calls counts each."""

    answered: int = 0
    failed: int = 0  # the cluster did not answer, and the table did
    avoided: int = 0  # the cluster was not called: it failed recently, or all threads were busy
    passed: int = 0  # may not use a cluster: too fresh, strong, or a role with rules on attributes


@dataclass(frozen=True, slots=True)
class DaxStats:
    """A snapshot."""

    groups: Mapping[str, DaxCounts]
    clusters: Mapping[str, str]  # name to the state of its breaker: closed, open, trying


C = TypeVar("C", Counts, DaxCounts)


class Tally(Generic[C]):
    """Counts of each group."""

    def __init__(self, new: Callable[[], C], group_of: GroupOf) -> None:
        self._new: Callable[[], C] = new
        self._group_of = group_of
        self._groups: dict[str, C] = {}

    def of(self, tenant: TenantId) -> C:
        group = self._group_of(tenant)
        counts = self._groups.get(group)
        if counts is None:
            counts = self._groups[group] = self._new()
        return counts

    def groups(self) -> dict[str, C]:
        return {name: replace(counts) for name, counts in self._groups.items()}
