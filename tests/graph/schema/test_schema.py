"""The schema of a model with every kind of attribute and relation; lanes and the reference executor agree on it."""

from dataclasses import replace
from typing import Any

import pytest
from graphql import GraphQLObjectType

from gateway.graph.global_id import global_id
from gateway.graph.mutation.crud import crud
from gateway.graph.schema.schema import build_schema, core_schema
from gateway.iam.policies.policies import generated
from gateway.model.entity import Attribute, Entity, Key, OnIndex, Reference
from gateway.model.model import Domain, Model
from gateway.model.patterns import Listing, Lookup
from gateway.model.tenant import tenant_id
from gateway.model.types import Blob, Field, Id, Integer, SetOf, Struct, Text
from gateway.ops.policies.files import permissions_for
from gateway.settings import Settings
from gateway.store.plan import ReadLimits
from tests.graph.fixtures import SCHEMA, MemoryEndpoint, ServedModel, no_lanes

THING = Entity(
    name="Thing",
    description="A thing.",
    attributes=(
        Attribute("thingId", Id(), "Its id."),
        Attribute("size", Integer(), "How large it is."),
        Attribute("picture", Blob(), "How it looks.", required=False),
        Attribute("tags", SetOf(Text()), "What it is called.", required=False),
        Attribute("place", Struct("Place", (Field("city", Text(), "The city."),), "A place."), "Where it is."),
        Attribute("parentId", Id(), "The thing that it is a part of.", required=False),
        Attribute("ownerId", Id(), "The thing that owns it.", required=False, personal=True),
    ),
    key=Key(pk="THING#{thingId}", sk="META"),
    indexes=(OnIndex(index="GSI1", pk="THINGS", sk="{thingId}", low_cardinality_reason="there are few"),),
    relations=(
        Reference(name="parent", pattern="thing", description="What it belongs to.", bind={"thingId": "parentId"}),
        Reference(name="owner", pattern="thing", description="What owns it.", bind={"thingId": "ownerId"}),
    ),
)
PATTERNS = (
    Lookup(name="thing", entity="Thing", description="One."),
    Listing(name="allThings", entity="Thing", index="GSI1", description="All."),
    Listing(name="someThing", entity="Thing", index="GSI1", single=True, description="The first one."),
)
THINGS = Domain(name="things", description="Things.", entities=(THING,), patterns=PATTERNS, mutations=crud(THING))
MODEL = Model(domains=(THINGS,))
SERVED = ServedModel(MODEL, build_schema(MODEL), permissions_for(generated(MODEL), MODEL), [])
# a condition keeps a query from being compiled
EVERYTHING = """query ($on: Boolean = true) { %s
  thing(thingId: "a") { ...All ...All ... on Node { id } ... on Thing { version } parent { thingId parent { size } } }
  allThings { nodes { ...All } edges { __typename node { tags } } pageInfo { __typename hasNextPage } __typename }
  someThing { thingId picture }
} fragment All on Thing { thingId size picture tags place { __typename city } }"""
PICTURE = "AP9oaQ=="


@pytest.fixture
async def things() -> MemoryEndpoint:
    api = MemoryEndpoint(served=SERVED)
    create = "mutation ($thing: CreateThingInput!) { createThing(input: $thing) { errors { message } } }"
    place = {"city": "Ulm"}
    for thing in (
        {"thingId": "a", "size": 1, "picture": PICTURE, "tags": ["z", "b"], "place": place, "parentId": "b"},
        {"thingId": "b", "size": 2, "place": place, "ownerId": "a"},
    ):
        made = await api.ask(create, {"thing": thing}, token="acme/editor")
        assert made == {"createThing": {"errors": []}}
    return api


async def test_every_kind_is_answered_as_graphql_core_answers_it(things: MemoryEndpoint) -> None:
    query = EVERYTHING % "__typename @skip(if: $on)"
    answer = await things.ask(query)
    assert things.lanes == {"lane": 1}
    things.endpoint = replace(things.endpoint, lanes=no_lanes(things))
    assert answer == await things.ask(query)
    assert things.lanes == {"reference": 1}
    assert answer["thing"]["picture"] == PICTURE
    assert answer["thing"]["tags"] == ["b", "z"]
    assert answer["thing"]["parent"] == {"thingId": "b", "parent": None}
    assert answer["someThing"] == {"thingId": "a", "picture": PICTURE}


@pytest.mark.parametrize(
    ("name", "stored", "path"),
    [("size", {"N": str(2**40)}, ["thing", "size"]), ("place", {"M": {}}, ["thing", "place", "city"])],
)
async def test_what_a_row_should_not_hold_is_an_error_of_its_field(
    things: MemoryEndpoint, name: str, stored: dict[str, Any], path: list[str]
) -> None:
    things.memory.rows["TENANT#acme#THING#a", "META"][name] = stored
    query = 'query { thing(thingId: "a") { size place { city } } }'
    answer = (await things.post(query)).json()
    assert things.lanes == {"row": 1}
    assert answer["data"] == {"thing": None}
    assert [error["path"] for error in answer["errors"]] == [path]


@pytest.mark.parametrize("condition", ["", "@include(if: true)"])
async def test_a_reference_by_an_attribute_that_the_role_may_not_read_is_refused(
    things: MemoryEndpoint, condition: str
) -> None:
    query = f'{{ thing(thingId: "b") {{ size {condition} owner {{ thingId }} }} }}'
    assert (await things.ask(query))["thing"]["owner"] == {"thingId": "a"}
    answer = (await things.post(query, token="acme/support")).json()
    assert answer["data"] == {"thing": {"size": 2, "owner": None}}
    assert [(error["path"], error["extensions"]["code"]) for error in answer["errors"]] == [
        (["thing", "owner"], "FORBIDDEN")
    ]


@pytest.mark.parametrize("condition", ["", "@include(if: true)"])
async def test_where_a_list_is_empty_the_one_item_of_it_is_null(condition: str) -> None:
    api = MemoryEndpoint(served=SERVED)
    assert await api.ask(f"{{ someThing {{ thingId {condition} }} }}") == {"someThing": None}


async def test_an_id_with_too_many_parts_is_null(things: MemoryEndpoint) -> None:
    made = global_id(tenant_id("acme"), "Thing", ("a", "b"))
    assert await things.ask("query ($id: ID!) { node(id: $id) { id } }", {"id": made}) == {"node": None}


async def test_a_required_attribute_cannot_be_removed(things: MemoryEndpoint) -> None:
    remove = 'mutation { updateThing(input: {thingId: "a", size: null}) { errors { code field } } }'
    answer = await things.ask(remove, token="acme/admin")
    assert answer == {"updateThing": {"errors": [{"code": "INVALID", "field": "size"}]}}


def test_the_schema_has_no_mutation_without_one() -> None:
    assert core_schema(build_schema(Model(domains=(replace(THINGS, mutations=()),)))).mutation_type is None


def test_the_sizes_of_a_page_are_in_the_schema() -> None:
    arguments = core_schema(SCHEMA).query_type.fields["activeOrders"].args  # type: ignore[union-attr]
    first = "Return at most this many items, from the start of the list: 20 if neither `first` nor `last` is given, "
    assert arguments["first"].description == f"{first}by default at most 100."
    assert str(arguments["last"].description).endswith("by default at most 100.")
    assert ReadLimits() == ReadLimits(page=Settings.model_fields["max_page_size"].default, default_page=20)


def test_only_nodes_have_an_id() -> None:
    """Relay keeps every object with an `id` under it: anything else with that id would overwrite the item."""
    types = [each for each in core_schema(SCHEMA).type_map.values() if isinstance(each, GraphQLObjectType)]
    with_id = {each.name for each in types if "id" in each.fields}
    assert with_id
    assert with_id == {each.name for each in types if "Node" in [known.name for known in each.interfaces]}
