"""What the schema may say about roles, derived from the policies alone."""

from gateway.demo import MODEL
from gateway.iam.policies.hidden_data import personal_attributes
from gateway.iam.policies.policies import generated
from gateway.iam.policies.visibility import visibility
from tests.model.build import model, thing

SEEN = visibility(MODEL, generated(MODEL))


def test_personal_attributes_are_unreadable_for_support_and_nobody_else() -> None:
    assert dict(SEEN.unreadable) == dict.fromkeys(personal_attributes(MODEL), ("support",))


def test_patterns_by_a_personal_key_are_not_for_support_unless_it_finds_by_it() -> None:
    assert SEEN.unasked["userByPhone"] == ("support", "customer")
    assert SEEN.unasked["userByEmail"] == ("customer",)
    assert "user" not in SEEN.unasked
    assert "ordersOfUser" not in SEEN.unasked


def test_readers_are_told_apart_from_writers() -> None:
    assert SEEN.readers_only == ("support", "viewer")


def test_a_model_without_personal_attributes_hides_nothing() -> None:
    plain = model(thing())
    assert visibility(plain, generated(plain)).unreadable == {}


def test_descriptions_name_the_roles_that_are_left_out() -> None:
    assert SEEN.of_attribute("email") == " Not for `support`."
    assert SEEN.of_attribute("userId") == ""
    assert SEEN.of_pattern("userByPhone") == " Not for `support` and `customer`."
    assert SEEN.of_pattern("user") == ""
    assert SEEN.of_writes() == " Not for `support` and `viewer`."
