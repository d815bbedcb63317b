"""Whether a DAX cluster would pay for itself; whether it may be used at all is another question."""

from dataclasses import dataclass
from typing import Final

from gateway.ops.capacity.assumptions import Assumptions
from gateway.ops.capacity.prices import Prices

WARNING: Final = (
    "DAX knows no tenants: it answers with the rights of its cluster's role, so IAM does not keep tenants apart behind "
    "it. It is off unless somebody acknowledges that."
)


@dataclass(frozen=True, slots=True)
class Payoff:
    """A month of a cluster against the reads it would save; `break_even` is in eventual read units a second."""

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
    month = 3_600 * hours / 1_000_000 * prices.on_demand.read_million
    answered = eventual * assumed.average_share * assumed.cache_hits
    scaled = answered / assumed.utilisation * prices.provisioned.read_hour * hours
    found = []
    for node, hourly in sorted(prices.dax_node_hour.items(), key=lambda item: item[1]):
        cluster = hourly * assumed.dax_nodes * hours
        enough = cluster / (month * assumed.cache_hits) if assumed.cache_hits else float("inf")
        found.append(Payoff(node, assumed.dax_nodes, cluster, answered * month, scaled, enough))
    return tuple(found)
