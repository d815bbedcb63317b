"""The figures of the read caches in Prometheus' form, by group of tenants; read when they are asked for."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gateway.store.cache.stats import CacheStats, DaxStats

_ANSWERS = {"hits": "hit", "stale": "stale", "shared": "shared", "misses": "miss"}
_CACHE_COUNTERS = {
    "renewals": "Answers that were renewed behind requests.",
    "evictions": "Entries dropped for want of room, before their time.",
    "dropped": "Entries dropped because of a write, a suspension or other policies.",
    "carried": "Entries replaced by what was written.",
    "units": "Capacity units that answers from the cache did not consume.",
    "renewal_units": "Capacity units that renewals consumed.",
}
_DAX_RESULTS = ("answered", "failed", "avoided", "passed")
_STATES = ("closed", "open", "trying")


@dataclass(frozen=True, slots=True)
class CacheCollector(Collector):
    stats: Callable[[], CacheStats]

    def collect(self) -> Iterator[Metric]:
        stats = self.stats()
        answers = CounterMetricFamily(
            "gateway_cache_reads", "Reads that declare how stale they may be.", labels=("group", "result")
        )
        for group, counts in stats.groups.items():
            for name, result in _ANSWERS.items():
                answers.add_metric((group, result), getattr(counts, name))
        yield answers
        for name, meaning in _CACHE_COUNTERS.items():
            family = CounterMetricFamily(f"gateway_cache_{name}", meaning, labels=("group",))
            for group, counts in stats.groups.items():
                family.add_metric((group,), getattr(counts, name))
            yield family
        yield GaugeMetricFamily("gateway_cache_bytes", "Memory that the entries are counted as.", stats.bytes)
        yield GaugeMetricFamily("gateway_cache_entries", "Entries.", stats.entries)
        yield GaugeMetricFamily("gateway_cache_tenants", "Tenants of whom something is kept.", stats.tenants)


@dataclass(frozen=True, slots=True)
class DaxCollector(Collector):
    stats: Callable[[], DaxStats]

    def collect(self) -> Iterator[Metric]:
        stats = self.stats()
        reads = CounterMetricFamily(
            "gateway_dax_reads",
            "Reads that may go through a cluster, by what became of them.",
            labels=("group", "result"),
        )
        for group, counts in stats.groups.items():
            for result in _DAX_RESULTS:
                reads.add_metric((group, result), getattr(counts, result))
        yield reads
        breakers = GaugeMetricFamily("gateway_dax_breaker", "1 for the state it is in.", labels=("cluster", "state"))
        for cluster, state in stats.clusters.items():
            for each in _STATES:
                breakers.add_metric((cluster, each), float(each == state))
        yield breakers
