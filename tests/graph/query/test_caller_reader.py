"""Code of a domain reads as its caller: within the tenant, with the role, in batches, and answers only what it read."""

import inspect
from collections import Counter
from typing import Any

import pytest

from gateway.errors import BadUserInput, Forbidden, Internal
from gateway.graph.query.caller_reader import CallerReader
from gateway.graph.query.reference.reader import Reader
from gateway.model.code import CustomQuery, Loaded
from gateway.model.types import Text
from gateway.store.access import Access
from gateway.store.plan import Range
from gateway.store.rows import Item
from tests.graph.fixtures import MemoryEndpoint, TrustingCallers
from tests.graph.query.coded_shop import coded_model, served_model


async def reader_of(api: MemoryEndpoint, token: str) -> Reader:
    reference = api.endpoint.reference
    session = (await TrustingCallers().open(f"Bearer {token}".encode(), lambda _: None)).session
    access = Access(session, 5.0, subject="ada")
    return Reader(reference.model, reference.table, access, reference.cursors, reference.limits)


async def test_it_shows_who_asks(api: MemoryEndpoint) -> None:
    caller = (await reader_of(api, "acme/support")).caller
    assert (caller.tenant, caller.role, caller.subject, caller.deadline) == ("acme", "support", "ada", 5.0)


@pytest.mark.parametrize("tenant", ["acme", "globex"])
async def test_it_reads_in_the_partitions_of_its_own_tenant_alone(api: MemoryEndpoint, tenant: str) -> None:
    caller = (await reader_of(api, f"{tenant}/viewer")).caller
    user = await caller.find("User", {"userId": "u-1001"})
    assert user is not None
    assert user["userId"] == "u-1001"
    assert await caller.listed("ordersByStatus", {"status": "DELIVERED"}, first=2)
    bodies = [str(body) for _, body in api.memory.sent]
    assert len(bodies) == 5
    assert all(f"TENANT#{tenant}#" in body for body in bodies)
    assert all(body.count("TENANT#") == body.count(f"TENANT#{tenant}#") for body in bodies)


async def test_what_was_not_there_is_no_item_that_it_has_found(api: MemoryEndpoint) -> None:
    caller = (await reader_of(api, "acme/viewer")).caller
    missing, found = await caller.many("User", [{"userId": "u-nobody"}, {"userId": "u-1001"}])
    assert (caller.has_found(missing), caller.has_found(found)) == (False, True)


def test_nothing_that_it_takes_names_a_tenant() -> None:
    taken = {
        name
        for method in ("find", "many", "listed")
        for name in inspect.signature(getattr(CallerReader, method)).parameters
    }
    assert taken == {"self", "entity", "key", "keys", "listing", "arguments", "first"}


@pytest.mark.parametrize("key", ["TENANT#globex#USER#u-1001", "u-1001#PROFILE"])
async def test_a_key_cannot_leave_the_tenants_prefix(api: MemoryEndpoint, key: str) -> None:
    caller = (await reader_of(api, "acme/viewer")).caller
    with pytest.raises(BadUserInput):
        await caller.find("User", {"userId": key})
    assert api.memory.sent == []


async def test_many_are_one_batch_and_a_listing_stops_at_first(api: MemoryEndpoint) -> None:
    caller = (await reader_of(api, "acme/viewer")).caller
    found = await caller.many("User", [{"userId": each} for each in ("u-1001", "nobody", "u-1002")])
    assert [user and user["userId"] for user in found] == ["u-1001", None, "u-1002"]
    assert Counter(api.calls) == {"BatchGetItem": 1}
    assert len(await caller.listed("ordersByStatus", {"status": "DELIVERED"}, first=3)) == 3


async def test_what_the_role_may_not_read_raises_when_it_is_used(api: MemoryEndpoint) -> None:
    caller = (await reader_of(api, "acme/support")).caller
    user = await caller.find("User", {"userId": "u-1001"})
    assert user is not None
    assert user["userId"] == "u-1001"
    with pytest.raises(Forbidden, match="may not read `name`"):
        user["name"]


async def test_what_the_model_does_not_declare_is_refused(api: MemoryEndpoint) -> None:
    caller = (await reader_of(api, "acme/viewer")).caller
    with pytest.raises(Internal, match=r"does not take \['user'\]"):
        await caller.listed("ordersOfUser", {"user": "u-1001"})
    with pytest.raises(Internal, match="no lookup reads Nothing"):
        await caller.find("Nothing", {})


async def test_a_range_is_a_range(api: MemoryEndpoint) -> None:
    caller = (await reader_of(api, "acme/viewer")).caller
    [newest, *_] = await caller.listed("ordersOfUser", {"userId": "u-1001"}, first=5)
    last = Range(newest["placedAt"], None)
    assert [
        item["orderId"] for item in await caller.listed("ordersOfUser", {"userId": "u-1001", "placedAt": last})
    ] == [newest["orderId"]]
    with pytest.raises(Internal, match="ordersOfUser takes a `Range` of `placedAt`, not "):
        await caller.listed("ordersOfUser", {"userId": "u-1001", "placedAt": (newest["placedAt"], None)})


STOLEN: list[Item] = []


async def first_user(reader: CallerReader, arguments: Any) -> Any:
    user = await reader.find("User", {"userId": "u-1001"})
    STOLEN.append(user) if user is not None else None
    return user


async def stolen_user(reader: CallerReader, arguments: Any) -> Any:
    return STOLEN[0]


async def names(reader: CallerReader, rows: list[Any]) -> list[Any]:
    users = await reader.many("User", [{"userId": row["userId"]} for row in rows])
    return [f"{reader.tenant}: {user['name']}" if user is not None else None for user in users]


@pytest.fixture(scope="module")
def served() -> Any:
    kept: dict[str, Any] = {"returns": "User", "cost": 1, "description": "A user."}
    buyer = Loaded("buyer", Text(300), "Who bought it.", needs=("userId",), load=names)
    return served_model(
        coded_model(
            CustomQuery(name="firstUser", run=first_user, **kept),
            CustomQuery(name="stolenUser", run=stolen_user, **kept),
            more={"Order": {"loaded": (buyer,)}},
        )
    )


async def test_an_item_that_another_request_has_read_is_never_answered(served: Any) -> None:
    """Code may keep an item where every tenant's requests find it; it is not answered from there."""
    api = MemoryEndpoint(served=served)
    STOLEN.clear()
    assert (await api.ask("{ firstUser { userId } }"))["firstUser"] == {"userId": "u-1001"}
    for token in ("globex/viewer", "acme/viewer"):
        answer = (await api.post("{ stolenUser { userId name } }", token=token)).json()
        assert answer["data"] == {"stolenUser": None}
        assert answer["errors"][0]["extensions"]["code"] == "INTERNAL"


async def test_a_loaded_field_sees_its_own_tenant_alone(served: Any) -> None:
    api = MemoryEndpoint(served=served)
    found = {}
    for tenant in ("acme", "globex"):
        data = await api.ask("{ activeOrders(first: 5) { nodes { buyer } } }", token=f"{tenant}/viewer")
        found[tenant] = {node["buyer"] for node in data["activeOrders"]["nodes"]}
        assert all(f"TENANT#{tenant}#" in str(body) for _, body in api.memory.sent)
        assert found[tenant]
        assert all(each.startswith(f"{tenant}: ") for each in found[tenant])
    assert api.lanes == {"lane": 2}


async def test_a_refusal_inside_of_a_load_is_the_error_of_its_field(served: Any) -> None:
    api = MemoryEndpoint(served=served)
    answer = (await api.post("{ activeOrders(first: 2) { nodes { orderId buyer } } }", token="acme/support")).json()
    assert [node["buyer"] for node in answer["data"]["activeOrders"]["nodes"]] == [None, None]
    assert {error["message"] for error in answer["errors"]} == {"the role `support` may not read `name`"}
