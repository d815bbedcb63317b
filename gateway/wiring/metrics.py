"""Builds the metrics of a process and the page that serves them."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.aws.sts.sessions import Sessions
from gateway.graph.http.fair_queue import FairQueue
from gateway.graph.http.persisted import Persisted
from gateway.graph.query.lane.lane import Lanes
from gateway.ops.metrics.collectors import CacheCollector, DaxCollector, QueryCollector
from gateway.ops.metrics.metrics import CONTENT_TYPE, Metrics
from gateway.ops.readiness.readiness import Readiness
from gateway.settings import Settings
from gateway.store.cache.cache import ReadCache
from gateway.store.cache.dax.reads import DaxReads
from gateway.store.cache.layers import Layers
from gateway.store.table import Table
from gateway.stream.bus import Bus
from gateway.wiring.bus import bus_metrics
from gateway.wiring.caches import ReadPath
from gateway.wiring.stream import ReaderProcess


def metrics_of(
    settings: Settings,
    documents: Persisted,
    cache: ReadPath | None,
    sessions: Sessions,
    queue: FairQueue,
    table: Table,
    lanes: Lanes,
    readiness: Readiness,
    stream: ReaderProcess | None = None,
    bus: Bus | None = None,
) -> Metrics | None:
    """None if no one could read them."""
    if settings.metrics_port is None and settings.environment != "sandbox":
        return None
    metrics = Metrics(documents.trusted_hashes)
    metrics.gauge("gateway_sessions", "Tenant sessions that are kept.", lambda: len(sessions))
    metrics.gauge("gateway_operations_running", "Operations that are running.", lambda: queue.running)
    metrics.gauge("gateway_operations_queued", "Operations that are waiting in the queue.", lambda: queue.waiting)
    metrics.gauge("gateway_ready", "1 once the process has reached everything it depends on.", lambda: readiness.ready)
    metrics.counter(
        "gateway_foreign_rows",
        "Rows of other tenants found in a tenant's index and left out.",
        lambda: table.foreign_rows,
    )
    metrics.collect_from(QueryCollector(lanes.outcomes))
    if stream is not None:
        stream_metrics(metrics, stream)
    if bus is not None and settings.stream == "bus":
        bus_metrics(metrics, bus)
    layers = (cache.ttl, cache.dax) if isinstance(cache, Layers) else (cache,)
    for layer in layers:
        if isinstance(layer, ReadCache):
            metrics.collect_from(CacheCollector(layer.stats))
        elif isinstance(layer, DaxReads):
            metrics.collect_from(DaxCollector(layer.stats))
    return metrics


def stream_metrics(metrics: Metrics, stream: ReaderProcess) -> None:
    """Metrics of the reader of the table's stream."""
    lag = "Age of the last record that was read, while more follow."
    metrics.gauge("gateway_stream_lag_seconds", lag, lambda: stream.lag_seconds)
    metrics.gauge("gateway_stream_shards", "Shards that this process reads.", lambda: stream.shards)
    meanings = {
        "gateway_stream_notes": "Change notes that were published.",
        "gateway_stream_dropped": "Records of no tenant that are not the gateway's own.",
        "gateway_stream_trimmed": "Times that records were gone before they were read.",
        "gateway_stream_failures": "Failures that were repeated.",
        "gateway_stream_leases_taken": "Leases that were taken.",
        "gateway_stream_leases_lost": "Leases that were lost.",
    }
    metrics.counters("gateway_stream_", lambda: stream.counts, meanings)


def metrics_page(settings: Settings, metrics: Metrics | None) -> list[Route]:
    """The page `/metrics`, in the sandbox only: in production, metrics have their own port, since they need no token.

    One of several workers has no page, because it would show only its own numbers.
    """
    if metrics is None or settings.environment != "sandbox" or settings.workers > 1:
        return []

    def page(request: Request) -> Response:
        return Response(metrics.page(), media_type=CONTENT_TYPE)

    return [Route("/metrics", page)]
