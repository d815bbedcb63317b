"""What was written and what each subscriber received, and which of it is wrong."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

# a process looks at its callers every second; the rest is a slow machine
_LATE_SECONDS = 6.0
_OF_TENANT = 1_000_000  # versions of a tenant's items begin at its number times this, so that each names its tenant


@dataclass(frozen=True, slots=True)
class Item:
    tenant: str
    order: str


def first_version(tenants: Sequence[str], tenant: str) -> int:
    return (tenants.index(tenant) + 1) * _OF_TENANT


@dataclass(frozen=True, slots=True)
class Received:
    """A version that a subscriber received; `expires` is when the token of the subscriber ends, by the same clock."""

    item: Item
    version: int
    at: float
    expires: float


@dataclass(slots=True)
class Writes:
    """The last acknowledged version of each item, and when each version was acknowledged."""

    last: dict[Item, int] = field(default_factory=dict)
    at: dict[tuple[Item, int], float] = field(default_factory=dict)

    def acknowledged(self, item: Item, version: int, at: float) -> None:
        self.last[item] = version
        self.at[item, version] = at


@dataclass(slots=True)
class Seen:
    """What one subscriber received of the items that it watches."""

    name: str
    tenant: str
    base: int  # the first version of its tenant's items
    items: tuple[Item, ...]
    listed: bool = False  # it watches a list, and not a single item
    received: list[Received] = field(default_factory=list)
    surprises: list[str] = field(default_factory=list)
    connections: int = 0
    resumes: int = 0
    expired_positions: int = 0

    def newest(self, item: Item) -> int | None:
        return next((each.version for each in reversed(self.received) if each.item == item), None)

    def settled(self, writes: Writes) -> bool:
        """Every acknowledged change was seen or superseded."""
        return all(self.newest(item) == writes.last.get(item) for item in self.items)


def violations(seen: Seen, writes: Writes) -> Iterator[str]:
    """Every broken rule, as a sentence."""
    yield from (f"{seen.name}: {each}" for each in seen.surprises)
    if seen.expired_positions:
        yield f"{seen.name}: {seen.expired_positions} positions had expired, and the bus keeps a day"
    for item in seen.items:
        if seen.newest(item) != writes.last.get(item):
            yield f"{seen.name}: {item} is at {writes.last.get(item)}, and was received at {seen.newest(item)}"
    newest: dict[Item, int] = {}
    for each in seen.received:
        if each.version // _OF_TENANT != seen.base // _OF_TENANT:
            yield f"{seen.name}: {each.item} was received with the value {each.version} of another tenant"
        if each.item not in seen.items:
            yield f"{seen.name}: received {each.item}, which it does not watch"
        if each.version < newest.get(each.item, 0):
            yield f"{seen.name}: {each.item} went back from {newest[each.item]} to {each.version}"
        if each.version == newest.get(each.item) and not seen.listed:
            # in a list, the event of a change may repeat a state that the event of an earlier change has shown
            yield f"{seen.name}: {each.item} was received at {each.version} twice"
        newest[each.item] = max(each.version, newest.get(each.item, 0))
        if each.at > each.expires + _LATE_SECONDS:
            yield f"{seen.name}: received something {each.at - each.expires:.1f} s after its token had expired"


def latencies(all_seen: Sequence[Seen], writes: Writes) -> list[float]:
    """From an acknowledged write to the first time that it was received, of those that were not superseded before."""
    first: dict[tuple[str, Item, int], float] = {}
    for seen in all_seen:
        for each in seen.received:
            first.setdefault((seen.name, each.item, each.version), each.at)
    known = [(at, writes.at.get((item, version))) for (_, item, version), at in first.items()]
    return sorted(max(0.0, at - written) for at, written in known if written is not None)
