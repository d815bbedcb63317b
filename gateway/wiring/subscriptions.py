"""Subscriptions: what they are made of, and what is counted of them."""

from collections.abc import Callable
from dataclasses import dataclass

from gateway.aws.sts.callers import Callers
from gateway.graph.http.endpoint import Endpoint
from gateway.graph.subscription.event_reader import EventReader
from gateway.graph.subscription.event_stream import EventStream
from gateway.graph.subscription.operations import Operations
from gateway.graph.subscription.position import Positions
from gateway.graph.subscription.socket import Socket
from gateway.graph.subscription.subscriptions import Subscriptions, WatchLimits
from gateway.model.model import Model
from gateway.ops.metrics.metrics import Metrics
from gateway.settings import Settings
from gateway.store.cursor import Cursors
from gateway.stream.bus import Bus


@dataclass(frozen=True, slots=True)
class Streaming:
    """The subscriptions of a process and the two ways to them."""

    subscriptions: Subscriptions
    socket: Socket
    event_stream: EventStream


def streaming(
    settings: Settings,
    model: Model,
    endpoint: Endpoint,
    callers: Callers,
    cursors: Cursors,
    bus: Bus,
    draining: Callable[[], bool],
) -> Streaming:
    limits = WatchLimits(
        connections=settings.max_subscription_connections,
        subscriptions=settings.max_subscriptions_per_connection,
        message_bytes=settings.max_subscription_message_bytes,
    )
    subscriptions = Subscriptions(model, bus, EventReader(endpoint), Positions(cursors), limits, draining)
    operations = Operations(endpoint, subscriptions)
    return Streaming(subscriptions, Socket(operations, callers), EventStream(operations, callers))


def count_subscriptions(metrics: Metrics, subscriptions: Subscriptions) -> None:
    counts = subscriptions.counts
    metrics.gauge("gateway_subscriptions", "Subscriptions that are open.", lambda: subscriptions.active)
    metrics.gauge(
        "gateway_subscription_connections",
        "Connections that subscriptions came by and that are open.",
        lambda: subscriptions.connections,
    )
    metrics.gauge(
        "gateway_subscription_cohorts",
        "Groups of subscriptions that share their reads.",
        lambda: subscriptions.cohorts,
    )
    metrics.counter("gateway_subscription_events", "Events sent to subscribers.", lambda: counts.events)
    metrics.counter("gateway_subscription_reads", "Reads that events were made of.", lambda: counts.reads)
    metrics.counter(
        "gateway_subscription_coalesced",
        "Changes and events that were merged into one that waited.",
        lambda: counts.coalesced,
    )
    metrics.counter("gateway_subscription_resumes", "Subscriptions that came with a position.", lambda: counts.resumes)
    metrics.counter(
        "gateway_subscription_expired_positions",
        "Subscriptions whose position was no longer kept, so that they got the present state.",
        lambda: counts.expired_positions,
    )
    metrics.counter("gateway_subscription_dropped", "Events that were dropped; always 0.", lambda: counts.dropped)
