"""References are checked in the transaction that begins to refer."""

import pytest

from gateway.errors import Internal
from gateway.model.error_code import UserErrorCode
from gateway.model.keys import ItemKey
from gateway.model.tenant import TenantId
from gateway.store.rows import Item
from gateway.store.write.change import Change
from gateway.store.write.faults import Fault
from gateway.store.write.member import Member
from gateway.store.write.references import joined_members
from tests.graph.mutation.library import MODEL, change, kinds, lent, library

FAULT = Fault(UserErrorCode.NOT_FOUND, "none")
KEY = ItemKey("TENANT#acme#MEMBER#m", "META")


async def test_what_is_referred_to_must_exist() -> None:
    api = library()
    await lent(api)
    nobody = await change(api, "createLoan", "loanId", memberId="ghost", loanId="l")
    nothing = await change(api, "createLoan", "loanId", memberId="m", loanId="l", isbn="ghost")
    moved = await change(api, "updateLoan", "loanId", memberId="m", loanId="l0", isbn="ghost")
    for refused, field in ((nobody, "memberId"), (nothing, "isbn"), (moved, "isbn")):
        assert [(error["code"], error["field"]) for error in refused["errors"]] == [("NOT_FOUND", field)]
    assert nobody["errors"][0]["message"] == "there is no Member with memberId `ghost`"
    assert kinds(api).count("Loan") == 1


async def test_an_optional_reference_may_lead_to_nothing() -> None:
    api = library()
    await lent(api)
    assert (await change(api, "createLoan", "loanId", memberId="m", loanId="l"))["errors"] == []
    assert (await change(api, "updateLoan", "isbn", memberId="m", loanId="l0", isbn=None))["item"] == {"isbn": None}


def loan(change: Change, number: int) -> Item:
    return change.create("Loan", {"memberId": "m", "loanId": f"l{number}"})


def member(change: Change) -> Item:
    return change.create("Member", {"memberId": "m", "email": "m@x.org", "name": "M"})


def test_both_can_be_created_in_one_transaction_in_either_order() -> None:
    for steps in ((member, lambda each: loan(each, 1)), (lambda each: loan(each, 1), member)):
        change = Change(MODEL, TenantId("acme"))
        for step in steps:
            step(change)
        assert [each.kind for each in change.members if each.key == KEY] == ["Put"]


def test_many_that_refer_to_one_item_check_it_once() -> None:
    change = Change(MODEL, TenantId("acme"))
    loan(change, 1)
    loan(change, 2)
    [check] = [each for each in change.members if each.key == KEY]
    assert (check.kind, check.body["UpdateExpression"]) == ("Update", "ADD #refs :one")


def test_a_condition_on_the_same_item_is_kept() -> None:
    change = Change(MODEL, TenantId("acme"))
    change.require("Member", {"memberId": "m"}, FAULT, limit=5)
    loan(change, 1)
    [both] = [each for each in change.members if each.key == KEY]
    assert both.kind == "Update"
    assert both.body["ConditionExpression"] == "attribute_exists(#pk) AND #r0 = :r0"
    assert set(both.body["ExpressionAttributeValues"]) == {":r0", ":one"}


def test_an_item_is_not_removed_by_what_refers_to_it() -> None:
    check = Member("ConditionCheck", KEY, {}, refers=True)
    assert joined_members(check, Member("Delete", KEY, {})) is None
    assert joined_members(Member("Put", KEY, {}), Member("Put", KEY, {})) is None


def test_what_others_refer_to_is_not_removed_unasked() -> None:
    stored = Item("Member", {"memberId": "m", "email": "m@x.org", "name": "M", "version": 1}, "")
    with pytest.raises(Internal, match="others refer to Member"):
        Change(MODEL, TenantId("acme")).remove(stored)
