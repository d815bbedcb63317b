"""What a process counts, in Prometheus' form: operations, calls to DynamoDB, refusals, sessions.

INVARIANT: no label holds a tenant, a subject or a value, and of what callers choose (names of operations, documents)
only so many forms become labels.
"""

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from gateway.graph.http.request_log import RequestLog, outcome
from gateway.store.access import Call

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OTHER = "other"
_SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_HASH = 12  # letters of a document's hash; its log line has them all
MAX_UNTRUSTED = 200  # operations that have labels of their own beside the trusted ones

Labels = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Counted(Collector):
    name: str
    meaning: str
    value: Callable[[], float]

    def collect(self) -> Iterator[Metric]:
        yield CounterMetricFamily(self.name, self.meaning, self.value())


class Metrics:
    """Of one process: all that it counts since its start."""

    def __init__(self, trusted: Collection[str] = (), untrusted: int = MAX_UNTRUSTED) -> None:
        """`trusted` are hashes of documents that always have labels of their own."""
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        GCCollector(registry=registry)
        self._trusted = frozenset(trusted)
        self._room = untrusted
        self._labels: dict[tuple[str, str], Labels] = {}
        # looked up once: that takes longer than to count
        self._answered: dict[tuple[Labels, str, str], tuple[Counter, Histogram]] = {}
        self._counted: dict[tuple[str, ...], Counter] = {}
        self._measured: dict[tuple[str, ...], tuple[Counter, Histogram]] = {}
        self._operations = Counter(
            "gateway_operations",
            "Requests by operation, document (how its sha256 begins), kind, and `OK` or the gravest error's code.",
            ("operation", "document", "kind", "outcome"),
            registry=registry,
        )
        self._seconds = Histogram(
            "gateway_operation_seconds",
            "From a request's headers to its answer.",
            ("operation", "document"),
            buckets=_SECONDS,
            registry=registry,
        )
        call = ("operation", "index", "source")
        self._calls = Counter(
            "gateway_calls",
            "Calls to DynamoDB and DAX, and what the cache answered in their place.",
            call,
            registry=registry,
        )
        self._units = Counter("gateway_capacity_units", "Consumed capacity units.", call, registry=registry)
        self._call_seconds = Histogram(
            "gateway_call_seconds", "Time of a call, retries included.", call, buckets=_SECONDS, registry=registry
        )
        self._refusals = Counter(
            "gateway_policy_refusals", "What the tenant's policies did not allow.", registry=registry
        )

    def observe(self, log: RequestLog, codes: list[str]) -> None:
        """An operation that was answered; `codes` are those of its errors."""
        labels = self._labels_of(log)
        key = (labels, log.operation_type or "", outcome(codes))
        answered = self._answered.get(key)
        if answered is None:
            answered = self._operations.labels(*labels, key[1], key[2]), self._seconds.labels(*labels)
            self._answered[key] = answered
        count, seconds = answered
        count.inc()
        seconds.observe(time.perf_counter() - log.started)
        if log.access is None:
            return
        for call in log.access.calls:
            self._called(call)
        if log.access.refusals:
            self._refusals.inc(len(log.access.refusals))

    def gauge(self, name: str, meaning: str, value: Callable[[], float]) -> None:
        Gauge(name, meaning, registry=self._registry).set_function(value)

    def counter(self, name: str, meaning: str, value: Callable[[], float]) -> None:
        """Of what somebody else counts."""
        self._registry.register(_Counted(name, meaning, value))

    def collect_from(self, collector: Collector) -> None:
        self._registry.register(collector)

    def page(self) -> bytes:
        return generate_latest(self._registry)

    @property
    def untrusted(self) -> list[Labels]:
        """Operations that have labels of their own without being trusted."""
        return [labels for (document, _), labels in list(self._labels.items()) if document not in self._trusted]

    @property
    def registry(self) -> CollectorRegistry:
        return self._registry

    def _called(self, call: Call) -> None:
        labels = (call.operation, call.index or "", call.source)
        counted = self._counted.get(labels)
        if counted is None:
            counted = self._counted[labels] = self._calls.labels(*labels)
            if call.source != "cache":
                self._measured[labels] = self._units.labels(*labels), self._call_seconds.labels(*labels)
        counted.inc()
        if call.source != "cache":
            units, seconds = self._measured[labels]
            units.inc(call.capacity)
            seconds.observe(call.seconds)

    def _labels_of(self, log: RequestLog) -> Labels:
        # what was refused before it ran gets no labels: anybody could send as many as they like
        if log.document is None or log.access is None:
            return ("", "")
        key = (log.document, log.operation or "")
        labels = self._labels.get(key)
        if labels is None:
            is_trusted = log.document in self._trusted
            if not is_trusted and self._room == 0:
                return (OTHER, OTHER)
            self._room -= not is_trusted
            labels = self._labels[key] = (key[1], log.document[:_HASH])
        return labels
