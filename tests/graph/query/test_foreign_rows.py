"""Index poisoning: a tenant's own AWS credentials wrote another tenant's index key into a row of their own."""

from typing import Any

import pytest

from tests.graph.fixtures import MemoryEndpoint

LISTING = "{ activeOrders(first: 10) { nodes { orderId note user { name } } pageInfo { hasNextPage } } }"
SECRET = "a note of globex"


def poison(api: MemoryEndpoint, victim: str = "acme", owner: str = "globex") -> None:
    """Every order of `owner` stands in the victim's index too."""
    prefix = {"victim": f"TENANT#{victim}#", "owner": f"TENANT#{owner}#"}
    orders = [row for row in api.memory.rows.values() if row["EntityType"]["S"] == "Order"]
    theirs = [row for row in orders if row["PK"]["S"].startswith(prefix["owner"])]
    assert theirs
    for row in theirs:
        places = [name for name in row if name.startswith("GSI") and name.endswith("PK")]
        moved = {name: {"S": row[name]["S"].replace(prefix["owner"], prefix["victim"])} for name in places}
        api.change(row["PK"]["S"], row["SK"]["S"], note={"S": SECRET}, **moved)


async def test_the_victims_listing_is_answered_without_the_foreign_rows(api: MemoryEndpoint) -> None:
    before = await api.ask(LISTING)
    poison(api)
    after = await api.post(LISTING)
    assert after.json() == {"data": before}
    assert SECRET not in after.text
    assert api.endpoint.reference.table.foreign_rows > 0


@pytest.mark.parametrize("size", [1, 3])
async def test_pages_lead_through_all_own_rows(api: MemoryEndpoint, size: int) -> None:
    async def walk() -> list[Any]:
        found, after = [], None
        query = (
            "query ($n: Int, $a: String) { activeOrders(first: $n, after: $a)"
            " { nodes { orderId } pageInfo { endCursor hasNextPage } } }"
        )
        while True:
            page = (await api.ask(query, {"n": size, "a": after}))["activeOrders"]
            found += page["nodes"]
            after = page["pageInfo"]["endCursor"]
            if not page["pageInfo"]["hasNextPage"]:
                return found

    before = await walk()
    poison(api)
    assert await walk() == before
