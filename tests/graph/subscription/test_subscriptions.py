"""What a subscriber receives, and what nobody receives."""

from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.errors import BadUserInput
from gateway.graph.global_id import read_global_id
from gateway.graph.subscription.cohort import WatchEvent
from gateway.graph.subscription.subscription import Subscription
from gateway.setting_types import SiloSettings
from gateway.stream.bus import InProcessBus
from gateway.stream.note import ChangeNote
from gateway.testing.services import settings
from gateway.testing.subscriber import SubscriptionFailed
from gateway.wiring.bus import bus_of
from tests.graph.subscription.shop import ACTIVE, ITEM, LIST, PLACE, bearer, shop


def _item(event: dict[str, Any]) -> Any:
    return event["data"]["orderChanged"]


def _changes(event: dict[str, Any]) -> list[dict[str, Any]]:
    [content] = event["data"].values()
    changes: list[dict[str, Any]] = content["changes"]
    return changes


async def test_an_item_is_sent_at_once_and_after_each_change() -> None:
    async with shop() as served:
        order = await served.order()
        async with served.watch(ITEM, {"id": order["orderId"]}) as events:
            assert _item(await events.next()) == {"orderId": order["orderId"], "status": "CONFIRMED"}
            await served.set_status(order["orderId"], "SHIPPED")
            assert _item(await events.next())["status"] == "SHIPPED"
            await served.set_status(order["orderId"], "DELIVERED")
            assert _item(await events.next())["status"] == "DELIVERED"


async def test_an_item_that_does_not_exist_is_null_until_it_does() -> None:
    async with shop() as served, served.watch(ITEM, {"id": "o-none"}) as events:
        assert _item(await events.next()) is None
        await events.silence()


async def test_where_changes_are_never_sent_a_subscription_is_refused() -> None:
    """With the bus that a process has whose setting `stream` is `off`."""
    bus = bus_of(settings())
    assert isinstance(bus, InProcessBus)
    async with shop(bus) as served:
        with pytest.raises(SubscriptionFailed) as caught:
            async with served.watch(ITEM, {"id": "o-1"}) as events:
                await events.next()
        [error] = caught.value.errors
        assert error["extensions"]["code"] == "BAD_USER_INPUT"
        assert "`stream` is `off`" in error["message"]
        assert await served.order()


async def test_a_tenant_whose_table_is_not_read_is_refused_a_subscription_and_a_feed() -> None:
    """It would wait for changes that never come."""
    silos = {"acme": SiloSettings(table_name="acme-table")}
    async with shop(silos=silos) as served:
        with pytest.raises(SubscriptionFailed) as caught:
            async with served.watch(ITEM, {"id": "o-1"}) as events:
                await events.next()
        assert "a table of its own" in str(caught.value)
        caller = await served.gateway.endpoint.callers.open(f"Bearer {bearer()}".encode(), lambda principal: None)
        with pytest.raises(BadUserInput, match="a table of its own"):
            served.subscriptions.check_streamed(caller)
        async with served.watch(ITEM, {"id": "o-1"}, tenant="globex") as events:
            await events.next()


async def test_a_change_of_what_is_not_selected_is_no_event() -> None:
    async with shop() as served:
        order = await served.order()
        text = "subscription($id: ID!) { orderChanged(orderId: $id) { orderId total } }"
        async with served.watch(text, {"id": order["orderId"]}) as events:
            await events.next()
            await served.set_status(order["orderId"], "SHIPPED")
            await events.silence()


async def test_a_burst_of_changes_is_one_event_with_the_newest_state() -> None:
    async with shop() as served:
        order = await served.order()
        async with served.watch(ITEM, {"id": order["orderId"]}) as events:
            await events.next()
            for status in ("SHIPPED", "DELIVERED"):
                await served.set_status(order["orderId"], status)
            assert _item(await events.next())["status"] == "DELIVERED"
            await events.silence()
        assert served.subscriptions.counts.coalesced > 0


async def test_a_list_on_the_table_sends_its_page_and_then_what_changes() -> None:
    async with shop() as served:
        order = await served.order()
        async with served.watch(LIST, {"user": order["userId"]}) as events:
            first = (await events.next())["data"]["ordersOfUserChanged"]
            assert len(first["page"]["nodes"]) > 0
            assert first["changes"] == []
            placed = (await served.client.mutate(PLACE, {"user": order["userId"]}))["placeOrder"]
            assert placed["errors"] == []
            event = await events.next()
            assert event["data"]["ordersOfUserChanged"]["page"] is None
            [added] = _changes(event)
            assert (added["kind"], added["node"]["orderId"]) == ("ADDED", placed["order"]["orderId"])
            assert added["nodeId"] == placed["order"]["id"]  # the same global id as everywhere
            await served.set_status(placed["order"]["orderId"], "CANCELLED")
            [changed] = _changes(await events.next())
            assert (changed["kind"], changed["node"]["status"]) == ("CHANGED", "CANCELLED")


async def test_a_list_on_an_index_sends_what_comes_and_goes() -> None:
    async with shop() as served:
        order = await served.order()
        async with served.watch(ACTIVE) as events:
            await events.next()
            await served.set_status(order["orderId"], "SHIPPED")
            [changed] = _changes(await events.next())
            assert (changed["kind"], changed["node"]["status"]) == ("CHANGED", "SHIPPED")
            await served.set_status(order["orderId"], "DELIVERED")
            [removed] = _changes(await events.next())
            assert (removed["kind"], removed["node"]) == ("REMOVED", None)
            assert read_global_id("acme", removed["nodeId"]) == ("Order", (order["orderId"],))


async def test_what_a_filter_leaves_out_is_not_reported() -> None:
    async with shop() as served:
        order = await served.order()
        total = (
            await served.client.query("query($id: ID!) { order(orderId: $id) { total } }", {"id": order["orderId"]})
        )["order"]["total"]
        matching, other = {"total": {"eq": total}}, {"total": {"gt": "100000000"}}
        async with (
            served.watch(ACTIVE, {"filter": matching}) as events,
            served.watch(ACTIVE, {"filter": other}) as filtered,
        ):
            await events.next()
            await filtered.next()
            await served.set_status(order["orderId"], "SHIPPED")
            assert _changes(await events.next())[0]["kind"] == "CHANGED"
            # it may have matched before the change: whoever has it has to drop it
            assert [each["kind"] for each in _changes(await filtered.next())] == ["REMOVED"]
            placed = (await served.client.mutate(PLACE, {"user": order["userId"]}))["placeOrder"]
            assert placed["errors"] == []
            await filtered.silence()


async def test_subscribers_who_may_see_the_same_share_one_read() -> None:
    async with shop() as served:
        order = await served.order()
        variables = {"id": order["orderId"]}
        async with (
            served.watch(ITEM, variables) as one,
            served.watch(ITEM, variables) as other,
            served.watch(ITEM, variables, role="support") as support,
        ):
            for events in (one, other, support):
                await events.next()
            before = served.subscriptions.counts.reads
            await served.set_status(order["orderId"], "SHIPPED")
            for events in (one, other, support):
                assert _item(await events.next())["status"] == "SHIPPED"
            assert served.subscriptions.cohorts == 2
            assert served.subscriptions.counts.reads == before + 2


async def test_the_read_of_an_event_is_logged_with_its_tenant_and_its_cost() -> None:
    async with shop() as served:
        order = await served.order()
        async with served.watch(ITEM, {"id": order["orderId"]}) as events:
            await events.next()
        line = served.lines[-1]
        assert (line["tenant"], line["operation_type"], line["operation"]) == ("acme", "subscription", "Item")
        assert line["consumed_capacity"] == 1.0  # consistent: half as much could be the state before the change
        assert line["estimated_capacity"] == 1.0


# tenants, subjects and roles


async def test_a_subscriber_learns_nothing_of_another_tenant() -> None:
    async with shop() as served, AsyncExitStack() as stack:
        order, opened = await served.order("acme"), []
        for text, variables in ((ITEM, {"id": order["orderId"]}), (LIST, {"user": order["userId"]}), (ACTIVE, {})):
            for tenant in ("globex", "initech"):
                opened.append(await stack.enter_async_context(served.watch(text, variables, tenant=tenant)))
                await opened[-1].next()
        await served.set_status(order["orderId"], "SHIPPED")
        for events in opened:
            await events.silence(0.1)


async def test_a_note_with_a_foreign_tenant_concerns_nobody_here() -> None:
    """Even one that the bus delivers to the wrong tenant, and whose keys are those of the watched item."""
    async with shop() as served:
        order = await served.order()
        async with served.watch(ITEM, {"id": order["orderId"]}) as events:
            await events.next()
            key = (f"TENANT#acme#ORDER#{order['orderId']}", "META")
            served.memory.rows[key] = {**served.memory.rows[key], "status": {"S": "SHIPPED"}}
            [watches] = served.subscriptions._tenants.values()
            watches.deliver(_note("globex", *key))
            await events.silence()


def _note(tenant: str, pk: str, sk: str) -> ChangeNote:
    return ChangeNote(
        tenant, "Order", "primary", pk, sk, "removed", frozenset({"status"}), {}, {}, shard="x", sequence="1"
    )


async def test_a_customer_watches_the_own_orders_and_nobody_elses() -> None:
    async with shop() as served:
        order = await served.order()
        own, variables = order["userId"], {"user": order["userId"]}
        async with (
            served.watch(LIST, variables, role="customer", subject=own) as mine,
            served.watch(LIST, variables, role="customer", subject="u-other") as theirs,
        ):
            assert (await mine.next())["data"]["ordersOfUserChanged"]["page"]["nodes"]
            assert (await theirs.next())["data"]["ordersOfUserChanged"]["page"]["nodes"] == []
            await served.set_status(order["orderId"], "SHIPPED")
            assert _changes(await mine.next())[0]["node"]["status"] == "SHIPPED"
            await theirs.silence()
            # not even that an item is gone, which needs no read
            key = next(key for key in served.memory.rows if key[1].endswith(order["orderId"]) and own in key[0])
            before = dict(served.memory.rows)
            del served.memory.rows[key]
            assert served.memory.on_change is not None
            await served.memory.on_change(before, served.memory.rows)
            assert _changes(await mine.next())[0]["kind"] == "REMOVED"
            await theirs.silence()


async def test_what_a_role_cannot_read_it_cannot_watch() -> None:
    async with shop() as served:
        with pytest.raises(SubscriptionFailed) as caught:
            async with served.watch(ITEM, {"id": "o-1"}, role="customer", subject="u-1") as events:
                await events.next()
        assert caught.value.errors[0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"


async def test_a_hidden_attribute_is_refused_in_every_event() -> None:
    async with shop() as served:
        order = await served.order()
        text = "subscription($id: ID!) { orderChanged(orderId: $id) { status note } }"
        async with served.watch(text, {"id": order["orderId"]}, role="support") as events:
            for status in ("CONFIRMED", "SHIPPED"):
                event = await events.next()
                assert event["data"]["orderChanged"] == {"status": status, "note": None}
                assert [error["extensions"]["code"] for error in event["errors"]] == ["FORBIDDEN"]
                if status == "CONFIRMED":
                    await served.set_status(order["orderId"], "SHIPPED")


async def test_a_subscription_that_costs_too_much_is_refused() -> None:
    async with shop(max_cost=0.5) as served:
        with pytest.raises(SubscriptionFailed) as caught:
            async with served.watch(ITEM, {"id": "o-1"}) as events:
                await events.next()
        assert caught.value.errors[0]["extensions"]["code"] == "LIMIT_EXCEEDED"


async def test_a_subscriber_that_selects_only_the_page_receives_the_page_again() -> None:
    text = "subscription($u: ID!) { ordersOfUserChanged(userId: $u, first: 1) { page { nodes { status } } } }"
    async with shop() as served:
        order = await served.order()
        async with served.watch(text, {"u": order["userId"]}) as events:
            first = await events.next()
            await served.set_status(order["orderId"], "SHIPPED")
            event = await events.next()
            assert event["data"]["ordersOfUserChanged"]["page"]["nodes"] == [{"status": "SHIPPED"}]
            assert first["data"]["ordersOfUserChanged"]["page"]["nodes"] == [{"status": "CONFIRMED"}]


async def test_a_subscriber_that_selects_only_changes_needs_permission_for_the_list() -> None:
    text = "subscription($u: ID!) { ordersOfUserChanged(userId: $u) { changes { nodeId kind } } }"
    async with shop() as served:
        order = await served.order()
        async with served.watch(text, {"u": order["userId"]}) as events:
            assert _changes(await events.next()) == []
            assert served.log.operations[-1] == "Query"


# resuming


async def test_a_subscriber_that_comes_back_with_a_position_misses_nothing_and_receives_nothing_twice() -> None:
    async with shop() as served:
        order = await served.order()
        variables = {"user": order["userId"]}
        async with served.watch(LIST, variables) as events:
            await events.next()
            await served.set_status(order["orderId"], "SHIPPED")
            position = (await events.next())["extensions"]["position"]
        async with served.watch(LIST, variables, after=position) as events:
            await events.silence()
        placed = [(await served.client.mutate(PLACE, variables))["placeOrder"]["order"] for _ in range(2)]
        await served.set_status(placed[0]["orderId"], "CANCELLED")
        async with served.watch(LIST, variables, after=position) as events:
            changes = _changes(await events.next())
            assert [(each["kind"], each["node"]["orderId"], each["node"]["status"]) for each in changes] == [
                ("ADDED", placed[0]["orderId"], "CANCELLED"),
                ("ADDED", placed[1]["orderId"], "PENDING"),
            ]
            await events.silence()
            await served.set_status(order["orderId"], "DELIVERED")
            assert _changes(await events.next())[0]["node"]["status"] == "DELIVERED"
        assert served.subscriptions.counts.resumes == 2


async def test_a_position_that_is_no_longer_kept_is_reported_with_the_present_state() -> None:
    async with shop() as served:
        order = await served.order()
        async with served.watch(ITEM, {"id": order["orderId"]}) as events:
            await events.next()
            await served.set_status(order["orderId"], "SHIPPED")
            position = (await events.next())["extensions"]["position"]
    async with shop() as restarted, restarted.watch(ITEM, {"id": order["orderId"]}, after=position) as events:
        event = await events.next()
        assert event["extensions"]["notice"]["code"] == "POSITION_EXPIRED"
        assert _item(event)["status"] == "CONFIRMED"
        assert restarted.subscriptions.counts.expired_positions == 1


@pytest.mark.parametrize(
    "other",
    [{"tenant": "globex"}, {"variables": {"id": "o-other"}}, {"role": "customer", "subject": "u-1", "text": LIST}],
)
async def test_a_position_is_worth_nothing_to_anybody_else(other: dict[str, Any]) -> None:
    async with shop() as served:
        order = await served.order()
        variables = {"id": order["orderId"]}
        async with served.watch(ITEM, variables) as events:
            position = (await events.next())["extensions"]["position"]
        given: dict[str, Any] = {"text": ITEM, "variables": variables, **other}
        if given["text"] is LIST:
            given["variables"] = {"user": "u-1"}
        with pytest.raises(SubscriptionFailed) as caught:
            async with served.watch(**given, after=position) as events:
                await events.next()
        assert caught.value.errors[0]["extensions"]["code"] == "BAD_USER_INPUT"
        assert "leave it out" in caught.value.errors[0]["message"]


async def test_an_event_that_was_read_before_the_last_sent_one_is_read_again() -> None:
    """A member that resumes reads for itself, beside its cohort: the slower of the two reads may be the older one."""
    async with shop() as served:
        order = await served.order()
        async with served.watch(ITEM, {"id": order["orderId"]}) as events:
            await events.next()
            [cohort] = served.subscriptions._cohorts.values()
            [member] = cohort.members
            old = await cohort.present()
            await served.set_status(order["orderId"], "SHIPPED")
            assert _item(await events.next())["status"] == "SHIPPED"
            member.offer(old)
            # what it would have sent is read again, and is what was sent already
            await events.silence()
            await served.set_status(order["orderId"], "DELIVERED")
            assert _item(await events.next())["status"] == "DELIVERED"


async def test_a_state_that_was_read_beside_the_last_sent_event_is_read_again() -> None:
    """Its read began later, but what it has may have been read earlier."""
    async with shop() as served:
        order = await served.order()
        async with served.watch(ITEM, {"id": order["orderId"]}) as events:
            await events.next()
            [cohort] = served.subscriptions._cohorts.values()
            [member] = cohort.members
            old = await cohort.present()
            await served.set_status(order["orderId"], "SHIPPED")
            assert _item(await events.next())["status"] == "SHIPPED"
            member.offer(replace(old, number=member._overlapped))
            await events.silence()


async def test_a_change_that_was_read_beside_the_last_sent_event_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[WatchEvent] = []
    offer = Subscription.offer

    def recorded(self: Subscription, event: WatchEvent) -> None:
        offered.append(event)
        offer(self, event)

    monkeypatch.setattr(Subscription, "offer", recorded)
    async with shop() as served:
        order = await served.order()
        async with served.watch(ITEM, {"id": order["orderId"]}) as events:
            await events.next()
            for status in ("SHIPPED", "DELIVERED"):
                await served.set_status(order["orderId"], status)
                assert _item(await events.next())["status"] == status
            [cohort] = served.subscriptions._cohorts.values()
            [member] = cohort.members
            member.offer(replace(offered[0], number=member._overlapped))
            await events.silence()


async def test_what_was_read_before_a_client_came_back_is_read_again_for_it() -> None:
    """The process it comes from may have sent it something newer."""
    async with shop() as served:
        order = await served.order()
        async with served.watch(ITEM, {"id": order["orderId"]}) as events:
            await events.next()
            [cohort] = served.subscriptions._cohorts.values()
            old = await cohort.present()
            await served.set_status(order["orderId"], "SHIPPED")
            position = (await events.next())["extensions"]["position"]
            async with served.watch(ITEM, {"id": order["orderId"]}, after=position) as returned:
                await returned.silence()
                [_, member] = cohort.members
                member.offer(old)
                await returned.silence()


def test_every_watch_of_the_demo_is_covered_here() -> None:
    assert set(MODEL.watches) == {"orderChanged", "ordersOfUserChanged", "activeOrdersChanged"}
