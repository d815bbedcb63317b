"""Builds the subscriptions of a process and their metrics."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from starlette.routing import Route

from gateway.aws.sts.callers import Callers
from gateway.aws.sts.tenants import Tenancy
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
from gateway.wiring.tenants import pooled_tenancy


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
    reader, streamed = EventReader(endpoint), _streamed(settings)
    subscriptions = Subscriptions(model, bus, reader, positions, limits, draining, streamed)
    operations = Operations(endpoint, subscriptions)
    patterns = {role.name: role.patterns for role in roles_of(model)}
    feed = FeedEndpoint(ChangeFeed(model, patterns, bus, endpoint, positions), subscriptions, callers)
    return Streaming(subscriptions, Socket(operations, callers), EventStream(operations, callers), feed)


def _streamed(settings: Settings) -> Callable[[Tenancy], bool]:
    """Whether a tenancy has the shared table: that of a silo has a stream of its own, which nobody reads."""
    shared = _table(pooled_tenancy(settings))
    return lambda tenancy: _table(tenancy) == shared


def _table(tenancy: Tenancy) -> tuple[object, ...]:
    return tenancy.table, tenancy.target, tenancy.role_arn.split(":")[4]


def changes_page(settings: Settings, streams: Streaming) -> list[Route]:
    """The change feed, if this process is notified of changes."""
    return [Route(CHANGES_PATH, streams.changes)] if settings.stream != "off" else []


_CHANGES: Final = {
    "gateway_changes_sent": "Changes sent by change feeds.",
    "gateway_changes_reads": "Reads that changes were made of.",
    "gateway_changes_resumes": "Change feeds that came with a position.",
    "gateway_changes_replays": "Replays by the bus, after a resume or for a reader that was too slow.",
    "gateway_changes_expired_positions": "Change feeds that ended because changes after their position were no "
    "longer kept.",
}
_EVENTS: Final = {
    "gateway_subscription_events": "Events sent to subscribers.",
    "gateway_subscription_reads": "Reads that events were made of.",
    "gateway_subscription_coalesced": "Changes and events that were merged into one that waited.",
    "gateway_subscription_resumes": "Subscriptions that came with a position.",
    "gateway_subscription_expired_positions": "Subscriptions whose position was no longer kept, so that they got the "
    "present state.",
    "gateway_subscription_dropped": "Events that were dropped; always 0.",
}


def count_streams(metrics: Metrics, streams: Streaming) -> None:
    """Metrics of the subscriptions and the change feeds."""
    subscriptions, feeds = streams.subscriptions, streams.changes.feed.counts
    connections = "Open connections of subscriptions and change feeds."
    cohorts = "Groups of subscriptions that share their reads."
    metrics.gauge("gateway_subscriptions", "Subscriptions that are open.", lambda: subscriptions.active)
    metrics.gauge("gateway_subscription_connections", connections, lambda: subscriptions.connections)
    metrics.gauge("gateway_subscription_cohorts", cohorts, lambda: subscriptions.cohorts)
    metrics.counters("gateway_subscription_", lambda: subscriptions.counts, _EVENTS)
    metrics.gauge("gateway_changes_feeds", "Change feeds that are open.", lambda: feeds.open)
    metrics.counters("gateway_changes_", lambda: feeds, _CHANGES)
