"""The schema of a role: what it can never use is not there, in validation and in introspection."""

from typing import Any

import pytest
from graphql import GraphQLObjectType, GraphQLSchema, build_schema, parse, print_schema, validate, validate_schema

from gateway.demo import MODEL
from gateway.graph.schema.role_schema import has_own_schema, role_schema
from gateway.graph.schema.schema import core_schema
from gateway.iam.policies.roles import gateway_role
from gateway.model.role import Role
from tests.fixtures import MemoryGateway
from tests.graph.fixtures import SCHEMA

WHOLE = core_schema(SCHEMA)
CUSTOMER = role_schema(WHOLE, MODEL, MODEL.roles["customer"])


def fields(schema: GraphQLSchema, name: str) -> set[str]:
    kind = schema.type_map[name]
    assert isinstance(kind, GraphQLObjectType)
    return set(kind.fields)


def messages(schema: GraphQLSchema, text: str) -> list[str]:
    return [error.message for error in validate(schema, parse(text), hide_suggestions=True)]


def test_only_roles_that_declare_what_they_read_have_a_schema_of_their_own() -> None:
    assert [role.name for role in MODEL.all_roles.values() if has_own_schema(role)] == ["customer"]


def test_it_is_a_schema_by_itself() -> None:
    assert validate_schema(CUSTOMER) == []
    assert build_schema(print_schema(CUSTOMER)).type_map.keys() == CUSTOMER.type_map.keys()


def test_it_has_the_patterns_of_the_role_and_no_others() -> None:
    patterns = gateway_role(MODEL, MODEL.roles["customer"]).patterns
    named = fields(CUSTOMER, "Query") & set(MODEL.patterns)
    assert named <= patterns
    assert {"user", "product", "ordersOfUser"} <= named
    assert fields(WHOLE, "Query") - fields(CUSTOMER, "Query") >= {"order", "orders", "activeOrders", "supplier"}


def test_a_role_that_cannot_look_itself_up_has_no_me() -> None:
    assert "me" in fields(CUSTOMER, "Query")
    clerk = Role(name="clerk", description="", reads=("Category", "emailsOfUser", "Email", "Phone"))
    assert "me" not in fields(role_schema(WHOLE, MODEL, clerk), "Query")


def test_it_has_the_mutations_that_the_role_may_call() -> None:
    allowed = MODEL.roles["customer"].mutations
    assert isinstance(allowed, tuple)
    assert fields(CUSTOMER, "Mutation") == set(allowed)


def test_relations_and_types_that_are_out_of_reach_are_gone() -> None:
    assert "lines" in fields(WHOLE, "Order")
    assert "lines" not in fields(CUSTOMER, "Order")
    assert "orders" in fields(CUSTOMER, "User")
    for name in ("OrderLine", "Supplier", "Device", "CreateUserInput"):
        assert name in WHOLE.type_map
        assert name not in CUSTOMER.type_map


def test_hidden_attributes_and_what_needs_them_are_gone() -> None:
    role = Role(name="clerk", description="", reads=("category", "supplier"), hides=("contact",))
    found = role_schema(WHOLE, MODEL, role)
    assert "contact" in fields(WHOLE, "Supplier")
    assert "contact" not in fields(found, "Supplier")
    assert found.mutation_type is None


@pytest.mark.parametrize(
    ("secret", "nonsense"),
    [
        ("{ activeOrders { nodes { orderId } } }", "{ nothingOrder { nodes { orderId } } }"),
        ("mutation { removeUser { errors { code } } }", "mutation { nothingUse { errors { code } } }"),
        ('{ user(userId: "u") { orders { nodes { lines { quantity } } } } }', None),
        ('{ node(id: "x") { ... on Supplier { title } } }', '{ node(id: "x") { ... on Nothing1 { title } } }'),
    ],
)
def test_what_a_role_cannot_use_looks_like_what_nobody_declared(secret: str, nonsense: str | None) -> None:
    found = messages(CUSTOMER, secret)
    assert found
    assert "may not" not in found[0]
    for name in ("activeOrders", "removeUser", "Supplier"):
        for other in ("nothingOrder", "nothingUse", "Nothing1"):
            if nonsense is not None and name in secret and other in nonsense:
                assert [each.replace(name, other) for each in found] == messages(CUSTOMER, nonsense)


async def test_requests_of_the_role_are_validated_and_introspected_by_its_schema() -> None:
    typed = '{ supplier: __type(name: "Supplier") { name } order: __type(name: "Order") { fields { name } } }'
    gateway = MemoryGateway()
    mine, whole = [await gateway.ask(typed, token=f"acme/{role}") for role in ("customer", "viewer")]
    assert mine["supplier"] is None
    assert whole["supplier"] == {"name": "Supplier"}
    assert {"name": "lines"} not in mine["order"]["fields"]
    assert {"name": "lines"} in whole["order"]["fields"]
    # the same text is another document for another role, whoever sends it first
    for role in ("viewer", "customer", "viewer", "customer"):
        answer: Any = (await gateway.post("{ activeOrders { nodes { orderId } } }", token=f"acme/{role}")).json()
        codes = {error["extensions"]["code"] for error in answer.get("errors", ())}
        assert codes == ({"GRAPHQL_VALIDATION_FAILED"} if role == "customer" else set())
