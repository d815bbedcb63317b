"""Cache statistics by group of tenants; groups are few, because they become metric labels."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Generic, TypeVar

from gateway.model.tenant import TenantId

GroupOf = Callable[[TenantId], str]


def one_group(tenant: TenantId) -> str:
    return "all"


@dataclass(slots=True)
class Counts:
    """Counters of the in-process cache; they only grow. Each read is counted once: as hit, stale, shared or miss."""

    hits: int = 0
    stale: int = 0  # served although a refresh was due, which then ran in the background
    shared: int = 0  # waited for the read of another request
    misses: int = 0
    renewals: int = 0
    evictions: int = 0  # dropped early to make room
    dropped: int = 0  # because of a write, a suspension or changed policies
    carried: int = 0  # replaced by what was written
    units: float = 0.0  # read capacity that was saved
    renewal_units: float = 0.0  # read capacity of background refreshes, which belong to no request

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


@dataclass(frozen=True, slots=True)
class CacheStats:
    """A snapshot of the counters."""

    groups: Mapping[str, Counts]
    entries: int
    bytes: int
    tenants: int

    @property
    def total(self) -> Counts:
        return sum(self.groups.values(), Counts())


@dataclass(slots=True)
class DaxCounts:
    """Counters of reads that may use a cluster; they only grow. A read with several calls counts each of them."""

    answered: int = 0
    failed: int = 0  # the cluster did not respond, and the table was read
    avoided: int = 0  # the cluster was not called: it failed recently, or all threads were busy
    passed: int = 0  # must not use a cluster: must be fresher, is strong, or the role has rules on attributes


@dataclass(frozen=True, slots=True)
class DaxStats:
    """A snapshot of the counters."""

    groups: Mapping[str, DaxCounts]
    clusters: Mapping[str, str]  # name to the state of its breaker: closed, open, trying


C = TypeVar("C", Counts, DaxCounts)


class Tally(Generic[C]):
    """Counters by group."""

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
