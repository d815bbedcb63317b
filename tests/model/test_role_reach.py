"""The partitions that a role reaches: as paths, from its declaration."""

import pytest

from gateway.demo import MODEL
from gateway.demo.commerce.roles import CUSTOMER, ORDERING
from gateway.model.role import PERSONAL, Role
from gateway.model.role_reach import Partitions, confined, covers, hidden_attributes, path_of, reach
from gateway.model.template import parse_template


def role(**changes: object) -> Role:
    return Role(name="clerk", description="", **changes)  # type: ignore[arg-type]  # checked by the model


def test_a_path_has_a_wildcard_for_each_value_and_the_subject_for_the_owner() -> None:
    order = MODEL.entities["Order"]
    assert path_of(order.primary.pk) == "ORDER#*"
    by_user = order.placement("byUser")
    assert by_user is not None
    assert path_of(by_user.pk, "userId") == "USER#{subject}"
    assert path_of(by_user.pk) == "USER#*"


def test_a_role_that_reads_everything_is_not_limited_to_paths() -> None:
    assert reach(MODEL, role()).reads is None
    assert reach(MODEL, role()).writes == ()


def test_a_role_of_own_rows_reaches_the_places_that_hold_the_owner() -> None:
    reads = reach(MODEL, CUSTOMER).reads or ()
    assert Partitions(None, "USER#{subject}") in reads
    assert Partitions("GSI1", "USER#{subject}") in reads
    assert Partitions(None, "PRODUCT#*") in reads
    assert not any(each.path.startswith(("ORDER#", "USER#*")) for each in reads)


def test_an_acting_role_reaches_all_places_and_of_those_with_the_owner_its_own() -> None:
    found = reach(MODEL, ORDERING)
    assert {each.path for each in found.writes or ()} == {
        *("ORDER#*", "PRODUCT#*", "USER#{subject}", "IDEMPOTENCY#{subject}#*"),
        "COUNT#ACTIVE_ORDERS#*",
    }
    assert found.removes == ()
    assert confined(CUSTOMER, MODEL.entities["Order"])
    assert not confined(ORDERING, MODEL.entities["Order"])


def test_hidden_attributes_are_those_that_are_named_personal_or_not_shown() -> None:
    assert hidden_attributes(MODEL, role(hides=("note", "contact"))) == ("contact", "note")
    assert "email" in hidden_attributes(MODEL, role(hides=PERSONAL))
    shown = hidden_attributes(MODEL, role(shows=("title", "total")))
    assert {"note", "contact", "name"} <= set(shown)
    # what is a part of a key is seen with the key
    assert {"title", "total", "orderId", "userId"}.isdisjoint(shown)


@pytest.mark.parametrize(
    ("path", "template", "meets"),
    [
        ("ORDER#*", "ORDER#{orderId}", True),
        ("ORDER#*", "ORDERS#{orderId}", False),
        ("USER#{subject}", "USER#{userId}", True),
        ("USER#{subject}", "USER#{userId}#X", False),
        ("USER#*", "USER#{userId}#X", True),
        ("A#*#B", "A#{x}#{y}", True),
        ("A#*#B", "A#{x}#C", False),
    ],
)
def test_whether_a_path_meets_the_partitions_of_a_template(path: str, template: str, meets: bool) -> None:
    assert covers(path, parse_template("a test", template)) is meets


def test_partitions_that_others_contain_are_not_listed_twice() -> None:
    reached = reach(MODEL, Role(name="clerk", description="", reads=("productsByCategory", "categories")))
    assert reached.reads == (Partitions("GSI1", "CATEGORY#*"),)
