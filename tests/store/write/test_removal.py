"""Removal of what others refer to: restricted or with all of them, whatever happens at the same time."""

from typing import Any

from gateway.store.write import removal
from tests.graph.mutation.library import change, kinds, lent, library


async def test_a_book_stays_while_it_is_lent() -> None:
    api = library()
    await lent(api)
    refused = await change(api, "removeBook", "isbn", isbn="b")
    assert refused["errors"] == [
        {"code": "IN_USE", "field": "isbn", "message": "this Book is still the `book` of a Loan"}
    ]
    assert "Book" in kinds(api)
    assert (await change(api, "removeLoan", "loanId", memberId="m", loanId="l0"))["errors"] == []
    assert (await change(api, "removeBook", "isbn", isbn="b"))["errors"] == []
    assert "Book" not in kinds(api)


async def test_a_member_goes_with_loans_and_their_notes_in_one_transaction() -> None:
    api = library()
    await lent(api, 3)
    for number in range(3):
        noted = await change(api, "createNote", "noteId", memberId="m", loanId=f"l{number}", noteId="n")
        assert noted["errors"] == []
    api.memory.sent.clear()
    assert (await change(api, "removeMember", "memberId", memberId="m"))["errors"] == []
    assert kinds(api) == ["Book"]
    assert [operation for operation, _ in api.memory.sent].count("TransactWriteItems") == 1


async def test_more_than_a_transaction_holds_goes_in_parts() -> None:
    api = library()
    await lent(api, 130)
    api.memory.sent.clear()
    assert (await change(api, "removeMember", "memberId", memberId="m"))["errors"] == []
    assert kinds(api) == ["Book"]
    written = [body for operation, body in api.memory.sent if operation == "TransactWriteItems"]
    assert len(written) == 7
    assert all(len(body["TransactItems"]) <= 100 for body in written)


async def test_a_removal_that_was_interrupted_goes_on_when_it_is_repeated() -> None:
    api = library()
    await lent(api, 60)
    api.memory.script["TransactWriteItems"].extend([lambda answer: answer, ConnectionError("gone")])
    await api.post('mutation { removeMember(input: {memberId: "m"}) { errors { code } } }', None, "acme/admin")
    left = kinds(api).count("Loan")
    assert 0 < left < 60
    assert "Member" in kinds(api)
    assert (await change(api, "removeMember", "memberId", memberId="m"))["errors"] == []
    assert kinds(api) == ["Book"]


async def test_one_who_begins_to_refer_meanwhile_is_not_left_behind(monkeypatch: Any) -> None:
    """INVARIANT: counted before the referrers are read, so that one who comes later is noticed when this is written."""
    api = library()
    await lent(api)
    await change(api, "removeLoan", "loanId", memberId="m", loanId="l0")
    page = removal._page
    came: list[dict[str, Any]] = []

    async def meanwhile(*given: Any, **more: Any) -> Any:
        found = await page(*given, **more)
        if not came:
            came.append(await change(api, "createLoan", "loanId", memberId="m", loanId="new", isbn="b"))
        return found

    monkeypatch.setattr(removal, "_page", meanwhile)
    for name, key in (("removeBook", {"isbn": "b"}), ("removeMember", {"memberId": "m"})):
        came.clear()
        refused = await change(api, name, next(iter(key)), **key)
        assert [error["code"] for error in refused["errors"]] == ["CONFLICT"]
        assert came[0]["errors"] == []
        assert kinds(api).count("Loan") == 1
        await change(api, "removeLoan", "loanId", memberId="m", loanId="new")
