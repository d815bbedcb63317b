"""Bulk mutations: results for each item, all or none, references, unique values, copies, counters, idempotency."""

import asyncio
import re
from dataclasses import replace
from typing import Any

import pytest

from gateway.errors import ModelError, Throttled
from gateway.graph.http.endpoint import EndpointLimits
from gateway.graph.mutation.bulk import bulk
from gateway.graph.mutation.crud import create, now, remove
from gateway.graph.query.price import CostLimits, item_units
from gateway.model.model import Model
from gateway.store.write.writer import MutationResult, Writer
from gateway.testing import GraphQLErrors, serve
from tests.graph.fixtures import MemoryEndpoint
from tests.graph.http.test_endpoint import code
from tests.graph.mutation import library
from tests.graph.mutation.books import books, books_model, kept_right, send, stocked
from tests.graph.mutation.test_late_mutations import time_over
from tests.model.build import model, thing


@pytest.fixture
def api() -> MemoryEndpoint:
    return books()


def book(number: object, **more: Any) -> dict[str, Any]:
    return {"bookId": f"b{number}", "genreId": "g", "title": f"Book {number}", **more}


def states(payload: dict[str, Any]) -> list[Any]:
    """True for what was written, the codes and fields of the errors for the rest."""
    return [
        each["written"] or [(error["code"], error["field"]) for error in each["errors"]] for each in payload["results"]
    ]


async def test_each_item_has_a_result_and_the_right_ones_are_written(api: MemoryEndpoint) -> None:
    await stocked(api)
    given = [
        book(0, code="x"),
        book(1, pages=0, code="a#b"),
        book(2, genreId="none"),
        book(3, code="x"),
        book(0),
        book(4, code="y"),
    ]
    made = await send(api, "bulkCreateBook", given, "bookId version genre { title }")
    assert states(made) == [
        True,
        [("INVALID", "items.1.code"), ("INVALID", "items.1.pages")],
        [("NOT_FOUND", "items.2.genreId")],
        [("ALREADY_EXISTS", "items.3.code")],
        [("ALREADY_EXISTS", "items.4.bookId")],
        True,
    ]
    assert made["results"][0]["book"] == {"bookId": "b0", "version": 1, "genre": {"title": "g"}}
    assert made["writtenCount"] == 2
    assert [error["field"] for error in made["errors"]] == [
        error["field"] for each in made["results"] for error in each["errors"]
    ]
    assert kept_right(api) == 2


async def test_many_items_are_few_calls(api: MemoryEndpoint) -> None:
    await stocked(api)
    made = await send(api, "bulkCreateBook", [book(n) for n in range(60)])
    assert made["writtenCount"] == 60
    assert [call[0] for call in api.memory.sent] == ["TransactWriteItems"] * 3
    changes = [{"bookId": f"b{n}", "title": "New"} for n in range(60)]
    assert (await send(api, "bulkUpdateBook", changes))["writtenCount"] == 60
    assert [call[0] for call in api.memory.sent] == ["BatchGetItem", "TransactWriteItems"] * 3
    assert kept_right(api) == 60


async def test_an_update_keeps_what_is_left_out_and_null_removes(api: MemoryEndpoint) -> None:
    await stocked(api, books=4)
    given: list[dict[str, Any]] = [
        {"bookId": "b0", "code": None, "title": "A", "version": 1},
        {"bookId": "b1", "title": "B", "version": 7},
        {"bookId": "nobody", "title": "C"},
        {"bookId": "b2", "genreId": "h", "code": "c0"},
        {"bookId": "b3", "title": "T"},
    ]
    made = await send(api, "bulkUpdateBook", given, "bookId title code genreId version")
    assert states(made) == [
        True,
        [("CONFLICT", "items.1.version")],
        [("NOT_FOUND", "items.2.bookId")],
        True,
        True,
    ]
    assert made["results"][0]["book"] == {"bookId": "b0", "title": "A", "code": None, "genreId": "g", "version": 2}
    assert made["results"][3]["book"]["code"] == "c0", "free once the first item has left it"
    assert made["results"][4]["book"]["version"] == 1, "an update that changes nothing"
    assert kept_right(api) == 4


async def test_one_item_twice_is_two_changes_one_after_the_other(api: MemoryEndpoint) -> None:
    await stocked(api, books=1)
    given = [{"bookId": "b0", "title": "A"}, {"bookId": "b0", "title": "B"}]
    made = await send(api, "bulkUpdateBook", given, "title version")
    assert [each["book"] for each in made["results"]] == [
        {"title": "A", "version": 2},
        {"title": "B", "version": 3},
    ]
    assert kept_right(api) == 1


async def test_removal_restricts_and_counts(api: MemoryEndpoint) -> None:
    await stocked(api, books=3)
    used = await send(api, "bulkRemoveGenre", [{"genreId": "g"}, {"genreId": "h"}], "title")
    assert states(used) == [[("IN_USE", "items.0.genreId")], True]
    gone = await send(api, "bulkRemoveBook", [{"bookId": "b0"}, {"bookId": "b0"}, {"bookId": "b2"}], "title")
    assert states(gone) == [True, [("NOT_FOUND", "items.1.bookId")], True]
    assert gone["results"][0]["book"] == {"title": "T"}, "its last values"
    assert kept_right(api) == 1


@pytest.mark.parametrize("count", [0, 61])
async def test_the_number_of_items_is_bounded(api: MemoryEndpoint, count: int) -> None:
    made = await send(api, "bulkCreateBook", [book(n) for n in range(count)])
    assert made == {"results": [], "writtenCount": 0, "errors": [{"code": "INVALID", "field": "items"}]}
    assert api.memory.sent == []


# Atomic.


async def test_atomic_writes_all_items_in_one_transaction() -> None:
    api = books(atomic=True)
    await stocked(api)
    made = await send(api, "bulkCreateBook", [book(n, code=f"c{n}") for n in range(9)], key="k")
    assert made["writtenCount"] == 9
    assert [call[0] for call in api.memory.sent] == ["GetItem", "TransactWriteItems"]
    assert kept_right(api) == 9


@pytest.mark.parametrize(
    ("wrong", "fields"),
    [
        (book(1, pages=0), "items.1.pages"),
        (book(1, genreId="none"), "items.1.genreId"),
        (book(0), "items.1"),
        (book("old"), "items.1.bookId"),
    ],
)
async def test_atomic_writes_nothing_where_one_item_is_wrong(wrong: dict[str, Any], fields: str) -> None:
    api = books(atomic=True)
    await stocked(api)
    await send(api, "bulkCreateBook", [book("old")])
    made = await send(api, "bulkCreateBook", [book(0), wrong, book(2)])
    assert [error["field"] for error in made["errors"]] == [fields]
    assert [each["written"] for each in made["results"]] == [False] * 3
    assert [bool(each["errors"]) for each in made["results"]] == [False, True, False]
    assert made["writtenCount"] == 0
    assert kept_right(api) == 1


async def test_atomic_refuses_what_is_larger_than_a_transaction() -> None:
    limits = EndpointLimits(body_bytes=9_000_000, seconds=600)
    api = books(atomic=True, limits=limits)
    await stocked(api)
    made = await send(api, "bulkCreateBook", [book(n, title="x" * 290_000) for n in range(9)])
    assert made["errors"] == [{"code": "INVALID", "field": "items"}]
    assert kept_right(api) == 0
    each = books(limits=limits)
    await stocked(each)
    assert (await send(each, "bulkCreateBook", [book(n, title="x" * 290_000) for n in range(9)]))["writtenCount"] == 9


# Idempotency, faults and time.


async def test_a_repeat_changes_nothing_and_answers_the_same(api: MemoryEndpoint) -> None:
    await stocked(api)
    given = [{"genreId": "g", "title": f"T{n}"} for n in range(40)]
    first = await send(api, "bulkCreateBook", given, key="k")
    again = await send(api, "bulkCreateBook", given, key="k")
    assert first == again
    assert first["writtenCount"] == kept_right(api) == 40
    other = await send(api, "bulkCreateBook", given[1:], key="k")
    assert other["errors"] == [{"code": "INVALID", "field": "idempotencyKey"}]


async def test_a_repeat_of_a_removal_says_that_it_was_done(api: MemoryEndpoint) -> None:
    await stocked(api, books=2)
    given = [{"bookId": "b0"}, {"bookId": "b1"}]
    for _ in range(2):
        assert states(await send(api, "bulkRemoveBook", given, key="k")) == [True, True]


@pytest.mark.parametrize("stop", [1, 2, 3])
async def test_a_repeat_goes_on_where_the_first_one_stopped(
    api: MemoryEndpoint, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    """Throttled in the middle: what was written is reported, and a repeat with the same key writes the rest once."""
    await stocked(api)
    given = [{"genreId": "g", "title": f"T{n}"} for n in range(60)]
    real, writes = api.memory.call, 0

    async def call(operation: str, *arguments: Any, **named: Any) -> Any:
        nonlocal writes
        writes += operation == "TransactWriteItems"
        if operation == "TransactWriteItems" and writes == stop:
            raise Throttled("slow down")
        return await real(operation, *arguments, **named)

    monkeypatch.setattr(api.memory, "call", call)
    first = await send(api, "bulkCreateBook", given, key="k")
    assert first["writtenCount"] == kept_right(api) == 25 * (stop - 1)
    assert {error["code"] for error in first["errors"]} == {"UNFINISHED"}
    again = await send(api, "bulkCreateBook", given, key="k")
    assert again["errors"] == []
    assert again["writtenCount"] == kept_right(api) == 60
    before = [each["book"] for each in first["results"] if each["written"]]
    assert [each["book"] for each in again["results"]][: len(before)] == before


async def test_two_requests_with_one_key_write_once(api: MemoryEndpoint) -> None:
    await stocked(api)
    given = [{"genreId": "g", "title": f"T{n}"} for n in range(60)]
    answers = await asyncio.gather(*(send(api, "bulkCreateBook", given, key="k") for _ in range(4)))
    assert [answer["writtenCount"] for answer in answers] == [60] * 4
    assert all(answer == answers[0] for answer in answers)
    assert kept_right(api) == 60


async def test_an_unexpected_failure_still_shows_what_was_written(
    api: MemoryEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stocked(api)
    real, writes = api.memory.call, 0

    async def call(operation: str, *arguments: Any, **named: Any) -> Any:
        nonlocal writes
        writes += operation == "TransactWriteItems"
        if writes == 2:
            raise ValueError("a defect")
        return await real(operation, *arguments, **named)

    monkeypatch.setattr(api.memory, "call", call)
    made = await send(api, "bulkCreateBook", [book(n) for n in range(60)])
    assert made["writtenCount"] == kept_right(api) > 0
    assert {error["code"] for error in made["errors"]} == {"UNFINISHED"}


async def test_what_was_written_is_reported_after_a_timeout(
    api: MemoryEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stocked(api)
    monkeypatch.setattr("gateway.store.write.bulk._EARLIER", 100)
    with time_over(api, monkeypatch, while_writing=2, jumps=0.85):
        made = await send(api, "bulkCreateBook", [book(n) for n in range(60)])
    assert made["writtenCount"] == kept_right(api) == 25
    messages = [each["errors"][0]["message"] for each in made["results"][25:]]
    assert ["may have been written" in message for message in messages] == [True] * 25 + [False] * 10


# Roles, price and declarations.


async def test_what_the_policies_refuse_is_refused_alone() -> None:
    """A note on the note of another reader, whose partition the session may not even check."""
    given = [{"noteId": "n0"}, {"noteId": "n1", "onReader": "bob", "onNote": "x"}, {"noteId": "n2"}]
    query = """mutation ($items: [CreateNoteInput!]!) { bulkCreateNote(input: {items: $items}) {
      results { written errors { code field } } } }"""
    read = 'query ($note: ID!) { note(readerId: "ann", noteId: $note) { noteId } }'
    async with serve("tests.graph.mutation.books") as client:
        made = await client.mutate(query, {"items": given}, role="reader", subject="ann")
        assert states(made["bulkCreateNote"]) == [True, [("FORBIDDEN", "items.1")], True]
        found = [(await client.query(read, {"note": each["noteId"]}, role="admin"))["note"] for each in given]
        assert found == [{"noteId": "n0"}, None, {"noteId": "n2"}]
        others = [{"noteId": "n3"}, {"noteId": "n4", "readerId": "bob"}]
        with pytest.raises(GraphQLErrors) as caught:
            await client.mutate(query, {"items": others}, role="reader", subject="ann")
    assert caught.value.codes == ["FORBIDDEN"]


@pytest.mark.parametrize("role", ["viewer", "support", "clerk"])
async def test_a_role_that_may_not_write_one_may_not_write_many(api: MemoryEndpoint, role: str) -> None:
    await stocked(api)
    query = 'mutation { bulkCreateBook(input: {items: [{genreId: "g", title: "T"}]}) { writtenCount } }'
    response = await api.post(query, token=f"acme/{role}")
    assert code(response) in ("FORBIDDEN", "GRAPHQL_VALIDATION_FAILED")
    assert kept_right(api) == 0


async def test_a_role_that_removes_nothing_does_not_remove_many(api: MemoryEndpoint) -> None:
    await stocked(api, books=1)
    query = 'mutation { bulkRemoveBook(input: {items: [{bookId: "b0"}]}) { writtenCount } }'
    assert code(await api.post(query, token="acme/editor")) == "FORBIDDEN"
    assert kept_right(api) == 1


async def test_the_estimate_grows_with_the_items_and_what_is_read_for_them() -> None:
    api = books(cost_limits=CostLimits(units=0.1))

    async def units(count: int, select: str, **more: Any) -> float:
        query = f"""mutation ($items: [CreateBookInput!]!, $key: String) {{
          bulkCreateBook(input: {{items: $items}}, idempotencyKey: $key) {{ {select} }} }}"""
        response = await api.post(query, {"items": [book(n) for n in range(count)], **more}, token="acme/admin")
        found = re.search("may take ([0-9.]+) capacity", response.json()["errors"][0]["message"])
        assert found is not None
        return float(found[1])

    one = await units(1, "writtenCount")
    single = item_units(api.served.model, api.served.model.entities["Book"])
    assert one == single
    assert await units(50, "writtenCount") == 50 * single
    assert await units(50, "results { book { genre { title } } }") == 50 * (single + 1)
    assert await units(50, "writtenCount", key="k") > 50 * single


_TOO_MANY = (
    "`atomic`: 30 items take up to {} writes, but a transaction has 100; declare `max_items={}` or leave `atomic` out"
)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"max_items": 501}, "bulkCreateBook: `max_items` is 501; it may be 1 to 500"),
        ({"max_items": 30, "atomic": True}, f"bulkCreateBook: {_TOO_MANY.format(153, 19)}"),
        ({"max_items": 30, "atomic": True}, f"bulkUpdateBook: {_TOO_MANY.format(243, 12)}"),
    ],
)
def test_what_cannot_fit_is_refused_at_load(options: dict[str, Any], fault: str) -> None:
    with pytest.raises(ModelError) as caught:
        books_model(**options)
    assert f"mutation {fault}" in caught.value.faults


def test_other_wrong_declarations_are_refused_at_load() -> None:
    async def run(writer: Writer, values: dict[str, Any]) -> MutationResult:
        raise NotImplementedError

    own = replace(create(thing()), run=run)
    wrong = {
        bulk(own): "`createThing` was not created by `create`, `update`, `remove` or `crud`",
        bulk(
            create(thing(), filled={"madeAt": now})
        ): "it uses a `createThing` whose input differs from the declared one",
        bulk(bulk(create(thing()))[0]): "`bulkCreateThing` was not created by",
    }
    for mutations, fault in wrong.items():
        with pytest.raises(ModelError) as caught:
            model(thing(), mutations=(create(thing()), *mutations))
        assert fault in str(caught.value)


def test_an_atomic_removal_with_a_cascade_is_refused_at_load() -> None:
    [removal] = bulk(remove(library.MEMBER), max_items=2, atomic=True)
    with pytest.raises(ModelError) as caught:
        Model(domains=(replace(library.MODEL.domains[0], mutations=(*library.MUTATIONS, removal)),))
    said = "mutation bulkRemoveMember: `atomic`: any number of Loan items are removed with it; leave `atomic` out"
    assert caught.value.faults == (said,)
