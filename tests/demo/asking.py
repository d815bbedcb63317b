"""How the tests of the domains ask and look."""

from typing import Any

from tests.graph.fixtures import World

Row = dict[str, Any]


async def change(world: World, query: str, tenant: str = "acme", **variables: Any) -> Any:
    """The payload of the one mutation in a document."""
    data = await world.ask(query, variables, token=f"{tenant}/admin")
    [payload] = data.values()
    return payload


async def ask(world: World, query: str, **variables: Any) -> Any:
    """The one field of a query."""
    [found] = (await world.ask(query, variables)).values()
    return found


def rows(world: World, entity: str, tenant: str = "acme", **values: str) -> list[Row]:
    """Stored rows by their values."""
    return [
        row
        for (pk, _), row in world.memory.rows.items()
        if pk.startswith(f"TENANT#{tenant}#")
        and row["EntityType"]["S"] == entity
        and all(row.get(name, {}).get("S") == value for name, value in values.items())
    ]
