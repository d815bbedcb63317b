"""Declared rules as a client meets them: on create, update and lookup, in lanes and in the reference."""

from dataclasses import replace
from typing import Any

import pytest

from tests.graph.fixtures import MemoryEndpoint, no_lanes
from tests.graph.mutation.library import MODEL, SCHEMA, change, kinds, lent, library


@pytest.fixture
def api() -> MemoryEndpoint:
    return library()


async def test_defaults_and_spelling_are_applied_to_a_new_item(api: MemoryEndpoint) -> None:
    deposit = {"amount": "10", "currency": "eur"}
    given = {"email": " Ann@X.Org", "name": "  Ann   Lee ", "bornOn": "1990-02-03", "deposit": deposit}
    shown = "memberId email name bornOn deposit { amount currency } limit joinedIn version"
    made = await change(api, "createMember", shown, **given)
    assert made["errors"] == []
    identity = made["item"].pop("memberId")
    assert made["item"] == {
        "email": "ann@x.org",
        "name": "Ann Lee",
        "bornOn": "1990-02-03",
        "deposit": {"amount": "10.00", "currency": "EUR"},
        "limit": 5,
        "joinedIn": "2026",
        "version": 1,
    }
    assert len(identity) == 27


QUERIES = {
    "a folded address": '{ memberByEmail(email: "M@X.ORG") { id email name } }',
    "a wrong address": '{ memberByEmail(email: "garbage") { email } }',
    "a range of days": """{ membersOfYear(joinedIn: "2026", bornOn: {from: "1990-01-01", to: "1990-12-31"}) {
        nodes { bornOn deposit { currency amount } } edges { cursor } } }""",
    "a year that is none": '{ membersOfYear(joinedIn: "garbage") { nodes { bornOn } } }',
    "an item": '{ member(memberId: "m") { bornOn deposit { amount } limit } }',
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
async def test_a_lane_answers_as_the_reference_does(api: MemoryEndpoint, query: str) -> None:
    deposit = {"amount": "0.1", "currency": "EUR"}
    given = {"memberId": "m", "email": "m@x.org", "name": "M", "bornOn": "1990-02-03", "deposit": deposit}
    assert (await change(api, "createMember", "memberId", **given))["errors"] == []
    answer = _plain((await api.post(query)).json())
    api.endpoint = replace(api.endpoint, lanes=no_lanes(api))
    assert _plain((await api.post(query)).json()) == answer
    if "wrong" in query or "garbage" in query:
        assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
    else:
        assert "errors" not in answer
        assert "m@x.org" in str(answer) or "1990-02-03" in str(answer)


def _plain(answer: dict[str, Any]) -> dict[str, Any]:
    for error in answer.get("errors", ()):
        error["extensions"].pop("requestId", None)
    answer.pop("extensions", None)
    return answer


async def test_a_value_is_unique_in_any_spelling(api: MemoryEndpoint) -> None:
    await lent(api)
    taken = await change(api, "createMember", "memberId", email="M@X.org", name="N")
    assert [(error["code"], error["field"]) for error in taken["errors"]] == [("ALREADY_EXISTS", "email")]


async def test_every_fault_of_an_input_is_reported_with_its_path(api: MemoryEndpoint) -> None:
    price = {"isbn": "b#", "title": "", "price": "-1", "tags": ["ok", "", "far too long"]}
    refused = await change(api, "createBook", "isbn", **price)
    assert [(error["code"], error["field"]) for error in refused["errors"]] == [
        ("INVALID", "isbn"),
        ("INVALID", "title"),
        ("INVALID", "price"),
        ("INVALID", "tags.1"),
        ("INVALID", "tags.2"),
    ]
    assert kinds(api) == []


async def test_what_is_immutable_is_no_input_of_an_update(api: MemoryEndpoint) -> None:
    text = SCHEMA.as_str()
    update = text.partition("input UpdateMemberInput")[2].partition("\n}")[0]
    create = text.partition("input CreateMemberInput")[2].partition("\n}")[0]
    assert "joinedIn" not in update
    assert '"""The year. Default: 2026."""\n  joinedIn: String' in create
    assert '"""The id. If omitted, the gateway sets it."""\n  memberId: ID\n' in create


async def test_an_update_that_changes_nothing_writes_nothing(api: MemoryEndpoint) -> None:
    await lent(api)
    before = {key: dict(row) for key, row in api.memory.rows.items()}
    api.memory.sent.clear()
    same = await change(api, "updateMember", "email version", memberId="m", email="M@x.org", name=" M ")
    assert same == {"item": {"email": "m@x.org", "version": 1}, "errors": []}
    assert api.memory.rows == before
    assert "TransactWriteItems" not in [operation for operation, _ in api.memory.sent]
    changed = await change(api, "updateMember", "version", memberId="m", name="N")
    assert changed["item"] == {"version": 2}


async def test_what_expires_expires_in_the_future(api: MemoryEndpoint) -> None:
    await lent(api)
    past = "2020-01-01T00:00:00Z"
    made = await change(api, "createLoan", "loanId", memberId="m", loanId="x", until=past)
    moved = await change(api, "updateLoan", "loanId", memberId="m", loanId="l0", until=past)
    for refused in (made, moved):
        assert [(error["code"], error["field"]) for error in refused["errors"]] == [("INVALID", "until")]
    later = await change(api, "updateLoan", "until", memberId="m", loanId="l0", until="2999-01-01T00:00:00Z")
    assert later["item"] == {"until": "2999-01-01T00:00:00Z"}


def test_the_library_is_sound() -> None:
    assert set(MODEL.referrers) == {"Member", "Book", "Loan"}
