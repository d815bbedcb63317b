"""The demo domains in memory with subscriptions: what is written is announced as by the table's stream."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from gateway.app import Gateway, Services, build_gateway
from gateway.demo import MODEL
from gateway.stream.bus import InProcessBus
from gateway.stream.note import ChangeNote
from gateway.testing.client import AsyncGatewayClient
from gateway.testing.memory import Memory
from gateway.testing.notes import NotesOfMemory
from gateway.testing.services import TABLE, CallLog, MemorySts, fetch_keys, settings, token
from gateway.testing.subscriber import Events, subscribed
from tests.fixtures import aws
from tests.graph.fixtures import DEMO_SHOP

ITEM = "subscription Item($id: ID!) { orderChanged(orderId: $id) { orderId status } }"
LIST = """subscription List($user: ID!) { ordersOfUserChanged(userId: $user, first: 3) {
  page { nodes { orderId status } } changes { kind nodeId node { orderId status } } } }"""
ACTIVE = """subscription Active($filter: ActiveOrdersFilter) { activeOrdersChanged(first: 100, filter: $filter) {
  page { nodes { orderId } } changes { kind nodeId node { orderId status total } } } }"""
STATUS = """mutation Set($id: ID!, $status: OrderStatus!) {
  changeOrderStatus(input: {orderId: $id, status: $status}) { order { status } errors { code message } } }"""
PLACE = """mutation Place($user: ID!) {
  placeOrder(input: {userId: $user, lines: [{productId: "p-1001", quantity: 1}]}) {
    order { orderId id } errors { code message } } }"""


@dataclass
class Shop:
    gateway: Gateway
    memory: Memory
    bus: InProcessBus
    client: AsyncGatewayClient
    log: CallLog
    lines: list[dict[str, Any]]
    draining: list[bool] = field(default_factory=list)

    @property
    def subscriptions(self) -> Any:
        return self.gateway.streaming.subscriptions

    async def order(self, tenant: str = "acme") -> dict[str, Any]:
        found = await self.client.query("{ activeOrders { nodes { orderId userId status } } }", tenant=tenant)
        confirmed = [each for each in found["activeOrders"]["nodes"] if each["status"] == "CONFIRMED"]
        return dict(confirmed[0])

    async def set_status(self, order: str, status: str, tenant: str = "acme") -> None:
        done = await self.client.mutate(STATUS, {"id": order, "status": status}, tenant=tenant)
        assert done["changeOrderStatus"]["errors"] == []

    def watch(
        self, text: str, variables: Mapping[str, Any] | None = None, **given: Any
    ) -> AbstractAsyncContextManager[Events]:
        return self.client.subscribe(text, variables, **given)

    def connect(self, bearer: str, text: str, variables: Mapping[str, Any]) -> AbstractAsyncContextManager[Events]:
        return subscribed(self.gateway.streaming.socket, bearer, text, variables, None)

    async def publish(self, *notes: ChangeNote) -> None:
        await self.bus.publish(notes)


@asynccontextmanager
async def shop(bus: InProcessBus | None = None, memory: Memory | None = None, **changes: Any) -> AsyncIterator[Shop]:
    """With a `memory` that several processes share, its owner tells the bus of each of them what changes."""
    lines = list[dict[str, Any]]()
    bus = bus or InProcessBus()
    if memory is None:
        memory = Memory(MODEL.table, TABLE, rows=dict(DEMO_SHOP.rows))
        memory.on_change = NotesOfMemory(MODEL.table, bus).publish
    log, draining = CallLog(memory), list[bool]()
    services = Services(log, MemorySts(), fetch_keys, bus=bus)
    gateway = build_gateway(
        settings(**changes), aws(), lines.append, services, DEMO_SHOP.loaded, draining=lambda: bool(draining)
    )
    client = AsyncGatewayClient(gateway.endpoint, log, tuple(MODEL.roles), gateway.streaming.socket)
    try:
        yield Shop(gateway, memory, bus, client, log, lines, draining)
    finally:
        await gateway.close()
        await asyncio.sleep(0)


def bearer(tenant: str = "acme", role: str = "viewer", subject: str | None = None) -> str:
    return token(tenant, role, subject, tuple(MODEL.roles))
