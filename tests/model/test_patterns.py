"""Parameters: what a caller gives to a pattern, and what an item fills for its relations."""

from gateway.demo import MODEL
from gateway.model.patterns import bound_attribute, member_place, names_of, open_parameters, own_parameters, parameters
from tests.model.build import model, related
from tests.model.checks.test_patterns import LOOKUP, THING, listing
from tests.model.checks.test_relations import PART, PATTERNS, SHARD, SUM, many, one


def test_a_caller_gives_what_the_partition_key_and_the_fixed_part_of_the_sort_key_need() -> None:
    assert parameters(MODEL, MODEL.patterns["ordersByStatus"]) == ("status",)
    assert parameters(MODEL, MODEL.patterns["orderLine"]) == ("orderId", "productId")
    assert parameters(MODEL, MODEL.patterns["userWithOrders"]) == ("userId",)
    narrowed = model(THING, patterns=(LOOKUP, listing(index="GSI2", where=("active",))))
    assert parameters(narrowed, narrowed.patterns["things"]) == ("colour", "active")


def test_members_lie_where_their_pattern_reads_them() -> None:
    assert member_place(MODEL, MODEL.patterns["ordersOfUser"]).name == "byUser"
    assert member_place(MODEL, MODEL.patterns["orderLine"]).name == "primary"


def test_a_lookup_has_a_name_for_one_and_one_for_many() -> None:
    assert names_of(MODEL.patterns["order"]) == ("order", "orders")
    assert names_of(MODEL.patterns["orderLine"]) == ("orderLine",)
    assert names_of(MODEL.patterns["ordersOfUser"]) == ("ordersOfUser",)


def test_what_a_relation_leaves_open_is_what_its_list_fills() -> None:
    order, product = MODEL.entities["Order"], MODEL.entities["Product"]
    assert open_parameters(MODEL, order, order.relation["lines"]) == ("productId",)
    assert open_parameters(MODEL, product, product.relation["orderLines"]) == ()


def test_an_item_may_lead_to_others_of_its_own_kind() -> None:
    kin = model(related(many("part", each="partIds", thingId="partIds")), PART, patterns=PATTERNS[:1])
    thing_ = kin.entities["Thing"]
    assert open_parameters(kin, thing_, thing_.relation["it"]) == ("thingId",)


def test_a_parameter_is_filled_by_the_attribute_of_its_name_unless_bound() -> None:
    assert bound_attribute(one("part"), "thingId") == "thingId"
    assert bound_attribute(one("part", thingId="ownerId"), "thingId") == "ownerId"


def test_a_total_gives_some_parameters_itself() -> None:
    summed = model(related(SUM), SHARD, patterns=(PATTERNS[2],))
    assert own_parameters(summed, SUM) == ("thingId",)
