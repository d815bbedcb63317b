"""The rows of the demo tenants, encoded as mutations write them, each with the canary of its tenant."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any

from gateway.errors import ConfigurationError, GatewayError
from gateway.model.demo import SeedRow, seed_rows
from gateway.model.keys import ItemKey
from gateway.model.model import Model
from gateway.model.tenant import TenantId
from gateway.store.write.change import created
from gateway.store.write.counters import add_row

CANARY = "canary"
# a domain with a wrong seed often has many: the first ones show what is wrong
_MOST_FAULTS = 10

DynamoItem = dict[str, Any]


def canary(tenant: str) -> str:
    """The marker on every row of this tenant; anywhere else it proves a leak."""
    return f"canary-{tenant}-{sha256(f'canary of {tenant}'.encode()).hexdigest()[:12]}"


def seed_items(model: Model, now: datetime) -> list[DynamoItem]:
    """The rows of all domains in DynamoDB JSON; raises `ConfigurationError` for rows that do not fit the model."""
    items: dict[ItemKey, DynamoItem] = {}
    faults: list[str] = []
    for domain, tenant, row in seed_rows(model, now):
        try:
            for item in _items(model, tenant, row):
                if not add_row(model, items, item):
                    pk, sk = (item[name]["S"] for name in (model.table.pk, model.table.sk))
                    raise GatewayError(f"another row has the key `{pk}` / `{sk}`")
        except GatewayError as error:
            faults.append(f"demo rows of domain {domain}, tenant {tenant}: {_name(row)}: {error.message}")
            if len(faults) == _MOST_FAULTS:
                break
    if faults:
        raise ConfigurationError(faults)
    return list(items.values())


def _items(model: Model, tenant: TenantId, row: SeedRow) -> Iterator[DynamoItem]:
    match row:
        case (str(entity), Mapping() as values) if entity in model.entities:
            pass
        case (str(), Mapping()):
            raise GatewayError(f"there is no such entity; the model has {', '.join(sorted(model.entities))}")
        case _:
            raise GatewayError('a row is the name of an entity and its values, such as ("Ticket", {"ticketId": "t-1"})')
    marker = {CANARY: {"S": canary(tenant)}}
    # the item, its copies, and its uniqueness markers
    return ({**item, **marker} for item in created(model, entity, tenant, values))


def _name(row: object) -> str:
    return row[0] if isinstance(row, tuple) and row and isinstance(row[0], str) else repr(row)
