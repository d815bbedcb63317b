"""Builds the bus: inside this process, or on NATS between processes."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from gateway.errors import ConfigurationError
from gateway.ops.metrics.metrics import Metrics
from gateway.settings import Settings
from gateway.stream.bus import Bus, InProcessBus, NoBus

if TYPE_CHECKING:
    from gateway.stream.jetstream import BusAddress
    from gateway.stream.jetstream_publisher import JetStreamPublisher


def bus_of(settings: Settings) -> Bus:
    """The bus that notifies this process of changes; raises `ConfigurationError` if the NATS client is missing."""
    if settings.stream != "bus":
        return InProcessBus() if settings.stream == "inside" else NoBus()
    address = _address(settings)
    from gateway.stream.jetstream_bus import JetStreamBus  # noqa: PLC0415

    return JetStreamBus(address)


def publisher_of(settings: Settings) -> "JetStreamPublisher":
    """The side of the bus that `gateway stream` publishes to; raises `ConfigurationError` if the NATS client is
    missing."""
    address = _address(settings)
    from gateway.stream.jetstream_publisher import JetStreamPublisher  # noqa: PLC0415

    return JetStreamPublisher(address)


def check_client(settings: Settings) -> None:
    """Only processes that use the bus need the client."""
    if find_spec("nats") is None:
        fault = "bus_servers: the NATS client is missing; install the extra `nats`, or build the image with it"
        raise ConfigurationError([fault])


def _address(settings: Settings) -> "BusAddress":
    check_client(settings)
    from gateway.stream.jetstream import BusAddress  # noqa: PLC0415

    password = settings.bus_password
    return BusAddress(
        servers=tuple(settings.bus_servers),
        stream=settings.bus_stream,
        user=settings.bus_user,
        password=None if password is None else password.get_secret_value(),
        ca=settings.bus_ca,
        replicas=settings.bus_replicas,
    )


def bus_metrics(metrics: Metrics, bus: Bus) -> None:
    """Metrics of a process that is notified by NATS."""
    from gateway.stream.jetstream_bus import JetStreamBus  # noqa: PLC0415

    if not isinstance(bus, JetStreamBus):
        return
    metrics.gauge("gateway_bus_connected", "1 while change notes arrive from the bus.", lambda: bus.connected)
    meanings = {
        "gateway_bus_notes": "Change notes that arrived from the bus.",
        "gateway_bus_missed": "How often change notes may have been lost, so that caches were emptied and "
        "subscriptions read again.",
        "gateway_bus_interruptions": "How often the connection to the bus was lost.",
        "gateway_bus_rejected": "Messages of the bus that are not the gateway's own; always 0.",
    }
    metrics.counters("gateway_bus_", lambda: bus.counts, meanings)
