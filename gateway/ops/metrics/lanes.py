"""How queries were run, in Prometheus' form: in a lane, by the reference executor, or why a lane stepped back."""

from collections.abc import Iterator
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from gateway.graph.query.lane.lane import Outcomes


@dataclass(frozen=True, slots=True)
class LaneCollector(Collector):
    outcomes: Outcomes

    def collect(self) -> Iterator[Metric]:
        words = "Queries by how they were run; a lane that steps back is counted by its reason."
        family = CounterMetricFamily("gateway_queries", words, labels=("run",))
        for outcome, count in self.outcomes.counts.items():
            family.add_metric((str(outcome),), count)
        yield family
