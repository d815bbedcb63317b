"""Users and their addresses while two requests change them at once, in every order their calls can have."""

import asyncio
from typing import Any

from tests.demo.operations import Row, change, rows
from tests.graph.fixtures import MemoryEndpoint

_PAUSES = 12

_CREATE = """mutation ($input: CreateUserInput!) { createUser(input: $input) { user { userId } errors { code } } }"""
_UPDATE = """mutation ($input: UpdateUserInput!) { updateUser(input: $input) { user { email } errors { code } } }"""
_REMOVE = """mutation ($input: RemoveUserInput!) { removeUser(input: $input) { user { userId } errors { code } } }"""
_ADD = """mutation ($input: AddEmailInput!) { addEmail(input: $input) { email { email } errors { code } } }"""
_DROP = """mutation ($input: RemoveEmailInput!) { removeEmail(input: $input) { email { email } errors { code } } }"""


async def user(api: MemoryEndpoint, name: str) -> None:
    given = {"userId": name, "name": "n", "email": f"{name}@main.example"}
    assert (await change(api, _CREATE, input=given))["errors"] == []


async def later(calls: int, work: Any) -> Any:
    """After as many turns of the loop: each call of the other request takes one."""
    for _ in range(calls):
        await asyncio.sleep(0)
    return await work


async def both(api: MemoryEndpoint, first: Any, second: Any, number: int) -> list[Any]:
    """The second begins some turns after the first, or the other way round."""
    answers = await asyncio.gather(later(max(0, number), first), later(max(0, -number), second))
    return [answer["errors"] for answer in answers]


def owned(api: MemoryEndpoint, name: str) -> tuple[list[Row], set[str]]:
    found = {row["email"]["S"] for row in rows(api, "Email", userId=name)}
    return rows(api, "User", userId=name), found


async def test_an_address_that_becomes_the_main_one_is_not_removed_meanwhile(api: MemoryEndpoint) -> None:
    outcomes = set()
    for number in range(-_PAUSES, _PAUSES):
        name, address = f"x{number + _PAUSES}", f"x{number + _PAUSES}@other.example"
        await user(api, name)
        await change(api, _ADD, input={"userId": name, "email": address})
        switch = change(api, _UPDATE, input={"userId": name, "email": address})
        drop = change(api, _DROP, input={"userId": name, "email": address})
        errors = await both(api, switch, drop, number)
        [profile], addresses = owned(api, name)
        assert profile["email"]["S"] in addresses, number
        outcomes.add(tuple(bool(each) for each in errors))
    assert outcomes >= {(True, False), (False, True)}, "either came first at least once"


async def test_a_user_who_is_removed_leaves_no_address_behind(api: MemoryEndpoint) -> None:
    outcomes = set()
    for number in range(-_PAUSES, _PAUSES):
        name = f"y{number + _PAUSES}"
        await user(api, name)
        add = change(api, _ADD, input={"userId": name, "email": f"{name}@other.example"})
        remove = change(api, _REMOVE, input={"userId": name})
        errors = await both(api, add, remove, number)
        profiles, addresses = owned(api, name)
        assert bool(profiles) is bool(addresses), number
        outcomes.add(tuple(bool(each) for each in errors))
    assert (False, True) in outcomes, "the address came between"


async def test_what_is_removed_with_a_user_is_read_as_it_is_now(api: MemoryEndpoint) -> None:
    """An eventually consistent read could miss an address that was added a moment ago."""
    await user(api, "z")
    await change(api, _REMOVE, input={"userId": "z"})
    queries = [body for operation, body in api.memory.sent if operation == "Query"]
    assert [body["ConsistentRead"] for body in queries if "IndexName" not in body] == [True] * 4
