"""A first page may show an item before the process knows of its changes; the client must learn when it is gone."""

from typing import Any

from tests.graph.subscription.shop import ACTIVE, LIST
from tests.graph.subscription.two_processes import Processes, two_processes


def _row(processes: Processes, pk: str, sk: str) -> tuple[tuple[str, str], dict[str, Any]]:
    key = max(key for key in processes.rows if key[0] == pk and key[1].startswith(sk))
    return key, processes.rows[key]


def _kinds(event: dict[str, Any]) -> list[str]:
    [content] = event["data"].values()
    return [change["kind"] for change in content["changes"]]


async def test_an_item_that_has_come_and_gone_is_reported_as_removed() -> None:
    async with two_processes() as processes:
        key, row = _row(processes, "TENANT#acme#USER#u-1002", "ORDER#")
        await processes.write(key, None)
        await processes.tell_all(0)
        await processes.write(key, row)
        async with processes.served[0].watch(LIST, {"user": "u-1002"}) as events:
            nodes = (await events.next())["data"]["ordersOfUserChanged"]["page"]["nodes"]
            assert row["orderId"]["S"] in [node["orderId"] for node in nodes]
            await processes.write(key, None)
            await processes.tell_all(0)
            assert _kinds(await events.next()) == ["REMOVED"]


async def test_a_new_item_that_no_longer_passes_a_filter_is_reported_as_removed() -> None:
    async with two_processes() as processes:
        one = processes.served[0]
        order = await one.order()
        key, row = _row(processes, f"TENANT#acme#ORDER#{order['orderId']}", "META")
        await processes.write(key, None)
        await processes.tell_all(0)
        await processes.write(key, {**row, "total": {"N": "123456"}})
        async with one.watch(ACTIVE, {"filter": {"total": {"eq": "123456"}}}) as events:
            [node] = (await events.next())["data"]["activeOrdersChanged"]["page"]["nodes"]
            assert node["orderId"] == order["orderId"]
            await processes.write(key, {**row, "total": {"N": "1"}})
            await processes.tell_all(0)
            assert _kinds(await events.next()) == ["REMOVED"]
