"""The Mutation type: a nullable payload for each mutation, with the item, the errors and its own extra fields."""

from typing import Any

import pytest
from graphql import GraphQLEnumType, GraphQLInputObjectType, GraphQLObjectType

from gateway.errors import BadUserInput, LimitExceeded
from gateway.graph.schema.schema import build_schema, core_schema
from gateway.iam.policies.policies import generated
from gateway.model.error_code import ErrorCode, UserErrorCode
from gateway.model.mutation import Mutation
from gateway.model.patterns import Lookup
from gateway.model.types import Field, Integer, Text
from gateway.ops.policies.files import permissions_for
from gateway.store.rows import Item
from gateway.store.write.faults import Fault, Rejected
from gateway.store.write.writer import MutationResult, Writer
from tests.graph.fixtures import MemoryEndpoint, ServedModel
from tests.model.build import model, thing

FULL = ErrorCode("FULL", "the course is full")
FAILURES: dict[str, BadUserInput | Rejected] = {
    "own": Rejected(Fault(FULL, "nobody can join", "label")),
    "undeclared": Rejected(Fault(ErrorCode("LATE", "too late"), "it has begun")),
    "field": BadUserInput("this message names nothing", "box.label"),
    "none": BadUserInput("`label` is only mentioned here"),
    "limit": LimitExceeded("too many"),
}


async def run(writer: Writer, values: dict[str, Any]) -> MutationResult:
    if values["label"] in FAILURES:
        raise FAILURES[values["label"]]
    if values["label"] == "undeclared condition":
        writer.change().require("Thing", {"thingId": "a"}, Fault(ErrorCode("LATE", "too late"), "it has begun"))
    return MutationResult(Item("Thing", {"thingId": "a", "label": values["label"]}, ""), {"item": 3, "count": 4})


CHANGE = Mutation(
    name="changeThing",
    description="Change it.",
    returns="Thing",
    input=(Field("label", Text(), "The label."), Field("size", Integer(), "The size.", required=False)),
    run=run,
    # named like the payload's own attribute in Python, which must not matter
    extras=(Field("item", Integer(), "How many items."), Field("count", Integer(), "How many changes.")),
)
MODEL = model(
    thing(),
    patterns=(Lookup(name="thing", entity="Thing", description="One."),),
    mutations=(CHANGE,),
    error_codes=(FULL,),
)
SCHEMA = build_schema(MODEL)
SERVED = ServedModel(MODEL, SCHEMA, permissions_for(generated(MODEL), MODEL), [])


async def change(label: str) -> Any:
    query = """mutation ($label: String!) { changeThing(input: {label: $label}) {
      thing { label } item count errors { code field message currentVersion } } }"""
    data = await MemoryEndpoint(served=SERVED).ask(query, {"label": label}, token="acme/editor")
    return data["changeThing"]


def test_a_mutation_is_a_nullable_field_with_an_input_and_a_payload_of_its_own() -> None:
    core = core_schema(SCHEMA)
    assert core.mutation_type is not None
    field = core.mutation_type.fields["changeThing"]
    assert str(field.type) == "ChangeThingPayload"
    assert {name: str(arg.type) for name, arg in field.args.items()} == {
        "input": "ChangeThingInput!",
        "idempotencyKey": "String",
    }
    payload, values = core.type_map["ChangeThingPayload"], core.type_map["ChangeThingInput"]
    assert isinstance(payload, GraphQLObjectType)
    assert isinstance(values, GraphQLInputObjectType)
    assert {name: str(field.type) for name, field in payload.fields.items()} == {
        "thing": "Thing",
        "errors": "[UserError!]!",
        "item": "Int",
        "count": "Int",
    }
    assert {name: str(field.type) for name, field in values.fields.items()} == {"label": "String!", "size": "Int"}


async def test_the_payload_has_the_item_and_the_extras() -> None:
    assert await change("new") == {"thing": {"label": "new"}, "item": 3, "count": 4, "errors": []}


@pytest.mark.parametrize(("label", "field"), [("field", "box.label"), ("none", None), ("limit", None)])
async def test_the_field_of_an_error_is_a_value_and_is_not_read_from_its_message(label: str, field: str | None) -> None:
    error = {"code": "INVALID", "field": field, "message": FAILURES[label].message, "currentVersion": None}
    assert await change(label) == {"thing": None, "item": None, "count": None, "errors": [error]}


async def test_a_declared_error_code_is_a_value_of_the_enum() -> None:
    codes = core_schema(SCHEMA).type_map["UserErrorCode"]
    assert isinstance(codes, GraphQLEnumType)
    assert list(codes.values) == [*(code.name for code in UserErrorCode), "FULL"]
    assert codes.values["FULL"].description == "the course is full"
    error = {"code": "FULL", "field": "label", "message": "nobody can join", "currentVersion": None}
    assert await change("own") == {"thing": None, "item": None, "count": None, "errors": [error]}


@pytest.mark.parametrize("label", ["undeclared", "undeclared condition"])
async def test_an_undeclared_error_code_is_an_internal_error_that_says_what_to_do(
    label: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Also where the condition that it explains would hold, so the first call of the mutation finds it."""
    query = "mutation ($label: String!) { changeThing(input: {label: $label}) { errors { code } } }"
    answer = (await MemoryEndpoint(served=SERVED).post(query, {"label": label}, token="acme/editor")).json()
    assert answer["data"] == {"changeThing": None}
    assert answer["errors"][0]["extensions"]["code"] == "INTERNAL"
    assert "the error code `LATE` is not declared; add it to `Domain(error_codes=...)`" in caplog.text
