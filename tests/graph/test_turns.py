"""Operations take turns by tenant: nobody is starved, nothing is lost, and what is given up is passed on."""

import asyncio

import pytest

from gateway.errors import Throttled
from gateway.graph.turns import Turns
from gateway.model.tenant import TenantId, tenant_id
from tests.graph.world import World

FLOOD, OTHER, THIRD = tenant_id("flood"), tenant_id("other"), tenant_id("third")


class Stage:
    """Operations that run until they are told to end."""

    def __init__(self, running: int = 2, waiting: int = 100) -> None:
        self.turns = Turns(running, waiting)
        self.began: list[TenantId] = []
        self.ends: list[asyncio.Event] = []

    def ask(self, tenant: TenantId) -> "asyncio.Task[None]":
        return asyncio.ensure_future(self._run(tenant))

    async def _run(self, tenant: TenantId) -> None:
        await self.turns.enter(tenant)
        try:
            self.began.append(tenant)
            end = asyncio.Event()
            self.ends.append(end)
            await end.wait()
        finally:
            self.turns.leave()

    async def finish_one(self) -> None:
        self.ends.pop(0).set()
        await settle()


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_who_sends_many_at_once_waits_for_itself() -> None:
    stage = Stage()
    flood = [stage.ask(FLOOD) for _ in range(20)]
    await settle()
    others = [stage.ask(OTHER), stage.ask(OTHER), stage.ask(THIRD)]
    await settle()
    assert stage.began == [FLOOD] * 2
    assert (stage.turns.running, stage.turns.waiting) == (2, 21)
    for _ in range(7):
        await stage.finish_one()
    assert stage.began[2:] == [FLOOD, OTHER, THIRD, FLOOD, OTHER, FLOOD, FLOOD]
    while stage.ends:
        await stage.finish_one()
    await asyncio.gather(*flood, *others)
    assert (stage.turns.running, stage.turns.waiting) == (0, 0)


async def test_one_tenant_alone_may_use_everything() -> None:
    stage = Stage(running=10)
    asked = [stage.ask(FLOOD) for _ in range(10)]
    await settle()
    assert len(stage.began) == 10
    while stage.ends:
        await stage.finish_one()
    await asyncio.gather(*asked)


async def test_too_many_that_wait_are_refused_and_others_are_not() -> None:
    stage = Stage(running=1, waiting=3)
    asked = [stage.ask(FLOOD) for _ in range(4)]
    await settle()
    with pytest.raises(Throttled, match="too many operations of this tenant"):
        await stage.turns.enter(FLOOD)
    asked.append(stage.ask(OTHER))
    await settle()
    while stage.ends:
        await stage.finish_one()
    await asyncio.gather(*asked)
    assert stage.began.count(OTHER) == 1


async def test_who_gives_up_waiting_takes_no_turn() -> None:
    stage = Stage(running=1)
    first, second, third = stage.ask(FLOOD), stage.ask(FLOOD), stage.ask(OTHER)
    await settle()
    second.cancel()
    await settle()
    assert stage.turns.waiting == 1
    await stage.finish_one()
    assert stage.began == [FLOOD, OTHER]
    await stage.finish_one()
    await asyncio.gather(first, third)
    assert (stage.turns.running, stage.turns.waiting) == (0, 0)


async def test_a_turn_that_comes_too_late_is_passed_on() -> None:
    """Cancelled in the moment in which its turn has come."""
    stage = Stage(running=1)
    first, second, third = stage.ask(FLOOD), stage.ask(FLOOD), stage.ask(OTHER)
    await settle()
    stage.ends.pop(0).set()
    await asyncio.sleep(0)  # the first one leaves, and the second one's turn is set
    second.cancel()
    await settle()
    assert stage.began == [FLOOD, OTHER]
    await stage.finish_one()
    await asyncio.gather(first, third)
    assert stage.turns.running == 0


async def test_the_endpoint_takes_turns(world: World) -> None:
    turns = world.endpoint.turns
    held = [turns.enter(FLOOD) for _ in range(64)]
    await asyncio.gather(*held)
    asked = asyncio.ensure_future(world.ask('{ user(userId: "u-1001") { name } }'))
    while not turns.waiting:  # noqa: ASYNC110  turns tell nobody
        await asyncio.sleep(0)
    assert not asked.done()
    assert turns.waiting == 1
    turns.leave()
    assert (await asked)["user"]["name"]
    assert turns.running == 63, "and it left"
