"""What is wrong with a role: unknown names, and what IAM cannot enforce."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.demo.commerce.roles import ORDERING
from gateway.errors import ModelError
from gateway.model.entity import Attribute, Key
from gateway.model.model import Model
from gateway.model.role import ALL, PERSONAL, STANDARD_ROLES, Role
from gateway.model.role_reach import visible_patterns
from gateway.model.types import Text


def faults(*roles: Role) -> str:
    first, *others = MODEL.domains
    try:
        Model(domains=(replace(first, roles=(*roles, ORDERING)), *others))
    except ModelError as error:
        return "\n".join(error.faults)
    return ""


def role(**changes: Any) -> Role:
    return Role(**{"name": "clerk", "description": "works", **changes})


def test_the_standard_roles_are_right_for_every_model() -> None:
    assert faults(*STANDARD_ROLES) == ""
    assert list(MODEL.roles) == ["admin", "editor", "support", "viewer", "customer"]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"name": "Clerk"}, "named with a-z"),
        ({"reads": "Order"}, "`reads` must be a tuple"),
        ({"reads": ("Nothing",)}, "`reads` names `Nothing`"),
        ({"writes": ("order",)}, "`writes` names `order`"),
        ({"hides": ("nothing",)}, "`hides` names `nothing`"),
        ({"hides": ("status",)}, "it hides `status`, which every Order has"),
        ({"hides": PERSONAL, "writes": ALL}, "it writes User and hides its `name`"),
        ({"reads": ("Product",)}, "which also holds Stock"),
        ({"reads": ("ordersOfUser",)}, "which also holds Email"),
        ({"writes": ("Product",)}, "it writes Product in `PRODUCT#*`, which also holds Stock"),
        ({"reads": ("Category",), "writes": ("Supplier",)}, "does not read it by its key"),
        ({"reads": ("Category",), "writes": ALL}, "so it must read everything"),
        ({"writes": (), "removes": ("Category",)}, "it removes Category and does not write it"),
        (
            {"writes": ("UserSubscription",)},
            "it writes UserSubscription and not User, which the reference `user` checks",
        ),
        ({"mutations": ALL}, "it may call `updateUser`, which changes User, and does not write it"),
        ({"mutations": ("nothing",)}, "`mutations` names `nothing`, which the model does not declare"),
        ({"acting": True, "writes": ("Category",)}, "no mutation acts in it"),
        (
            {"acting": True, "own": True, "reads": ("session", "sessionsOfUser"), "writes": ("Session",)},
            "it writes Session for a subject, and no place of it in the table holds its owner `userId`",
        ),
        ({"reads": ("Category",), "own": True}, "reads no entity with an `owner`"),
        ({"reads": ("order", "sessionsOfUser"), "own": True}, "`order` reads `ORDER#{orderId}`, which does not hold"),
        ({"own": True, "writes": ("Order",)}, "whose place `ORDER#{orderId}` does not hold its owner"),
        ({"own": True, "writes": ("Email",)}, "whose unique values are in partitions of the whole tenant"),
        ({"reads": ("userByEmail",)}, "`userByEmail` returns User"),
        ({"shows": ("status",), "hides": PERSONAL}, "exclude each other"),
        ({"finds": ("nothing",)}, "`finds` names `nothing`, which the model does not declare"),
        ({"finds": ("emailsOfUser",), "hides": PERSONAL}, "`emailsOfUser`, which does not find one item"),
        ({"finds": ("userByEmail",)}, "finds by nothing that the role hides"),
        ({"finds": ("userByEmail",), "hides": PERSONAL, "reads": ("Category",)}, "`userByEmail` returns User"),
        ({"finds": ("userByEmail",), "hides": PERSONAL, "own": True}, "the rows of every subject"),
        ({"finds": ("userByEmail",), "hides": ("email", "userId")}, "returns `userId`, but the role hides that"),
    ],
)
def test_what_cannot_be_enforced_is_refused(changes: dict[str, Any], fault: str) -> None:
    assert fault in faults(role(**changes))


@pytest.mark.parametrize(
    ("changes", "fix"),
    [
        ({"reads": ("Ordr",)}, "`reads` names `Ordr`, which the model does not declare: did you mean `Order`?"),
        ({"reads": ("orderOfUser",)}, "did you mean `ordersOfUser`?"),
        ({"writes": ("product",)}, "did you mean `Product`?"),
        ({"hides": ("emial",)}, "`hides` names `emial`, which is not an attribute: did you mean `email`?"),
        ({"shows": ("xyzzy",)}, "`shows` names `xyzzy`, which is not an attribute: name one of "),
        ({"mutations": ("placeorder",)}, "did you mean `placeOrder`?"),
        ({"finds": ("userByMail",)}, "did you mean `userByEmail`?"),
        ({"reads": ("Category",), "writes": ("Supplier",)}, "add Supplier to `reads`"),
        ({"writes": (), "removes": ("Category",)}, "add it to `writes`, or take it out of `removes`"),
        ({"reads": ("Category",), "own": True}, "declare the `owner` of an entity that it reads"),
        ({"reads": ("order", "sessionsOfUser"), "own": True}, "name `ordersOfUser`"),
        ({"reads": ("session", "ordersOfUser"), "own": True}, "name `sessionsOfUser` instead"),
        ({"own": True, "writes": ("Order",)}, "let a mutation act in another role (`acts_as`)"),
        ({"reads": ("userByEmail",)}, "add User to `reads`"),
        ({"reads": ("Product",)}, "add Stock to `reads`"),
        ({"writes": ("Product",)}, "add Stock to `writes`, or to `beside`"),
    ],
)
def test_a_fault_says_what_to_change(changes: dict[str, Any], fix: str) -> None:
    assert fix in faults(role(**changes))


def test_a_name_that_is_personal_in_one_entity_only_is_reported_with_the_faults_of_roles() -> None:
    first, *others = MODEL.domains
    label = Attribute("phone", Text(20), "Not personal here.", required=False)
    entities = tuple(
        replace(each, attributes=(*each.attributes, label)) if each.name == "Category" else each
        for each in first.entities
    )
    with pytest.raises(ModelError) as refused:
        Model(domains=(replace(first, entities=entities, roles=(role(reads=("Product",)), ORDERING)), *others))
    text = "\n".join(refused.value.faults)
    assert "entity Category: `phone` is personal in" in text
    assert "add Stock to `reads`" in text


def test_a_role_declared_in_two_ways_is_refused() -> None:
    assert "role clerk: is declared twice" in faults(role(), role(hides=PERSONAL))


def test_an_owner_is_a_required_id() -> None:
    first, *others = MODEL.domains
    user = first.entities[0]
    for owner, fault in (("nobody", "is not an attribute"), ("email", "must be a required Id")):
        with pytest.raises(ModelError, match=fault):
            Model(domains=(replace(first, entities=(replace(user, owner=owner), *first.entities[1:])), *others))


def test_what_a_role_finds_by_lies_in_partitions_of_its_own() -> None:
    first, *others = MODEL.domains
    strange = replace(first.entities[0], name="Strange", key=Key(pk="EMAIL#{userId}", sk="STRANGE"), indexes=())
    strange = replace(strange, relations=(), unique=(), owner=None)
    found = replace(first, entities=(*first.entities, strange), roles=MODEL.domains[0].roles)
    with pytest.raises(ModelError) as refused:
        Model(domains=(found, *others))
    assert "whose partition `EMAIL#{email}` also holds Strange" in str(refused.value)


def test_what_is_confidential_lies_in_partitions_of_its_own() -> None:
    first, *others = MODEL.domains
    entities = tuple(replace(each, confidential=each.name == "OrderLine") for each in first.entities)
    with pytest.raises(ModelError) as raised:
        Model(domains=(replace(first, entities=entities), *others))
    [fault] = [fault for fault in raised.value.faults if "shares its partitions `ORDER#{orderId}`" in fault]
    assert "entity OrderLine: it is confidential, and Order shares its partitions" in fault
    assert "start its key with a word of its own" in fault


def test_everything_does_not_include_what_is_confidential() -> None:
    first, *others = MODEL.domains
    for clerk, read in ((role(), False), (role(writes=ALL), True), (role(reads=("Session",)), True)):
        model = Model(domains=(replace(first, roles=(clerk, ORDERING)), *others))
        assert ("session" in visible_patterns(model, clerk)) is read
