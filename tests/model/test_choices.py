"""Which listing of a choice answers which arguments."""

import pytest

from gateway.demo import MODEL
from gateway.errors import BadUserInput
from gateway.model.patterns import ListingArguments, chosen, listing_arguments

ORDERS = MODEL.choices["ordersOfUser"]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"userId"}, "ordersOfUser"),
        ({"userId", "placedAt", "order"}, "ordersOfUser"),
        ({"userId", "status"}, "ordersOfUserByStatus"),
        ({"userId", "status", "placedAt"}, "ordersOfUserByStatus"),
        (set(), "ordersOfUser"),  # of the caller
        ({"status"}, "ordersOfUserByStatus"),
    ],
)
def test_the_arguments_choose_the_listing(given: set[str], name: str) -> None:
    assert chosen(MODEL, ORDERS, given).name == name


@pytest.mark.parametrize("given", [{"lastHours"}, {"userId", "lastHours"}])
def test_what_no_listing_answers_is_refused_with_what_there_is(given: set[str]) -> None:
    with pytest.raises(BadUserInput) as caught:
        chosen(MODEL, ORDERS, given)
    more = "(optionally `filter`, `order`, `placedAt`, `userId`)"
    ways = f"nothing {more.replace('(optionally', '(optionally `consistent`,')}; `status` {more}"
    assert caught.value.message.endswith(f"; it can be queried by {ways}")


def test_a_window_adds_an_argument() -> None:
    taken = listing_arguments(MODEL, MODEL.listing("readings"))
    assert taken == ListingArguments(frozenset({"deviceId"}), frozenset({"recordedAt", "lastHours", "order"}))
    assert not taken.fits({"recordedAt"})


def test_a_listing_behind_a_choice_has_no_field_of_its_own() -> None:
    assert set(MODEL.choice_of) == {"ordersOfUser", "ordersOfUserByStatus"}
