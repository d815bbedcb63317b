import pytest

from gateway.demo import MODEL
from gateway.errors import ModelError
from gateway.model.patterns import Listing
from tests.model.build import model, thing


def test_entities_and_patterns_are_found_by_name() -> None:
    assert MODEL.entities["Order"].name == "Order"
    assert MODEL.patterns["ordersOfUser"].entity == "Order"
    assert MODEL.lookup("order").entity == "Order"
    assert MODEL.listing("ordersOfUser").index == "byUser"


def test_a_pattern_of_another_kind_is_not_found() -> None:
    with pytest.raises(ModelError, match="`ordersOfUser` is not a lookup"):
        MODEL.lookup("ordersOfUser")
    with pytest.raises(ModelError, match="`nothing` is not a listing"):
        MODEL.listing("nothing")


def test_what_is_read_together_is_found_by_entity_and_collection() -> None:
    assert MODEL.item_collections["User", "orders"].name == "userWithOrders"


def test_a_listing_leads_to_its_place() -> None:
    assert MODEL.place(MODEL.listing("activeOrders")).pk.text == "ACTIVE#{shard}"


def test_a_listing_that_was_never_checked_is_refused() -> None:
    with pytest.raises(ModelError, match="pattern lost: Thing has no place `nowhere`"):
        model(thing()).place(Listing(name="lost", entity="Thing", index="nowhere", description=""))
