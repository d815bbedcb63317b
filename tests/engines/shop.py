"""One tenant's shop in an engine: it writes items of the shipped model, and reads them as the gateway does."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from gateway.aws.sts.session import Session
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.aws.wire.endpoint import AwsTarget
from gateway.demo import MODEL
from gateway.demo.commerce.order import OrderStatus
from gateway.model.patterns import ItemCollection
from gateway.model.tenant import TenantId
from gateway.store.access import Access
from gateway.store.cursor import Cursors
from gateway.store.plan import Window, plan_item_collection, plan_listing, plan_lookup
from gateway.store.read_through import Page
from gateway.store.rows import Item
from gateway.store.table import Table
from gateway.store.write.items import items_for
from tests.store.fixtures import no_renewal, permissions, tenancy

REGION = "eu-west-1"
CREDENTIALS = Credentials("AKIDEXAMPLE", "secret")
FIRST_DAY = datetime(2026, 1, 1, 8, tzinfo=UTC)
CURSORS = Cursors("a secret for tests")
_BATCH = 25


async def call(client: DynamoDB, url: str, operation: str, body: Mapping[str, Any]) -> dict[str, Any]:
    return await client.call(operation, body, credentials=CREDENTIALS, target=AwsTarget(url, REGION))


def user(key: str, **changes: Any) -> dict[str, Any]:
    return {"userId": key, "name": f"User {key}", "email": f"{key}@example.com", "createdAt": FIRST_DAY} | changes


def order(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "orderId": f"o{number:04}",
        "userId": "u",
        "status": OrderStatus.PENDING,
        "placedAt": FIRST_DAY + timedelta(days=number // 2),  # two on every day
        "total": Decimal(number),
        "currency": "EUR",
        "productIds": ["p"],
    } | changes


def product(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "productId": f"p{number:04}",
        "title": f"Product {number}",
        "price": Decimal(number) / 4,
        "currency": "EUR",
        "categoryId": "c",
    } | changes


@dataclass
class Shop:
    client: DynamoDB
    url: str
    table: str
    tenant: TenantId
    access: Access = field(init=False)

    def __post_init__(self) -> None:
        place = tenancy(self.url, self.table)
        rules = permissions(self.tenant, self.table)
        self.access = Access(Session(self.tenant, "viewer", CREDENTIALS, place, rules))
        self.reader = Table(self.client, MODEL, no_renewal)

    def neighbour(self) -> "Shop":
        return Shop(self.client, self.url, self.table, TenantId(f"{self.tenant}-next-door"))

    async def call(self, operation: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """A call as it stands, to the shop's table."""
        named = body if operation.startswith(("Batch", "Transact")) else {"TableName": self.table, **body}
        return await call(self.client, self.url, operation, named)

    def rows(self, entity: str, *items: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [row for item in items for row in items_for(MODEL, MODEL.entities[entity], self.tenant, item)]

    async def write(self, rows: list[dict[str, Any]]) -> None:
        for start in range(0, len(rows), _BATCH):
            batch = {self.table: [{"PutRequest": {"Item": row}} for row in rows[start : start + _BATCH]]}
            while batch:
                answer = await self.call("BatchWriteItem", {"RequestItems": batch})
                batch = answer.get("UnprocessedItems") or {}

    async def add(self, entity: str, *items: Mapping[str, Any]) -> None:
        await self.write(self.rows(entity, *items))

    async def get(self, lookup: str, *keys: Mapping[str, Any], names: str | None = None) -> list[Item | None]:
        pattern = MODEL.lookup(lookup)
        attributes = self._attributes(pattern.entity, names)
        return await self.reader.get(self.access, plan_lookup(MODEL, pattern, self.tenant, keys, attributes))

    async def page(
        self, listing: str, window: Window | None = None, names: str | None = None, **arguments: Any
    ) -> Page:
        pattern = MODEL.listing(listing)
        attributes = self._attributes(pattern.entity, names)
        plan = plan_listing(MODEL, pattern, self.tenant, arguments, window or Window(100), attributes)
        return await self.reader.query(self.access, plan)

    async def both(self, together: str, limit: int | None, **values: Any) -> tuple[Item | None, list[Item]]:
        pattern = MODEL.patterns[together]
        assert isinstance(pattern, ItemCollection)
        names = frozenset(name for entity in MODEL.entities.values() for name in entity.attribute)
        plan = plan_item_collection(MODEL, pattern, self.tenant, values, limit, names)
        return await self.reader.query_item_collection(self.access, plan)

    async def walk(self, listing: str, size: int, *, backward: bool = False, **arguments: Any) -> list[Item]:
        """Every page, with a cursor sealed and opened between two of them."""
        seen: list[Item] = []
        window = Window(size, backward=backward)
        while True:
            page = await self.page(listing, window, **arguments)
            seen = [*page.items, *seen] if backward else [*seen, *page.items]
            if not page.more:
                return seen
            cursor = CURSORS.seal(self.tenant, listing, arguments, page.items[0 if backward else -1].position)
            position = CURSORS.open(self.tenant, listing, arguments, cursor)
            window = replace(window, before=position) if backward else replace(window, after=position)

    def _attributes(self, entity: str, names: str | None) -> frozenset[str]:
        return frozenset(MODEL.entities[entity].attribute if names is None else names.split())
