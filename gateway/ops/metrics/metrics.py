"""Prometheus metrics of one process: operations, calls to DynamoDB, denials by policies.

INVARIANT: no label contains a tenant, a subject or a value, and the number of operation names and documents that become
labels is bounded, because callers choose them.
"""

import time
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from gateway.graph.http.log_lines import RequestLog, outcome

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OTHER = "other"
_SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_BOUNDS = (*map(floatToGoString, _SECONDS), "+Inf")
_HASH = 12  # first characters of a document's hash; the log line has all of it
MAX_UNTRUSTED = 200  # operations that get labels in addition to the trusted ones

Labels = tuple[str, str]
_Answered = tuple[str | None, str | None, str | None, str]  # document, operation, kind, outcome


@dataclass(frozen=True, slots=True)
class _Counted(Collector):
    name: str
    meaning: str
    value: Callable[[], float]

    def collect(self) -> Iterator[Metric]:
        yield CounterMetricFamily(self.name, self.meaning, self.value())


def _attribute(counts: Callable[[], object], name: str) -> float:
    value: float = getattr(counts(), name)
    return value


class _Sum:
    """Count, total seconds and capacity units; `counts` has one number per histogram bucket."""

    __slots__ = ("count", "counts", "seconds", "units")

    def __init__(self) -> None:
        self.count = 0
        self.counts = [0] * len(_BOUNDS)
        self.seconds = 0.0
        self.units = 0.0

    def buckets(self) -> list[tuple[str, float]]:
        return list(zip(_BOUNDS, accumulate(self.counts), strict=True))


class _Outcome:
    """The responses of one operation with the same outcome."""

    __slots__ = ("count", "operation")

    def __init__(self, operation: _Sum) -> None:
        self.count = 0
        self.operation = operation


class Metrics(Collector):
    """All counts of a process since its start, kept as plain numbers and turned into metrics when they are read."""

    def __init__(self, trusted: Collection[str] = (), untrusted: int = MAX_UNTRUSTED) -> None:
        """`trusted` are hashes of documents that always get labels; `untrusted` is how many others do."""
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        GCCollector(registry=registry)
        self._trusted = frozenset(trusted)
        self._room = untrusted
        self._labels: dict[tuple[str, str], Labels] = {}
        self._operations: dict[Labels, _Sum] = {}
        self._outcomes: dict[tuple[Labels, str, str], _Outcome] = {}
        # the same outcomes by the fields of a request log; bounded as the labels are
        self._known: dict[_Answered, _Outcome] = {}
        self._calls: dict[tuple[str, str | None, str], _Sum] = {}
        self._refusals = 0
        registry.register(self)

    def observe(self, log: RequestLog, codes: list[str]) -> None:
        """Counts a response; `codes` are the codes of its errors."""
        access = log.access
        key = (log.document, log.operation, log.operation_type, outcome(codes) if codes else "OK")
        # a request that was refused before it ran gets no labels, because anyone can send any number of them
        answered = None if access is None else self._known.get(key)
        if answered is None:
            answered = self._outcome(key, ran=access is not None)
        seconds = time.perf_counter() - log.started
        operation = answered.operation
        answered.count += 1
        operation.counts[bisect_left(_SECONDS, seconds)] += 1
        operation.seconds += seconds
        if access is None:
            return
        for call in access.calls:
            kind = (call.operation, call.index, call.source)
            calls = self._calls.get(kind)
            if calls is None:
                calls = self._calls[kind] = _Sum()
            calls.count += 1
            calls.units += call.capacity
            calls.seconds += call.seconds
            calls.counts[bisect_left(_SECONDS, call.seconds)] += 1
        self._refusals += len(access.refusals)

    def _outcome(self, key: _Answered, *, ran: bool) -> _Outcome:
        document, name, kind, result = key
        labels = self._labels_of(document, name or "") if ran else ("", "")
        place = (labels, kind or "", result)
        outcome = self._outcomes.get(place)
        if outcome is None:
            operation = self._operations.setdefault(labels, _Sum())
            outcome = self._outcomes[place] = _Outcome(operation)
        if ran and labels != (OTHER, OTHER):
            self._known[key] = outcome
        return outcome

    def _labels_of(self, document: str | None, name: str) -> Labels:
        if document is None:
            return ("", "")
        labels = self._labels.get((document, name))
        if labels is None:
            is_trusted = document in self._trusted
            if not is_trusted and self._room == 0:
                return (OTHER, OTHER)
            self._room -= not is_trusted
            labels = self._labels[document, name] = (name, document[:_HASH])
        return labels

    def collect(self) -> Iterator[Metric]:
        words = "Requests by operation, document (start of its SHA-256), kind, and `OK` or the worst error code."
        operations = CounterMetricFamily(
            "gateway_operations", words, labels=("operation", "document", "kind", "outcome")
        )
        for (labels, kind, result), answered in self._outcomes.items():
            operations.add_metric((*labels, kind, result), answered.count)
        yield operations
        words = "Time from the headers of a request to its response."
        times = HistogramMetricFamily("gateway_operation_duration_seconds", words, labels=("operation", "document"))
        for labels, operation in self._operations.items():
            times.add_metric(labels, operation.buckets(), operation.seconds)
        yield times
        yield from self._collect_calls()
        words = "Requests to DynamoDB that the tenant's policies denied."
        yield CounterMetricFamily("gateway_policy_denials", words, self._refusals)

    def _collect_calls(self) -> Iterator[Metric]:
        labels = ("operation", "index", "source")
        words = "Calls to DynamoDB and DAX, and reads that the cache answered instead."
        counts = CounterMetricFamily("gateway_dynamodb_calls", words, labels=labels)
        units = CounterMetricFamily(
            "gateway_dynamodb_consumed_capacity_units", "Consumed capacity units.", labels=labels
        )
        times = HistogramMetricFamily(
            "gateway_dynamodb_call_duration_seconds", "Duration of a call, including retries.", labels=labels
        )
        for (operation, index, source), calls in self._calls.items():
            kind = (operation, index or "", source)
            counts.add_metric(kind, calls.count)
            if source != "cache":
                units.add_metric(kind, calls.units)
                times.add_metric(kind, calls.buckets(), calls.seconds)
        yield counts
        yield units
        yield times

    def gauge(self, name: str, meaning: str, value: Callable[[], float]) -> None:
        Gauge(name, meaning, registry=self._registry).set_function(value)

    def counter(self, name: str, meaning: str, value: Callable[[], float]) -> None:
        """Registers a counter that is kept elsewhere."""
        self._registry.register(_Counted(name, meaning, value))

    def counters(self, prefix: str, counts: Callable[[], object], meanings: Mapping[str, str]) -> None:
        """Registers counters that are kept as attributes of one object, whose names are without the prefix."""
        for name, meaning in meanings.items():
            self.counter(name, meaning, partial(_attribute, counts, name.removeprefix(prefix)))

    def collect_from(self, collector: Collector) -> None:
        self._registry.register(collector)

    def page(self) -> bytes:
        return generate_latest(self._registry)

    @property
    def untrusted(self) -> list[Labels]:
        """Labels of operations that are not trusted."""
        return [labels for (document, _), labels in list(self._labels.items()) if document not in self._trusted]

    @property
    def registry(self) -> CollectorRegistry:
        return self._registry
