"""Demo rows for three tenants, written as the gateway itself would write them, each with its tenant's marker."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from gateway.domains import MODEL
from gateway.model.model import Model
from gateway.sandbox.records import records
from gateway.sandbox.shops import SHOPS, Shop
from gateway.store.change import created

CANARY = "canary"
CANARIES: Mapping[str, str] = {shop.tenant: shop.canary for shop in SHOPS}
CATALOGUES: Mapping[str, str] = {shop.tenant: shop.catalogue for shop in SHOPS}


def demo_items(model: Model, now: datetime, shops: Iterable[Shop] = SHOPS) -> list[dict[str, Any]]:
    """Every row of every demo tenant in DynamoDB JSON, as far as the model has the entities of the shipped one."""
    return [{**item, CANARY: {"S": shop.canary}} for shop in shops for item in _rows(model, shop, now)]


def _rows(model: Model, shop: Shop, now: datetime) -> Iterator[dict[str, Any]]:
    shipped = {name for name, entity in model.entities.items() if MODEL.entities.get(name) == entity}
    for entity, values in records(shop, now):
        # an adopter's entity of the same name is another one
        if entity in shipped:
            # the item, its copies, and the marks of what must be unique
            yield from created(model, entity, shop.tenant, values)
