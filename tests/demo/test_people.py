"""Users and their addresses while two requests change them at once, in every order their calls can have."""

import asyncio
from typing import Any

from tests.demo.asking import Row, change, rows
from tests.graph.fixtures import World

_PAUSES = 12

_CREATE = """mutation ($input: CreateUserInput!) { createUser(input: $input) { user { userId } errors { code } } }"""
_UPDATE = """mutation ($input: UpdateUserInput!) { updateUser(input: $input) { user { email } errors { code } } }"""
_REMOVE = """mutation ($input: RemoveUserInput!) { removeUser(input: $input) { user { userId } errors { code } } }"""
_ADD = """mutation ($input: AddEmailInput!) { addEmail(input: $input) { email { email } errors { code } } }"""
_DROP = """mutation ($input: RemoveEmailInput!) { removeEmail(input: $input) { email { email } errors { code } } }"""


async def user(world: World, name: str) -> None:
    given = {"userId": name, "name": "n", "email": f"{name}@main.example"}
    assert (await change(world, _CREATE, input=given))["errors"] == []


async def later(calls: int, work: Any) -> Any:
    """After as many turns of the loop: each call of the other request takes one."""
    for _ in range(calls):
        await asyncio.sleep(0)
    return await work


async def both(world: World, first: Any, second: Any, number: int) -> list[Any]:
    """The second begins some turns after the first, or the other way round."""
    answers = await asyncio.gather(later(max(0, number), first), later(max(0, -number), second))
    return [answer["errors"] for answer in answers]


def owned(world: World, name: str) -> tuple[list[Row], set[str]]:
    found = {row["email"]["S"] for row in rows(world, "Email", userId=name)}
    return rows(world, "User", userId=name), found


async def test_an_address_that_becomes_the_main_one_is_not_removed_meanwhile(world: World) -> None:
    outcomes = set()
    for number in range(-_PAUSES, _PAUSES):
        name, address = f"x{number + _PAUSES}", f"x{number + _PAUSES}@other.example"
        await user(world, name)
        await change(world, _ADD, input={"userId": name, "email": address})
        switch = change(world, _UPDATE, input={"userId": name, "email": address})
        drop = change(world, _DROP, input={"userId": name, "email": address})
        errors = await both(world, switch, drop, number)
        [profile], addresses = owned(world, name)
        assert profile["email"]["S"] in addresses, number
        outcomes.add(tuple(bool(each) for each in errors))
    assert outcomes >= {(True, False), (False, True)}, "either came first at least once"


async def test_a_user_who_is_removed_leaves_no_address_behind(world: World) -> None:
    outcomes = set()
    for number in range(-_PAUSES, _PAUSES):
        name = f"y{number + _PAUSES}"
        await user(world, name)
        add = change(world, _ADD, input={"userId": name, "email": f"{name}@other.example"})
        remove = change(world, _REMOVE, input={"userId": name})
        errors = await both(world, add, remove, number)
        profiles, addresses = owned(world, name)
        assert bool(profiles) is bool(addresses), number
        outcomes.add(tuple(bool(each) for each in errors))
    assert (False, True) in outcomes, "the address came between"


async def test_what_is_removed_with_a_user_is_read_as_it_is_now(world: World) -> None:
    """An eventually consistent read could miss an address that was added a moment ago."""
    await user(world, "z")
    await change(world, _REMOVE, input={"userId": "z"})
    queries = [body for operation, body in world.memory.sent if operation == "Query"]
    assert [body["ConsistentRead"] for body in queries if "IndexName" not in body] == [True] * 4
