"""Several workers count as one, whichever of them has ended."""

import json
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest

from gateway.ops.metrics.merged import MergedMetrics, report
from gateway.ops.metrics.metrics import Metrics
from tests.ops.metrics.test_metrics import ran


def _worker(*names: str, running: float = 0, trusted: tuple[str, ...] = ()) -> Metrics:
    metrics = Metrics(trusted)
    metrics.gauge("gateway_operations_running", "Operations that run.", lambda: running)
    for name in names:
        metrics.observe(ran(f"{name:x<64}", name), [])
    return metrics


def _sent(metrics: Metrics) -> Any:
    return json.loads(json.dumps(report(metrics)))


def _page(merged: MergedMetrics) -> dict[str, float]:
    registry = CollectorRegistry()
    registry.register(merged)
    rows = [row for row in generate_latest(registry).decode().splitlines() if not row.startswith("#")]
    return {name: float(value) for name, _, value in (row.rpartition(" ") for row in rows)}


def _operations(name: str) -> str:
    return f'gateway_operations_total{{document="{f"{name:x<64}"[:12]}",kind="query",operation="{name}",outcome="OK"}}'


def test_counters_histograms_and_gauges_are_summed() -> None:
    merged = MergedMetrics()
    merged.update(1, _sent(_worker("A", "B", running=2)))
    merged.update(2, _sent(_worker("A", running=3)))
    page = _page(merged)
    assert page[_operations("A")] == 2
    assert page[_operations("B")] == 1
    assert page["gateway_operations_running"] == 5
    assert page['gateway_operation_duration_seconds_count{document="Axxxxxxxxxxx",operation="A"}'] == 2
    assert page['gateway_operation_duration_seconds_bucket{document="Axxxxxxxxxxx",le="+Inf",operation="A"}'] == 2


def test_the_whole_is_as_ready_as_its_least_ready_worker() -> None:
    merged = MergedMetrics()
    for pid, ready in enumerate((True, True, False)):
        metrics = Metrics()
        metrics.gauge("gateway_ready", "Whether it is ready.", lambda ready=ready: ready)  # type: ignore[misc]
        merged.update(pid, _sent(metrics))
    assert _page(merged)["gateway_ready"] == 0
    merged.end(2)
    assert _page(merged)["gateway_ready"] == 1


def test_a_worker_that_reports_again_is_not_counted_twice() -> None:
    merged, worker = MergedMetrics(), _worker("A")
    merged.update(1, _sent(worker))
    merged.update(1, _sent(worker))
    assert _page(merged)[_operations("A")] == 1


def test_what_a_worker_counted_stays_when_it_ends_and_what_it_held_does_not() -> None:
    merged = MergedMetrics()
    merged.update(1, _sent(_worker("A", running=2)))
    merged.update(2, _sent(_worker("A", running=3)))
    merged.end(1)
    merged.end(1)
    page = _page(merged)
    assert page[_operations("A")] == 2
    assert page["gateway_operations_running"] == 3
    merged.end(2)
    assert _page(merged)[_operations("A")] == 2


def test_the_earliest_start_is_reported() -> None:
    merged = MergedMetrics()
    for pid, worker in enumerate((_worker(), _worker())):
        merged.update(pid, _sent(worker))
    alone = MergedMetrics()
    alone.update(1, _sent(_worker()))
    assert _page(merged)["process_start_time_seconds"] == _page(alone)["process_start_time_seconds"]


def test_names_that_callers_choose_are_bounded_however_many_workers_end() -> None:
    """INVARIANT: its size does not depend on how many workers have ended, or on how callers name their operations."""
    merged = MergedMetrics(untrusted=2)
    for pid in range(20):
        merged.update(pid, _sent(_worker(f"Q{pid}")))
        size = len(_page(merged))
        merged.end(pid)
        if pid == 3:
            bound = size
    page = _page(merged)
    assert len(page) <= bound
    assert page[_operations("Q1")] == 1
    assert page['gateway_operations_total{document="other",kind="query",operation="other",outcome="OK"}'] == 18


def test_trusted_documents_keep_their_labels() -> None:
    merged = MergedMetrics(untrusted=0)
    merged.update(1, _sent(_worker("A", trusted=(f"{'A':x<64}",))))
    assert _page(merged)[_operations("A")] == 1
