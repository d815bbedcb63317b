"""Monthly cost on demand and provisioned, the break-even between them, DAX, and the audit trail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from gateway.ops.capacity.assumptions import Assumptions
from gateway.ops.capacity.demand import Demand, Need
from gateway.ops.capacity.prices import Prices, Reserved

SECONDS_IN_HOUR: Final = 3_600
MILLION: Final = 1_000_000
GB: Final = 1_000_000_000
_BLOCK: Final = 100  # units that are reserved together


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a day: average load as a fraction of the busy hour, and utilisation of provisioned capacity."""

    average_share: float
    utilisation: float


@dataclass(frozen=True, slots=True)
class Monthly:
    """`fixed` provisions the busy hour all the time; `autoscaled` follows the load without delay.

    Real autoscaling is in between: it follows within minutes, and scales down only a few times a day.
    """

    on_demand: float
    fixed: float
    autoscaled: float
    storage: float
    reserved: Mapping[int, float]  # `fixed` with whole hundreds of its units reserved, by the years of the term

    @property
    def cheapest(self) -> str:
        """The cheapest of the modes that can be changed at any time: a reservation lasts for years."""
        modes = {"on demand": self.on_demand, "provisioned, fixed": self.fixed, "autoscaled": self.autoscaled}
        return min(modes, key=lambda mode: modes[mode])


@dataclass(frozen=True, slots=True)
class BreakEven:
    """`utilisation`: above it, a provisioned unit is cheaper than on demand.

    `average_share`: above it, capacity fixed for the busy hour, with headroom, is cheaper than on demand; if it
    exceeds 1, it never is.
    """

    read_utilisation: float
    write_utilisation: float
    average_share: float


def monthly(needs: Sequence[Need], shape: Shape, prices: Prices, storage_gb: float = 0) -> Monthly:
    """`needs` are those of the busy hour, one for the table and one for each index: capacity is bought for each."""
    billed = max(0.0, storage_gb - prices.storage.free_gb)
    return Monthly(
        on_demand=sum(_on_demand(need, prices) for need in needs) * shape.average_share,
        fixed=sum(_provisioned(provisioned(need, shape.utilisation), prices) for need in needs),
        autoscaled=sum(
            _provisioned(Need(need.read * factor, need.write * factor), prices)
            for need in needs
            for factor in (shape.average_share / shape.utilisation,)
        ),
        storage=billed * prices.storage.gb_month,
        reserved={term.years: _reserved(needs, shape, term, prices) for term in prices.reserved},
    )


def _reserved(needs: Sequence[Need], shape: Shape, term: Reserved, prices: Prices) -> float:
    """Reserved units count for the table and its indexes together; units beyond whole hundreds have their normal
    price."""
    bought = [provisioned(need, shape.utilisation) for need in needs]
    units = Need(sum(need.read for need in bought), sum(need.write for need in bought))
    blocks = Need(units.read // _BLOCK, units.write // _BLOCK)
    start = blocks.read * term.read_start + blocks.write * term.write_start
    hourly = blocks.read * term.read_hour + blocks.write * term.write_hour
    rest = Need(units.read - blocks.read * _BLOCK, units.write - blocks.write * _BLOCK)
    return start / (12 * term.years) + hourly * prices.hours_in_month + _provisioned(rest, prices)


def provisioned(need: Need, utilisation: float) -> Need:
    """The whole units to buy, so that the busy hour uses this share of them."""
    # slightly less, so that 70 at 0.7 gives 100 and not 101
    return Need(*(float(max(1, ceil(units / utilisation - 1e-9))) for units in (need.read, need.write)))


def break_even(needs: Sequence[Need], shape: Shape, prices: Prices) -> BreakEven:
    unit_hours = SECONDS_IN_HOUR / MILLION
    full = sum(_on_demand(need, prices) for need in needs)
    fixed = sum(_provisioned(provisioned(need, shape.utilisation), prices) for need in needs)
    return BreakEven(
        read_utilisation=prices.provisioned.read_hour / (prices.on_demand.read_million * unit_hours),
        write_utilisation=prices.provisioned.write_hour / (prices.on_demand.write_million * unit_hours),
        average_share=fixed / full if full else float("inf"),
    )


def _on_demand(need: Need, prices: Prices) -> float:
    """At the busy hour's rate all month."""
    millions = SECONDS_IN_HOUR * prices.hours_in_month / MILLION
    return millions * (need.read * prices.on_demand.read_million + need.write * prices.on_demand.write_million)


def _provisioned(units: Need, prices: Prices) -> float:
    hourly = units.read * prices.provisioned.read_hour + units.write * prices.provisioned.write_hour
    return hourly * prices.hours_in_month


# Whether a DAX cluster would pay for itself; whether it may be used at all is another question.

WARNING: Final = (
    "DAX does not isolate tenants: it reads with the permissions of its cluster's role, so IAM does not protect them "
    "behind it. It is off unless you acknowledge that."
)


@dataclass(frozen=True, slots=True)
class Payoff:
    """A month of a cluster compared with the reads it would save; `break_even` is in eventual read units per second."""

    node: str
    nodes: int
    cluster: float
    saved_on_demand: float
    saved_autoscaled: float
    break_even: float

    @property
    def pays(self) -> bool:
        return self.saved_on_demand > self.cluster


def payoffs(eventual: float, assumed: Assumptions, prices: Prices) -> tuple[Payoff, ...]:
    """`eventual` are the read units of the busy hour that a cache could answer; cheapest node first."""
    hours = prices.hours_in_month
    month = SECONDS_IN_HOUR * hours / MILLION * prices.on_demand.read_million
    answered = eventual * assumed.average_share * assumed.cache_hits
    scaled = answered / assumed.utilisation * prices.provisioned.read_hour * hours
    results = []
    for node, hourly in sorted(prices.dax_node_hour.items(), key=lambda item: item[1]):
        cluster = hourly * assumed.dax_nodes * hours
        enough = cluster / (month * assumed.cache_hits) if assumed.cache_hits else float("inf")
        results.append(Payoff(node, assumed.dax_nodes, cluster, answered * month, scaled, enough))
    return tuple(results)


# What CloudTrail's record of the table costs: by event, and by byte of the copy that alarms read.


@dataclass(frozen=True, slots=True)
class Trail:
    """A month; `records` is the value of Terraform's variable `audit.data_events`."""

    records: str
    says: str
    events: float
    recording: float
    copy: float

    @property
    def total(self) -> float:
        return self.recording + self.copy


def trails(demand: Demand, assumed: Assumptions, prices: Prices) -> tuple[Trail, ...]:
    """Every option of the module `audit`, the most expensive first."""
    seconds = SECONDS_IN_HOUR * prices.hours_in_month * assumed.average_share
    reads, writes = demand.requests("read") * seconds, demand.requests("write") * seconds
    choices = {
        "all": ("every read and write", reads + writes),
        "writes": ("writes of tenants, and everything by other principals", writes),
        "others": ("everything by principals other than tenants' sessions", 0.0),
        "none": ("no read or write, only changes of the account", 0.0),
    }
    return tuple(_priced(name, says, events, assumed, prices) for name, (says, events) in choices.items())


def _priced(name: str, says: str, events: float, assumed: Assumptions, prices: Prices) -> Trail:
    copied = events * assumed.event_bytes / GB
    return Trail(name, says, events, events / MILLION * prices.trail.data_event_million, copied * prices.trail.log_gb)
