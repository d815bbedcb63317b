"""A role as data: what follows from what it declares."""

from dataclasses import replace

from gateway.demo import MODEL
from gateway.model.role import ALL, STANDARD_ROLES, Role, named

MUTATION = {mutation.name: mutation for mutation in MODEL.mutations}


def role(**changes: object) -> Role:
    return replace(Role(name="clerk", description=""), **changes)  # type: ignore[arg-type]  # checked by the model


def test_all_names_everything_and_a_tuple_its_members() -> None:
    assert named(ALL, "Order")
    assert named(("Order",), "Order")
    assert not named(("Order",), "OrderLine")
    assert not named((), "Order")


def test_what_a_role_writes_it_removes_unless_it_says_otherwise() -> None:
    assert role(writes=("Order",)).removable == ("Order",)
    assert role(writes=("Order",), removes=()).removable == ()


def test_a_role_may_call_what_changes_the_entities_that_it_writes() -> None:
    clerk = role(writes=("User",), removes=())
    assert clerk.may_call(MUTATION["updateUser"])
    assert not clerk.may_call(MUTATION["removeUser"])
    assert not clerk.may_call(MUTATION["placeOrder"])
    assert role(writes=("User",)).may_call(MUTATION["removeUser"])


def test_a_list_of_mutations_stands_instead() -> None:
    clerk = role(writes=("User",), mutations=("placeOrder",))
    assert clerk.may_call(MUTATION["placeOrder"])
    assert not clerk.may_call(MUTATION["updateUser"])
    assert not clerk.writes_result(MUTATION["placeOrder"])
    assert clerk.writes_result(MUTATION["updateUser"])
    assert not role(writes=ALL, mutations=()).may_call(MUTATION["updateUser"])


def test_editors_write_and_do_not_remove() -> None:
    calls = {each.name: {name for name, one in MUTATION.items() if each.may_call(one)} for each in STANDARD_ROLES}
    assert calls["admin"] == set(MUTATION)
    assert calls["editor"] == {name for name, one in MUTATION.items() if not one.removes}
    assert calls["support"] == calls["viewer"] == set()
