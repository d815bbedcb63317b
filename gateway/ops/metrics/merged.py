"""Merges the metrics of several worker processes: values are summed, and the counts of ended workers are kept.

prometheus_client's own multiprocess mode is not used: it cannot serve gauges and counters that are read from
functions, writes to a memory-mapped file on each increment, and leaves files behind for each process that ends.
"""

import threading
from collections.abc import Iterable, Iterator
from typing import Any

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from gateway.ops.metrics.metrics import MAX_UNTRUSTED, OTHER, Labels, Metrics

_CUMULATIVE = ("counter", "histogram")
# not summed: timestamps take the earliest, and the gateway is ready when its last worker is
_MINIMUM = ("_created", "process_start_time_seconds", "gateway_ready")

# family, sample, labels
Key = tuple[str, str, tuple[tuple[str, str], ...]]
Samples = dict[Key, float]


def report(metrics: Metrics) -> dict[str, Any]:
    """The metrics of a worker as JSON that `MergedMetrics` reads."""
    families = []
    for family in metrics.registry.collect():
        samples = [(sample.name, sample.labels, sample.value) for sample in family.samples]
        families.append((family.name, family.documentation, family.type, samples))
    return {"families": families, "untrusted": metrics.untrusted}


class MergedMetrics(Collector):
    """INVARIANT: its size depends neither on how many workers have ended nor on how callers name their operations."""

    def __init__(self, untrusted: int = MAX_UNTRUSTED) -> None:
        """At most `untrusted` operations get labels, whichever worker they ran in."""
        self._lock = threading.Lock()
        self._room = untrusted
        self._untrusted: set[Labels] = set()
        self._families: dict[str, tuple[str, str]] = {}
        self._live: dict[int, Samples] = {}
        self._ended: Samples = {}

    def update(self, worker: int, reported: dict[str, Any]) -> None:
        """Replaces the previous report of this worker."""
        with self._lock:
            untrusted = {(operation, document) for operation, document in reported["untrusted"]}
            samples: Samples = {}
            for family, documentation, kind, rows in reported["families"]:
                self._families[family] = documentation, kind
                _add(samples, ((_key(family, name, self._bounded(labels, untrusted)), v) for name, labels, v in rows))
            self._live[worker] = samples

    def end(self, worker: int) -> None:
        """Keeps the counters and histograms of an ended worker, and drops its gauges."""
        with self._lock:
            samples = self._live.pop(worker, {})
            _add(self._ended, (row for row in samples.items() if self._families[row[0][0]][1] in _CUMULATIVE))

    def collect(self) -> Iterator[Metric]:
        with self._lock:
            total = dict(self._ended)
            for samples in self._live.values():
                _add(total, samples.items())
            families = {name: Metric(name, *described) for name, described in self._families.items()}
        for (family, name, labels), value in total.items():
            families[family].add_sample(name, dict(labels), value)
        yield from families.values()

    def _bounded(self, labels: dict[str, str], untrusted: set[Labels]) -> dict[str, str]:
        """Each worker has a bounded number of labels; all workers together have the same bound."""
        pair = labels.get("operation", ""), labels.get("document", "")
        if pair not in untrusted or pair in self._untrusted:
            return labels
        if len(self._untrusted) < self._room:
            self._untrusted.add(pair)
            return labels
        return {**labels, "operation": OTHER, "document": OTHER}


def _key(family: str, sample: str, labels: dict[str, str]) -> Key:
    return family, sample, tuple(labels.items())


def _add(total: Samples, rows: Iterable[tuple[Key, float]]) -> None:
    for key, value in rows:
        before = total.get(key)
        if before is None:
            total[key] = value
        else:
            total[key] = min(before, value) if key[1].endswith(_MINIMUM) else before + value
