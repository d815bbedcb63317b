"""Increments stay inside the bounds of their types, whoever else adds at the same time."""

import asyncio

import pytest

from gateway.demo.commerce.stocking import OUT_OF_STOCK
from gateway.demo.publishing.like import CounterName
from gateway.model.entity import Attribute
from gateway.model.error_code import UserErrorCode
from gateway.model.types import MAX_INT, DecimalNumber, Integer
from gateway.store.rows import Item
from gateway.store.write.faults import Fault, Rejected
from gateway.store.write.increments import bound_of
from gateway.store.write.upserts import tally
from gateway.store.write.writer import MutationResult, Writer
from tests.model.build import thing
from tests.store.editing import editing, empty

NONE = MutationResult(Item("Stock", {}, ""))
KEY = {"productId": "p"}
GONE = Fault(OUT_OF_STOCK, "there is not enough")


async def stocked(available: int) -> Writer:
    memory = empty()
    memory.rows["TENANT#acme#PRODUCT#p", "STOCK"] = {
        "PK": {"S": "TENANT#acme#PRODUCT#p"},
        "SK": {"S": "STOCK"},
        "EntityType": {"S": "Stock"},
        "productId": {"S": "p"},
        "available": {"N": str(available)},
        "version": {"N": "1"},
    }
    return editing(memory)


async def add(writer: Writer, amount: int, *, never_below_zero: bool = True) -> int:
    change = writer.change()
    change.add("Stock", KEY, {"available": amount}, GONE, never_below_zero=never_below_zero)
    await writer.commit(change, NONE)
    return await left(writer)


async def left(writer: Writer) -> int:
    available: int = (await writer.stored("Stock", KEY)).values["available"]
    return available


async def test_a_sum_reaches_the_maximum_and_not_one_more() -> None:
    writer = await stocked(MAX_INT - 1)
    assert await add(writer, 1) == MAX_INT
    with pytest.raises(Rejected) as refused:
        await add(writer, 1)
    [fault] = refused.value.faults
    assert (fault.code, fault.field) == (UserErrorCode.OUT_OF_RANGE, "available")
    assert fault.message == "`available` would be 2147483648, at most 2147483647 is allowed"
    assert await left(writer) == MAX_INT


async def test_of_many_increments_only_those_that_fit_are_made() -> None:
    writer = await stocked(MAX_INT - 3)
    outcomes = await asyncio.gather(*(add(writer, 1) for _ in range(8)), return_exceptions=True)
    assert sum(isinstance(each, Rejected) for each in outcomes) == 5
    assert await left(writer) == MAX_INT


async def test_what_falls_below_a_floor_has_the_fault_of_the_caller() -> None:
    writer = await stocked(1)
    with pytest.raises(Rejected) as refused:
        await add(writer, -2)
    assert refused.value.faults == (GONE,)


async def test_without_a_floor_the_minimum_of_the_type_holds() -> None:
    writer = await stocked(-(2**31))
    with pytest.raises(Rejected) as refused:
        await add(writer, -1, never_below_zero=False)
    assert refused.value.faults[0].code is UserErrorCode.OUT_OF_RANGE


async def test_a_tally_stays_inside_its_bounds_too() -> None:
    memory = empty()
    writer, shard = editing(memory), {"counter": CounterName.LIKES, "subjectId": "p", "slot": 3}
    for amount, refused in ((MAX_INT, False), (1, True)):
        change = writer.change()
        tally(change, "Counter", shard, {"count": amount})
        if not refused:
            await writer.commit(change, NONE)
            continue
        with pytest.raises(Rejected) as error:
            await writer.commit(change, NONE)
        assert error.value.faults[0].code is UserErrorCode.OUT_OF_RANGE
    assert memory.rows["TENANT#acme#COUNTER#LIKES#p#03", "COUNT"]["count"] == {"N": str(MAX_INT)}


@pytest.mark.parametrize(
    ("kind", "amount", "condition"),
    [
        (Integer(max=10), 3, "#n <= :v 7"),
        (Integer(min=-5), -3, "#n >= :v -2"),
        (DecimalNumber(), 3, None),
        (DecimalNumber(max=10), 3, "#n <= :v 7"),
        (Integer(), 0, None),
    ],
)
def test_the_condition_follows_from_the_bounds(kind: Integer, amount: int, condition: str | None) -> None:
    bound = bound_of(thing(attributes=(Attribute("n", kind, "A number."),)), "n", amount)
    assert (f"{bound.condition('#n', ':v')} {bound.limit}" if bound else None) == condition


def test_an_optional_number_may_be_missing_unless_the_sum_itself_is_too_much() -> None:
    entity = thing(attributes=(Attribute("n", Integer(max=10), "A number.", required=False),))
    enough, much = bound_of(entity, "n", 3), bound_of(entity, "n", 11)
    assert enough is not None
    assert enough.condition("#n", ":v") == "(attribute_not_exists(#n) OR #n <= :v)"
    assert much is not None
    assert much.condition("#n", ":v") == "#n <= :v"
