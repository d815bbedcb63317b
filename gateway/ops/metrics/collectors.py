"""Prometheus collectors for numbers that other parts keep: the read cache, DAX, and how queries were executed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gateway.graph.query.lane.lane import Outcomes
from gateway.store.cache.stats import CacheStats, DaxStats

# attribute of the statistics: value of the label `result`
_CACHE_RESULTS: Final = {"hits": "hit", "stale": "stale", "shared": "shared", "misses": "miss"}
_DAX_RESULTS: Final = {"answered": "answered", "failed": "failed", "avoided": "skipped", "passed": "bypassed"}
# attribute of the statistics: metric without its prefix, and its help
_CACHE_COUNTERS: Final = {
    "renewals": ("renewals", "Entries renewed in the background."),
    "evictions": ("evictions", "Entries evicted to make room."),
    "dropped": ("invalidations", "Entries removed because of a write, a suspension or changed policies."),
    "carried": ("updates", "Entries replaced by the item that was written."),
    "units": ("saved_capacity_units", "Capacity units that reads from the cache did not consume."),
    "renewal_units": ("renewal_capacity_units", "Capacity units that renewals consumed."),
}
# state of the breaker: value of the label `state`
_STATES: Final = {"closed": "closed", "open": "open", "trying": "half_open"}


@dataclass(frozen=True, slots=True)
class CacheCollector(Collector):
    stats: Callable[[], CacheStats]

    def collect(self) -> Iterator[Metric]:
        stats = self.stats()
        reads = CounterMetricFamily("gateway_cache_reads", "Reads that may use the cache.", labels=("group", "result"))
        for group, counts in stats.groups.items():
            for attribute, result in _CACHE_RESULTS.items():
                reads.add_metric((group, result), getattr(counts, attribute))
        yield reads
        for attribute, (name, meaning) in _CACHE_COUNTERS.items():
            family = CounterMetricFamily(f"gateway_cache_{name}", meaning, labels=("group",))
            for group, counts in stats.groups.items():
                family.add_metric((group,), getattr(counts, attribute))
            yield family
        yield GaugeMetricFamily("gateway_cache_bytes", "Estimated memory of the entries.", stats.bytes)
        yield GaugeMetricFamily("gateway_cache_entries", "Entries in the cache.", stats.entries)
        yield GaugeMetricFamily("gateway_cache_tenants", "Tenants with entries in the cache.", stats.tenants)


@dataclass(frozen=True, slots=True)
class DaxCollector(Collector):
    stats: Callable[[], DaxStats]

    def collect(self) -> Iterator[Metric]:
        stats = self.stats()
        reads = CounterMetricFamily("gateway_dax_reads", "Reads where DAX is configured.", labels=("group", "result"))
        for group, counts in stats.groups.items():
            for attribute, result in _DAX_RESULTS.items():
                reads.add_metric((group, result), getattr(counts, attribute))
        yield reads
        breakers = GaugeMetricFamily(
            "gateway_dax_circuit_breaker", "1 for the current state.", labels=("cluster", "state")
        )
        for cluster, current in stats.clusters.items():
            for state, label in _STATES.items():
                breakers.add_metric((cluster, label), float(state == current))
        yield breakers


@dataclass(frozen=True, slots=True)
class QueryCollector(Collector):
    outcomes: Outcomes

    def collect(self) -> Iterator[Metric]:
        meaning = "Queries by execution: lane, reference, or the reason why a lane fell back to the reference."
        family = CounterMetricFamily("gateway_queries", meaning, labels=("execution",))
        for outcome, count in self.outcomes.counts.items():
            family.add_metric((str(outcome),), count)
        yield family
