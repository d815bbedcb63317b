"""What becomes a label, and what never does."""

import re
import time
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from gateway.graph.http.log_lines import RequestLog
from gateway.ops.metrics.collectors import _CACHE_COUNTERS, CacheCollector, DaxCollector
from gateway.ops.metrics.metrics import Metrics
from gateway.store.access import Access, Call, Refusal
from gateway.store.cache.stats import CacheStats, Counts, DaxCounts, DaxStats
from tests.store.fixtures import session

PACKAGE = Path(__file__).parents[3] / "gateway"
ORDER = ("operation", "document", "index", "source", "kind", "outcome", "group", "cluster", "result", "state")
READ = Call("Query", "GSI1", items=3, capacity=1.5, seconds=0.004)
HIT = Call("GetItem", None, items=1, capacity=0.0, seconds=0.0, source="cache")


def samples(metrics: Metrics) -> dict[str, dict[tuple[str, ...], float]]:
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(metrics.page().decode()):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sample.labels[name] for name in ORDER if name in sample.labels)] = (
                sample.value
            )
    return found


def ran(document: str = "d" * 64, operation: str | None = "Orders", calls: tuple[Call, ...] = (READ,)) -> RequestLog:
    access = Access(session(), calls=list(calls))
    return RequestLog(
        "r", "t", time.perf_counter(), operation=operation, operation_type="query", document=document, access=access
    )


def test_an_operation_is_counted_by_name_document_kind_and_outcome() -> None:
    metrics = Metrics()
    metrics.observe(ran(), [])
    metrics.observe(ran(), [])
    metrics.observe(ran(), ["FORBIDDEN", "CONFLICT"])
    found = samples(metrics)
    assert found["gateway_operations_total"] == {
        ("Orders", "d" * 12, "query", "OK"): 2,
        ("Orders", "d" * 12, "query", "FORBIDDEN"): 1,
    }
    assert found["gateway_operation_duration_seconds_count"] == {("Orders", "d" * 12): 3}


def test_calls_are_counted_by_operation_index_and_source() -> None:
    metrics = Metrics()
    metrics.observe(ran(calls=(READ, READ, HIT)), [])
    found = samples(metrics)
    assert found["gateway_dynamodb_calls_total"] == {("Query", "GSI1", "table"): 2, ("GetItem", "", "cache"): 1}
    assert found["gateway_dynamodb_consumed_capacity_units_total"] == {("Query", "GSI1", "table"): 3.0}
    assert found["gateway_dynamodb_call_duration_seconds_count"] == {("Query", "GSI1", "table"): 2}


def test_refusals_of_the_policies_are_counted() -> None:
    metrics, entry = Metrics(), ran()
    assert entry.access is not None
    entry.access.refusals += [Refusal("Query", "no statement"), Refusal("email", "denied")]
    metrics.observe(entry, ["FORBIDDEN"])
    assert samples(metrics)["gateway_policy_denials_total"] == {(): 2}


def test_what_callers_choose_has_a_bounded_number_of_labels() -> None:
    metrics = Metrics(trusted=["e" * 64], untrusted=2)
    for number in range(50):
        metrics.observe(ran(document=f"{number:064}", operation=f"Name{number}"), [])
    metrics.observe(ran(document="e" * 64), [])
    counted = samples(metrics)["gateway_operations_total"]
    assert {labels[0] for labels in counted} == {"Name0", "Name1", "other", "Orders"}
    assert counted["other", "other", "query", "OK"] == 48


def test_many_operations_in_one_document_are_bounded_too() -> None:
    metrics = Metrics(untrusted=2)
    for number in range(9):
        metrics.observe(ran(operation=f"Name{number}"), [])
    assert len(samples(metrics)["gateway_operations_total"]) == 3


def test_what_did_not_run_takes_no_label() -> None:
    metrics = Metrics(untrusted=1)
    refused = RequestLog("r", "t", document="a" * 64, operation="Bomb", operation_type="query")
    metrics.observe(refused, ["LIMIT_EXCEEDED"])
    metrics.observe(RequestLog("r", "t"), ["UNAUTHENTICATED"])
    metrics.observe(ran(), [])
    assert samples(metrics)["gateway_operations_total"] == {
        ("", "", "query", "LIMIT_EXCEEDED"): 1,
        ("", "", "", "UNAUTHENTICATED"): 1,
        ("Orders", "d" * 12, "query", "OK"): 1,
    }


def test_no_metric_names_a_tenant_or_a_subject() -> None:
    metrics = Metrics()
    metrics.observe(ran(), [])
    assert "acme" not in metrics.page().decode()


def test_cache_metrics_are_grouped() -> None:
    metrics = Metrics()
    groups = {"pooled": Counts(hits=7, stale=2, misses=3, evictions=4, units=3.5), "silo": Counts(misses=1)}
    metrics.collect_from(CacheCollector(lambda: CacheStats(groups, entries=5, bytes=9_000, tenants=2)))
    found = samples(metrics)
    assert found["gateway_cache_reads_total"]["pooled", "hit"] == 7
    assert found["gateway_cache_reads_total"]["pooled", "stale"] == 2
    assert found["gateway_cache_reads_total"]["silo", "miss"] == 1
    assert found["gateway_cache_evictions_total"] == {("pooled",): 4, ("silo",): 0}
    assert found["gateway_cache_saved_capacity_units_total"]["pooled",] == 3.5
    assert found["gateway_cache_bytes"] == {(): 9_000}


def test_every_figure_of_the_cache_is_reported() -> None:
    """A count that is added and forgotten here would never be seen."""
    metrics, count = Metrics(), Counts(*range(11, 11 + len(Counts.__dataclass_fields__)))
    metrics.collect_from(CacheCollector(lambda: CacheStats({"all": count}, 1, 2, 3)))
    values = {value for family in samples(metrics).values() for value in family.values()}
    assert values >= {getattr(count, name) for name in Counts.__dataclass_fields__}


def test_clusters_report_their_state() -> None:
    metrics = Metrics()
    stats = DaxStats({"pooled": DaxCounts(answered=5, failed=1)}, {"daxs://pool": "open"})
    metrics.collect_from(DaxCollector(lambda: stats))
    found: Any = samples(metrics)
    assert found["gateway_dax_reads_total"]["pooled", "answered"] == 5
    assert found["gateway_dax_circuit_breaker"] == {
        ("daxs://pool", "closed"): 0,
        ("daxs://pool", "open"): 1,
        ("daxs://pool", "half_open"): 0,
    }


def test_the_page_lists_every_metric_and_names_follow_the_conventions() -> None:
    page = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text(encoding="utf-8")
    sources = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    listed = set(re.findall(r"`(gateway_\w+)`", page))
    counters = set(re.findall(r'(?:CounterMetricFamily|\.counter)\(\s*"(gateway_\w+)"', sources))
    counters |= set(re.findall(r'^ +"(gateway_\w+)": "', sources, re.MULTILINE))
    counters |= {f"gateway_cache_{name}" for name, _ in _CACHE_COUNTERS.values()}
    gauges = set(re.findall(r'(?:GaugeMetricFamily|\.gauge)\(\s*"(gateway_\w+)"', sources))
    histograms = set(re.findall(r'HistogramMetricFamily\(\s*"(gateway_\w+)"', sources))
    assert len(counters) >= 12
    assert listed == {f"{name}_total" for name in counters} | gauges | histograms
    assert all(name.endswith("_seconds") for name in histograms)
    assert not [name for name in counters | gauges if re.search(r"_(ms|kb|mb|count|total)$", name)]
