"""Operations and rows of the demo domains, for their tests."""

from typing import Any

from tests.graph.fixtures import MemoryEndpoint

Row = dict[str, Any]


async def change(api: MemoryEndpoint, query: str, tenant: str = "acme", **variables: Any) -> Any:
    """The payload of the one mutation in a document."""
    data = await api.ask(query, variables, token=f"{tenant}/admin")
    [payload] = data.values()
    return payload


async def query_field(api: MemoryEndpoint, query: str, **variables: Any) -> Any:
    """The one field of a query."""
    [found] = (await api.ask(query, variables)).values()
    return found


def rows(api: MemoryEndpoint, entity: str, tenant: str = "acme", **values: str) -> list[Row]:
    """Stored rows by their values."""
    return [
        row
        for (pk, _), row in api.memory.rows.items()
        if pk.startswith(f"TENANT#{tenant}#")
        and row["EntityType"]["S"] == entity
        and all(row.get(name, {}).get("S") == value for name, value in values.items())
    ]
