"""Builds the subscriptions of a process and their metrics."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.routing import Route

from gateway.aws.sts.callers import Callers
from gateway.graph.http.endpoint import Endpoint
from gateway.graph.subscription.change_feed import ChangeFeed
from gateway.graph.subscription.event_reader import EventReader
from gateway.graph.subscription.event_stream import EventStream
from gateway.graph.subscription.feed_endpoint import CHANGES_PATH, FeedEndpoint
from gateway.graph.subscription.operations import Operations
from gateway.graph.subscription.position import Positions
from gateway.graph.subscription.socket import Socket
from gateway.graph.subscription.subscriptions import Subscriptions, WatchLimits
from gateway.iam.policies.roles import roles_of
from gateway.model.model import Model
from gateway.ops.metrics.metrics import Metrics
from gateway.settings import Settings
from gateway.store.cursor import Cursors
from gateway.stream.bus import Bus


@dataclass(frozen=True, slots=True)
class Streaming:
    """The subscriptions of a process, their two transports, and the change feed."""

    subscriptions: Subscriptions
    socket: Socket
    event_stream: EventStream
    changes: FeedEndpoint


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
        of_tenant=settings.max_subscriptions_per_tenant,
        message_bytes=settings.max_subscription_message_bytes,
    )
    positions = Positions(cursors)
    subscriptions = Subscriptions(model, bus, EventReader(endpoint), positions, limits, draining)
    operations = Operations(endpoint, subscriptions)
    patterns = {role.name: role.patterns for role in roles_of(model)}
    feed = FeedEndpoint(ChangeFeed(model, patterns, bus, endpoint, positions), subscriptions, callers)
    return Streaming(subscriptions, Socket(operations, callers), EventStream(operations, callers), feed)


def changes_page(settings: Settings, streams: Streaming) -> list[Route]:
    """The change feed, if this process is notified of changes."""
    return [Route(CHANGES_PATH, streams.changes)] if settings.stream != "off" else []


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
